internal import AppStoreSimulator
internal import AsyncHTTPClient
internal import Events
internal import Foundation
internal import Synchronization

/// Request a Test Notification.
struct TestRequestDocument: Encodable {
    let testNotificationToken: String
}

/// Get Test Notification Status.
struct TestStatusDocument: Encodable {
    let signedPayload: String
    let sendAttempts: [SendAttempt]
}

extension ServedStore {
    /// Signs a test notification, sends it once and stores the outcome.
    func requestTestNotification(
        to url: String?,
        at now: Instant
    ) async throws -> TestRequestDocument {
        guard let url else { throw StoreError.noNotificationURL }
        let number = tests.withLock { $0.count }
        var generator = SeededGenerator(seed: UInt64(now.milliseconds), branch: UInt64(number))
        let token = "\(generator.uuid())_\(now.milliseconds)"
        let body = store.testNotification(uuid: generator.uuid(), signedAt: now)
        let client = HTTPClient.shared
        let result = await NotificationSender.post(body, to: url, by: client)
        tests.withLock {
            $0[token] = TestNotification(
                signedPayload: ServedStore.signedPayload(in: body),
                attempts: [SendAttempt(attemptDate: now, sendAttemptResult: result)]
            )
        }
        return TestRequestDocument(testNotificationToken: token)
    }

    /// The outcome of a test notification.
    func testNotificationStatus(_ token: String) throws(StoreError) -> TestStatusDocument {
        guard token.contains("_") else { throw .invalidTestToken }
        guard let test = tests.withLock({ $0[token] }) else { throw .testNotFound }
        return TestStatusDocument(
            signedPayload: test.signedPayload,
            sendAttempts: test.attempts
        )
    }
}
