internal import AppStoreSimulator
internal import AsyncHTTPClient
internal import Events
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import ServiceLifecycle

/// Sends notifications when they are signed, and again where they do not arrive, as Apple does.
///
/// Some are lost on purpose, some sent twice, some late: what happens to each follows from the
/// seed. Ends with the program; what was not sent then is never sent.
struct NotificationSender: Service {
    let store: ServedStore
    let options: SimulatedStoreOptions
    let url: String
    let logger: Logger

    /// Hours after the attempt before (Apple's data: delivery).
    ///
    /// The sandbox tries once.
    static let retryHours: [Int64] = [1, 12, 24, 48, 72]
    /// What arrives late arrives up to so many hours late, and so after later ones.
    private static let delayHoursMax: Int64 = 2
    /// Notifications under way at once.
    private static let underWayMax = 8
    /// Seconds until an attempt counts as failed.
    private static let attemptSeconds: Int64 = 10

    /// What is done to a notification on purpose.
    struct Fate: Sendable {
        let isLost: Bool
        let isRepeated: Bool
        let delay: Int64

        init(number: Int, options: SimulatedStoreOptions) {
            var generator = SeededGenerator(
                seed: options.seed ^ 0x4641_5445,
                branch: UInt64(number)
            )
            func happens(_ share: Double) -> Bool {
                Double(generator.integer(in: 0...999_999)) < share * 1_000_000
            }
            isLost = happens(options.lost)
            isRepeated = happens(options.repeated)
            let isDelayed = happens(options.delayed)
            let most = NotificationSender.delayHoursMax * 3_600_000
            delay = isDelayed ? generator.integer(in: 1...most) : 0
        }
    }

    func run() async throws {
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(
                redirectConfiguration: .disallow,
                timeout: HTTPClient.Configuration.Timeout(
                    connect: .seconds(Self.attemptSeconds),
                    read: .seconds(Self.attemptSeconds)
                )
            )
        )
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                for number in store.notifications.indices {
                    if number >= Self.underWayMax { await group.next() }
                    guard await pause(until: store.notifications[number].signedAt) else { break }
                    group.addTask { await send(number, by: client) }
                }
                await group.waitForAll()
            }
        }
        try await client.shutdown()
    }

    private func send(_ number: Int, by client: HTTPClient) async {
        let sending = store.notifications[number]
        let fate = Fate(number: number, options: options)
        let pace = store.lives[sending.life].store.pace
        let body = store.body(of: sending)
        var next = sending.signedAt.milliseconds + pace.real(milliseconds: fate.delay)
        let waits = store.environment == .sandbox ? [] : Self.retryHours
        for wait in [nil] + waits.map(Optional.some) {
            if let wait { next += pace.real(milliseconds: wait * 3_600_000) }
            guard await pause(until: Instant(milliseconds: next)) else { return }
            let result = fate.isLost ? .noResponse : await attempt(body, by: client)
            store.journal.note(
                SendAttempt(attemptDate: options.clock(), sendAttemptResult: result),
                of: number
            )
            if result == .success {
                if fate.isRepeated { _ = await attempt(body, by: client) }
                return
            }
            // It never arrives: attempts that are lost like this one are not worth the wait.
            if fate.isLost { return }
        }
        logger.warning("a notification did not arrive", metadata: ["number": "\(number)"])
    }

    private func attempt(_ body: [UInt8], by client: HTTPClient) async -> SendAttempt.Result {
        await Self.post(body, to: url, by: client, seconds: Self.attemptSeconds)
    }

    /// One attempt.
    static func post(
        _ body: [UInt8],
        to url: String,
        by client: HTTPClient,
        seconds: Int64 = attemptSeconds
    ) async -> SendAttempt.Result {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(body)
        do {
            let response = try await client.execute(request, timeout: .seconds(seconds))
            for try await _ in response.body {}
            return (200...206).contains(Int(response.status.code)) ? .success : .unsuccessful
        } catch let error as HTTPClientError where error == .readTimeout {
            return .timedOut
        } catch {
            return .socketIssue
        }
    }

    // False where the program ends in the meantime.
    private func pause(until instant: Instant) async -> Bool {
        let wait = instant.milliseconds - options.clock().milliseconds
        guard wait > 0 else { return !Task.isCancelled }
        do {
            try await Task.sleep(for: .milliseconds(wait))
            return true
        } catch {
            return false
        }
    }
}
