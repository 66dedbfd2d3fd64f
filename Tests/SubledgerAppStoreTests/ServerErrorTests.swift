import AppStore
import AppStoreSimulator
import EventLog
import Events
import Foundation
import Hummingbird
import SimulatedStoreService
@testable import SubledgerAppStore
import Testing

/// What Apple answers in place of data.
@Suite struct ServerErrorTests {
    private static func body(_ code: Int64) -> String {
        #"{"errorCode":\#(code),"errorMessage":"x"}"#
    }

    /// The codes that Apple documents for what the client asks and for what the store answers; those
    /// of messages to subscribers belong to other endpoints.
    private static let documented: [Int64] = [
        4_000_000, 4_000_002, 4_000_005, 4_000_006, 4_000_008, 4_000_009, 4_000_010, 4_000_011,
        4_000_012, 4_000_013, 4_000_014, 4_000_015, 4_000_016, 4_000_017, 4_000_018, 4_000_019,
        4_000_020, 4_000_021, 4_000_022, 4_000_023, 4_000_024, 4_000_025, 4_000_026, 4_000_027,
        4_000_028, 4_000_030, 4_000_031, 4_000_032, 4_000_033, 4_000_034, 4_000_035, 4_000_036,
        4_000_037, 4_000_038, 4_000_039, 4_000_040, 4_000_041, 4_000_042, 4_000_043, 4_000_047,
        4_000_048, 4_000_183, 4_000_185, 4_000_187, 4_030_004, 4_030_005, 4_030_007, 4_040_001,
        4_040_002, 4_040_003, 4_040_004, 4_040_005, 4_040_006, 4_040_007, 4_040_008, 4_040_009,
        4_040_010, 4_040_019, 4_290_000, 5_000_000, 5_000_001,
    ]

    @Test func `each documented code has a meaning of its own, and no other code has one`() {
        #expect(ServerErrorCode.meanings.keys.sorted() == Self.documented)
        #expect(Set(ServerErrorCode.meanings.values).count == Self.documented.count)
        let retried = Self.documented.filter { ServerErrorCode(rawValue: $0).response == .retry }
        #expect(retried == [4_040_002, 4_040_004, 4_040_006, 5_000_001])
        let waited = Self.documented.filter { ServerErrorCode(rawValue: $0).response == .wait }
        #expect(waited == [4_290_000])
    }

    @Test func `every documented code is mapped, and an unknown one is treated as its class`()
        async throws
    {
        let retried: Set<Int64> = [
            4_040_002, 4_040_004, 4_040_006, 5_000_001, 5_009_999, 5_030_000,
        ]
        let codes = ServerErrorCode.meanings.keys.sorted() + [4_009_999, 5_009_999, 5_030_000]
        for code in codes where code != 4_290_000 {
            try await OddServer.run { _, _ in
                OddServer.json(
                    Self.body(code),
                    status: HTTPResponse.Status(code: Int(code / 10_000))
                )
            } _: { url, requests in
                try await AppStoreServerClient.with(try anyCredentials(), url: url) { client in
                    let error = try await serverError {
                        _ = try await client.answer(to: .transaction("1"), in: .production)
                    }
                    #expect(error.errorCode?.rawValue == code)
                    #expect(error.isRetryable == retried.contains(code), "\(code)")
                    #expect(requests() == (retried.contains(code) ? 5 : 1), "\(code)")
                    #expect(error.message.contains("\(code)"))
                }
            }
        }
    }

    @Test func `Retry-After is an instant in milliseconds, and nothing is sent before it`()
        async throws
    {
        let start = ContinuousClock.now
        let free = Instant(milliseconds: Instant.systemClock().milliseconds + 700)
        try await OddServer.run { number, _ in
            guard number > 1 else {
                return OddServer.json(
                    Self.body(4_290_000),
                    status: .tooManyRequests,
                    headers: [.retryAfter: "\(free.milliseconds)"]
                )
            }
            #expect(Instant.systemClock() >= free)
            return OddServer.json(#"{"signedTransactionInfo":"a.b.c"}"#)
        } _: { url, requests in
            try await AppStoreServerClient.with(try anyCredentials(), url: url) { client in
                _ = try await client.answer(to: .transaction("1"), in: .production)
                #expect(requests() == 2)
            }
        }
        #expect(ContinuousClock.now - start >= .milliseconds(600))
    }

    @Test func `a rate limit that is too long to wait for is an error with its end`()
        async throws
    {
        let free = Instant(milliseconds: Instant.systemClock().milliseconds + 3_600_000)
        try await OddServer.run { _, _ in
            OddServer.json(
                Self.body(4_290_000),
                status: .tooManyRequests,
                headers: [.retryAfter: "\(free.milliseconds)"]
            )
        } _: { url, requests in
            try await AppStoreServerClient.with(try anyCredentials(), url: url) { client in
                for _ in 0..<3 {
                    let error = try await serverError {
                        _ = try await client.answer(to: .transaction("1"), in: .production)
                    }
                    #expect(error.code == .rateLimited)
                    let end = try #require(error.retryAt).milliseconds
                    #expect(abs(end - free.milliseconds) < 60_000)
                }
                // The second and third question were not sent: they were doomed.
                #expect(requests() == 1)
                // Another endpoint has a limit of its own.
                _ = try await serverError {
                    _ = try await client.answer(to: .order("1"), in: .production)
                }
                #expect(requests() == 2)
            }
        }
    }

    @Test func `requests keep to a rate, however many wait`() async throws {
        // A tenth of Apple's rate: five a second. A store that refuses some of them would be done
        // earlier: it takes five at once. How many it refuses depends on when they arrive, so on
        // the load of the machine; RequestPaceTests counts that in simulated time.
        let start = ContinuousClock.now
        try await TestStore.run(ticks: true) {
            ($0.subscriptions, $0.rateShare) = (1, 0.1)
        } _: { store in
            var limits = ServerLimits.brisk
            limits.rateShare = 0.1
            limits.rateLimitSecondsMax = 30
            let id = store.server.lives[0].originalTransactionId
            try await AppStoreServerClient.with(
                try store.credentials(),
                url: store.url,
                limits
            ) { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<12 {
                        group.addTask {
                            _ = try await client.answer(to: .transaction(id), in: .production)
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let counts = try JSONDecoder().decode(
                [String: [String: Int]].self,
                from: try await store.get("/control/requests")
            )
            let asked = try #require(counts["Production transaction"])
            let (requests, refused) = (asked["requests"] ?? 0, asked["refused"] ?? 0)
            #expect(counts.count == 1 && requests - refused == 12, "\(counts)")
            #expect(ContinuousClock.now - start >= .seconds(0.2) * 11, "\(counts)")
        }
    }

    @Test func `an error that may pass is asked again until it has passed`() async throws {
        try await TestStore.run {
            ($0.subscriptions, $0.failing) = (5, 0.4)
        } _: { store in
            try await store.withClient { client in
                for life in store.server.lives {
                    let answer = try await client.answer(
                        to: .transaction(life.originalTransactionId),
                        in: .production
                    )
                    #expect(answer.statementCount == 1)
                }
            }
        }
    }

    @Test func `the time between attempts doubles up to its limit, and half of it is drawn`() {
        var limits = ServerLimits()
        (limits.backOffSeconds, limits.backOffSecondsMax) = (1, 5)
        let waits = (2...6).map { limits.backOff(before: $0, jitter: 1) }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
        #expect(limits.backOff(before: 3, jitter: 0) == .seconds(1))
    }
}
