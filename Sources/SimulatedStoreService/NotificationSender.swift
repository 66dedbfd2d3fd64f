internal import AppStoreSimulator
internal import AsyncHTTPClient
internal import Events
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import ServiceLifecycle

/// Sends notifications when they are signed, and again if they do not arrive, as Apple does.
///
/// Some are lost on purpose, some sent twice, some late: the seed determines what happens to each.
/// Ends with the program; notifications not sent by then are never sent.
struct NotificationSender: Service {
    let store: ServedStore
    let options: SimulatedStoreOptions
    let url: String
    let logger: Logger

    /// Hours after the previous attempt (Apple's data: delivery).
    ///
    /// The sandbox tries once.
    static let retryHours: [Int64] = [1, 12, 24, 48, 72]
    /// The longest delay of a late notification, in hours, which makes it arrive after later ones.
    private static let delayHoursMax: Int64 = 2
    /// The most concurrent attempts; those that are not due yet do not count.
    private static let underWayMax = 8
    /// Seconds after which an attempt counts as failed.
    private static let attemptSeconds: Int64 = 10
    /// The longest wait for news, in milliseconds.
    private static let waitMax: Int64 = 60_000

    /// The deliberate faults of a notification.
    struct Fate: Sendable {
        let isLost: Bool
        let isRepeated: Bool
        let delay: Int64

        init(_ sending: ServedStore.Sending, options: SimulatedStoreOptions) {
            var generator = SeededGenerator(
                seed: options.seed ^ 0x4641_5445,
                branch: UInt64(sending.life) << 20 | UInt64(sending.number)
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
        await cancelWhenGracefulShutdown { await sendAll(by: client) }
        try await client.shutdown()
    }

    private func sendAll(by client: HTTPClient) async {
        let outbox = Outbox(underWayMax: Self.underWayMax)
        // Waits take real time, even if the store's clock stands still.
        let (opening, start) = (options.clock(), ContinuousClock.now)
        var last: ServedStore.Sending?

        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let passed = Int64((ContinuousClock.now - start) / .milliseconds(1))
                let now = max(options.clock(), opening.advanced(by: passed))
                for sending in store.signed(after: last, upTo: now) {
                    outbox.add(first(of: sending))
                    last = sending
                }

                if let attempt = outbox.takeDue(at: now) {
                    group.addTask {
                        outbox.end(with: await send(attempt, by: client))
                        store.bell.ring()
                    }
                } else {
                    let next = [outbox.due, store.firstSigning(after: last)].compactMap(\.self)
                        .min()
                    let wait = next.map { $0.milliseconds - now.milliseconds } ?? Self.waitMax
                    await store.bell.wait(milliseconds: min(max(1, wait), Self.waitMax))
                }
            }
            group.cancelAll()
        }
    }

    private func first(of sending: ServedStore.Sending) -> PlannedAttempt {
        let pace = store.life(sending.life).store.pace
        let delay = Fate(sending, options: options).delay
        return PlannedAttempt(
            sending: sending,
            number: 0,
            due: sending.signedAt.advanced(by: pace.real(milliseconds: delay))
        )
    }

    // The next attempt; nil if there is none.
    private func send(_ attempt: PlannedAttempt, by client: HTTPClient) async -> PlannedAttempt? {
        let fate = Fate(attempt.sending, options: options)
        let body = attempt.isRepetition || !fate.isLost ? store.body(of: attempt.sending) : []
        let result =
            fate.isLost
            ? .noResponse
            : await Self.post(body, to: url, by: client, seconds: Self.attemptSeconds)
        guard !Task.isCancelled, !attempt.isRepetition else { return nil }
        store.journal.note(
            SendAttempt(attemptDate: options.clock(), sendAttemptResult: result),
            of: attempt.sending
        )
        if result == .success { return fate.isRepeated ? attempt.repetition : nil }
        // It never arrives, so waiting for further attempts, which would be lost too, is pointless.
        guard !fate.isLost else { return nil }
        let waits = store.environment == .sandbox ? [] : Self.retryHours
        guard attempt.number < waits.count else {
            let signedAt = attempt.sending.signedAt
            logger.warning("a notification did not arrive", metadata: ["signedAt": "\(signedAt)"])
            return nil
        }
        let pace = store.life(attempt.sending.life).store.pace
        return attempt.next(after: pace.real(milliseconds: waits[attempt.number] * 3_600_000))
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
}

extension ServedStore {
    /// The notifications signed after one of them, up to an instant.
    fileprivate func signed(after last: Sending?, upTo now: Instant) -> ArraySlice<Sending> {
        let all = notifications
        let start = last.map { all.firstIndex(after: $0) } ?? 0
        let end = all.firstIndex(after: Sending(signedAt: now, life: .max, number: .max))
        return all[start..<max(start, end)]
    }

    /// When the next one after it is signed; nil if none is planned.
    fileprivate func firstSigning(after last: Sending?) -> Instant? {
        let all = notifications
        let start = last.map { all.firstIndex(after: $0) } ?? 0
        return start < all.count ? all[start].signedAt : nil
    }
}
