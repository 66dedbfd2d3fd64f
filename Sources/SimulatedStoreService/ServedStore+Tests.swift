internal import AppStoreSimulator
internal import AsyncHTTPClient
internal import Events
internal import Foundation
internal import Synchronization

/// Get Test Notification Status.
struct TestStatusDocument: Encodable {
    let signedPayload: String
    let sendAttempts: [SendAttempt]
}

extension ServedStore {
    /// Signs a test notification, sends it once, stores the outcome and returns its token.
    func requestTestNotification(to url: String?, at now: Instant) async throws -> String {
        guard let url else { throw StoreError.noNotificationURL }
        let number = tests.withLock { $0.count }
        var generator = SeededGenerator(seed: UInt64(now.milliseconds), branch: UInt64(number))
        let token = "\(generator.uuid())_\(now.milliseconds)"
        let body = store.testNotification(uuid: generator.uuid(), signedAt: now)
        let client = HTTPClient.shared
        let result = await NotificationSender.post(body, to: url, by: client)
        tests.withLock {
            $0[token] = TestStatusDocument(
                signedPayload: ServedStore.signedPayload(in: body),
                sendAttempts: [SendAttempt(attemptDate: now, sendAttemptResult: result)]
            )
        }
        return token
    }

    /// The outcome of a test notification.
    func testNotificationStatus(_ token: String) throws(StoreError) -> TestStatusDocument {
        guard token.contains("_") else { throw .invalidTestToken }
        guard let test = tests.withLock({ $0[token] }) else { throw .testNotFound }
        return test
    }
}
