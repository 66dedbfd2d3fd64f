import AppStoreSimulator
import EventLog
import Events
import Foundation
import HTTPTypes
import Hummingbird
import SimulatedStoreService
import Subledger
@testable import SubledgerAppStore
import Synchronization
import TestSupport
import Testing

@Suite struct RefresherTests {
    /// A clock that the test moves.
    private final class Hand: Sendable {
        private let instant = Mutex(Instant.systemClock())

        var now: Instant { instant.withLock { $0 } }

        func move(_ seconds: Double) {
            instant.withLock {
                $0 = Instant(milliseconds: $0.milliseconds + Int64(seconds * 1000))
            }
        }
    }

    private static func stream(_ id: String) -> StreamID {
        StreamID(environment: .production, originalTransactionId: id)
    }

    /// Runs a body with a refresher whose server gives the answers of the test.
    private static func run(
        _ hand: Hand,
        _ answer: @escaping @Sendable (Int, Request) async throws -> Response,
        credentials: ServerCredentials? = nil,
        _ body: @escaping @Sendable (Refresher, @escaping @Sendable () -> Int) async throws -> Void
    ) async throws {
        try await OddServer.run(answer) { url, requests in
            try await PolledLedger.run(seed: 1) { polled in
                var limits = ServerLimits.brisk
                limits.attemptsMax = 1
                let client = AppStoreServerClient(
                    try credentials ?? anyCredentials(),
                    hosts: try ServerHosts(url: url),
                    limits: limits,
                    clock: { hand.now }
                )
                var options = Poller.Options(holder: "test")
                options.environments = [.production]
                let poller = Poller(polled.ledger, client, options: options) { hand.now }
                do {
                    try await body(Refresher(poller), requests)
                } catch {
                    try await client.close()
                    throw error
                }
                try await client.close()
            }
        }
    }

    private static func held(_ outcome: Refresher.Outcome) -> Instant? {
        if case .held(let until, _) = outcome { until } else { nil }
    }

    @Test func `while Apple does not answer, one question is asked and all others fail at once`()
        async throws
    {
        let hand = Hand()
        let isUp = Mutex(false)
        try await Self.run(
            hand,
            { _, request in
                guard isUp.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
                return OddServer.json(
                    request.uri.path.contains("history")
                        ? #"{"signedTransactions":[],"hasMore":false,"revision":"1"}"#
                        : #"{"data":[]}"#
                )
            }
        ) { refresher, requests in
            guard case .asked(let first) = try await refresher.refresh([Self.stream("1")]) else {
                Issue.record("Apple was not asked")
                return
            }
            #expect(first.asked.failed == 1 && requests() == 1)
            for number in 2...20 {
                let outcome = try await refresher.refresh([Self.stream("\(number)")])
                let until = try #require(Self.held(outcome))
                #expect(until.milliseconds == hand.now.milliseconds + 30_000)
            }
            #expect(requests() == 1, "Apple was asked although it does not answer")
            // Each further failure doubles the time.
            for seconds in [30.0, 60, 120, 240, 300, 300] {
                hand.move(seconds)
                guard case .asked = try await refresher.refresh([Self.stream("1")]) else {
                    Issue.record("nothing was asked after \(seconds) s")
                    return
                }
            }
            #expect(requests() == 7)
            isUp.withLock { $0 = true }
            hand.move(300)
            for number in 1...5 {
                guard
                    case .asked(let report) = try await refresher.refresh([Self.stream("\(number)")]
                    )
                else {
                    Issue.record("still held after an answer")
                    return
                }
                #expect(report.asked.answered == 1 && report.answeredAt != nil)
            }
        }
    }

    @Test func `a key that Apple refuses is not tried for each customer`() async throws {
        let hand = Hand()
        try await Self.run(hand, { _, _ in Response(status: .unauthorized) }) {
            refresher,
            requests in
            let error = try await serverError {
                _ = try await refresher.refresh([Self.stream("1")])
            }
            #expect(error.code == .credentials && requests() == 1)
            for number in 2...10 {
                let outcome = try await refresher.refresh([Self.stream("\(number)")])
                guard case .held(let until, let why) = outcome else {
                    Issue.record("Apple was asked with a refused key")
                    return
                }
                #expect(until.milliseconds == hand.now.milliseconds + 300_000)
                #expect(why.contains("does not accept the key"))
            }
            #expect(requests() == 1)
            hand.move(300)
            _ = try await serverError { _ = try await refresher.refresh([Self.stream("2")]) }
            #expect(requests() == 2)
        }
    }

    @Test func `a refusal is not an answer, and is not asked about again at once`() async throws {
        let hand = Hand()
        try await Self.run(
            hand,
            { _, _ in
                OddServer.json(#"{"errorCode":4040010,"errorMessage":"x"}"#, status: .notFound)
            }
        ) { refresher, requests in
            guard case .asked(let report) = try await refresher.refresh([Self.stream("1")]) else {
                Issue.record("Apple was not asked")
                return
            }
            #expect(report.asked.refused == 1 && report.answeredAt == nil)
            let outcome = try await refresher.refresh([Self.stream("1")])
            #expect(Self.held(outcome) != nil, "\(outcome)")
            #expect(requests() == 1)
            // Another customer is asked about, and after a minute the first one as well.
            guard case .asked = try await refresher.refresh([Self.stream("2")]) else {
                Issue.record("a refusal held another customer")
                return
            }
            hand.move(60)
            guard case .asked = try await refresher.refresh([Self.stream("1")]) else {
                Issue.record("a refusal counted as an answer")
                return
            }
            #expect(requests() == 3)
        }
    }

    @Test func `no more customers than allowed are asked about at once`() async throws {
        let hand = Hand()
        // Apple answers once all others were turned away.
        let answers = Atomic(false)
        try await Self.run(
            hand,
            { _, _ in
                try await eventually("ten were turned away") {
                    answers.load(ordering: .relaxed)
                }
                return OddServer.json(
                    #"{"errorCode":4040010,"errorMessage":"x"}"#,
                    status: .notFound
                )
            }
        ) { refresher, requests in
            let busy = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<(Refresher.underWayMax + 10) {
                    let stream = Self.stream("\(number)")
                    group.addTask {
                        if case .busy = try await refresher.refresh([stream]) {
                            true
                        } else {
                            false
                        }
                    }
                }
                var busy = 0
                for try await isBusy in group where isBusy {
                    busy += 1
                    if busy == 10 { answers.store(true, ordering: .relaxed) }
                }
                return busy
            }
            #expect(busy == 10)
            #expect(requests() == Refresher.underWayMax)
            guard case .asked = try await refresher.refresh([Self.stream("x")]) else {
                Issue.record("a place was not given back")
                return
            }
        }
    }
}
