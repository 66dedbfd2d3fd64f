import EventLog
import Events
import Foundation
import Hummingbird
import Postgres
import SimulatedStoreService
import Subledger
@testable import SubledgerAppStore
import TestSupport
import Testing

/// Apple's requests for consumption information, answered by a policy.
@Suite struct ConsumptionTests {
    /// A customer of a store who asked for a refund, and the ledger that heard of it.
    struct Asked: Sendable {
        let polled: PolledLedger
        let store: TestStore
        let id: String

        var stream: StreamID {
            StreamID(environment: .production, originalTransactionId: id)
        }

        /// One round by a policy; nil if another process answers.
        func round(
            _ policy: String,
            later: Int64 = 0,
            seconds: Double? = nil
        ) async throws -> [String: Int]? {
            let policy = try ConsumptionPolicy(json: Array(policy.utf8))
            let clock: @Sendable () -> Instant = {
                Instant(milliseconds: Instant.systemClock().milliseconds + later)
            }
            return try await polled.withPoller(store, clock: clock) { poller in
                try await ConsumptionAnswerer(
                    poller,
                    policy,
                    bundleId: SimulatedStoreServer.bundleId,
                    callbackSeconds: seconds
                ).round()
            }?.outcomes
        }

        /// What is recorded.
        func requests() async throws -> [ConsumptionRequest] {
            try await ConsumptionAnswerer.requests(
                in: polled.ledger.log,
                limit: 100,
                at: .systemClock()
            )
        }

        /// What the store was sent.
        func kept() async throws -> [Kept] {
            try JSONDecoder().decode([Kept].self, from: try await store.get("/control/consumption"))
        }

        func act(_ action: String, _ body: String = "") async throws {
            let (status, data) = try await store.post(
                "/control/subscriptions/\(id)/\(action)",
                body
            )
            #expect(status == 200, "\(String(decoding: data, as: UTF8.self))")
            try await store.waitUntilSent()
        }

        func execute(_ sql: String) async throws {
            let session = try await PostgresSession.connect(polled.settings)
            try await session.execute(sql)
            await session.close()
        }
    }

    struct Kept: Decodable {
        let transactionId: String
        let consumption: Body

        struct Body: Decodable {
            let customerConsented: Bool
            let sampleContentProvided: Bool
            let deliveryStatus: String
            let consumptionPercentage: Int?
            let refundPreference: String?
        }
    }

    private struct Bought: Decodable {
        let originalTransactionId: String
    }

    private static let terms = #"{"consent":"terms"}"#

    static func run(
        _ purchase: String = "",
        _ body: @escaping @Sendable (Asked) async throws -> Void
    ) async throws {
        try await PolledLedger.run(seed: 1) { polled in
            try await polled.receiving { url in
                try await TestStore.run(ticks: true) {
                    ($0.subscriptions, $0.monthMilliseconds) = (0, 600_000)
                    $0.notificationURL = url
                } _: { store in
                    let product = "example.subledger.lumen.plus.monthly"
                    let (_, data) = try await store.post(
                        "/control/subscriptions",
                        #"{"productId":"\#(product)"\#(purchase)}"#
                    )
                    let bought = try JSONDecoder().decode(Bought.self, from: data)
                    let asked = Asked(
                        polled: polled,
                        store: store,
                        id: bought.originalTransactionId
                    )
                    try await asked.act("request-refund")
                    try await body(asked)
                }
            }
        }
    }

    @Test func `without the customer's consent nothing is sent`() async throws {
        try await Self.run { asked in
            let others = #"{"consent":"customers","consentingCustomers":["somebody"]}"#
            #expect(try await asked.round(others) == ["notConsented": 1])
            #expect(try await asked.round(Self.terms) == [:], "it was decided")
            #expect(try await asked.kept().isEmpty)
            let request = try #require(try await asked.requests().first)
            #expect(request.outcome == .notConsented && request.body == nil)
            #expect(request.dueAt.milliseconds - request.requestedAt.milliseconds == 43_200_000)
        }
    }

    @Test func `an answer says what the ledger knows, and is recorded`() async throws {
        let token = "7e3fb204-2d5e-4a52-9d0f-6a3c1f2b8e11"
        try await Self.run(#","appAccountToken":"\#(token)""#) { asked in
            let policy = """
                {"consent": "customers", "consentingCustomers": ["\(token)"],
                 "rules": [
                    {"when": {"earlierRefunds": {"atLeast": 1}}, "refundPreference": "DECLINE"},
                    {"when": {"usedPercent": {"below": 100}}, "refundPreference": "GRANT_PRORATED"}
                 ]}
                """
            #expect(try await asked.round(policy) == ["sent": 1])
            let kept = try await asked.kept()
            let sent = try #require(kept.first)
            #expect(kept.count == 1 && sent.consumption.customerConsented)
            #expect(!sent.consumption.sampleContentProvided)
            #expect(sent.consumption.deliveryStatus == "DELIVERED")
            #expect(sent.consumption.refundPreference == "GRANT_PRORATED")
            let request = try #require(try await asked.requests().first)
            #expect(request.outcome == .sent && request.transactionId == sent.transactionId)
            let period = try #require(
                try await asked.polled.ledger.periods(of: asked.stream).rows.first
            )
            let used = request.requestedAt.milliseconds - period.validFrom.milliseconds
            let whole = period.validTo.milliseconds - period.validFrom.milliseconds
            #expect(sent.consumption.consumptionPercentage == Int(used * 100_000 / whole))
            #expect(request.body?.contains(#""consumptionPercentage""#) == true)
        }
    }

    @Test func `a trial before the purchase is a sample`() async throws {
        try await Self.run(#","offer":"FREE_TRIAL""#) { asked in
            let pro = #"{"productId":"example.subledger.lumen.pro.monthly"}"#
            try await asked.act("change", pro)
            try await asked.act("request-refund")
            _ = try await asked.round(Self.terms)
            let kept = try await asked.kept()
            // The trial itself, and the purchase after it.
            let samples = kept.map(\.consumption.sampleContentProvided)
            #expect(samples.filter(\.self).count == 1 && samples.count == 2, "\(kept)")
        }
    }

    @Test func `a repeated request is answered once, and again if it came after the answer`()
        async throws
    {
        try await Self.run { asked in
            try await asked.act("request-refund")
            #expect(try await asked.round(Self.terms) == ["sent": 1])
            #expect(try await asked.round(Self.terms) == [:])
            try await asked.act("request-refund")
            #expect(try await asked.round(Self.terms) == ["sent": 1])
            #expect(try await asked.kept().count == 2)
            // One that waited for another attempt gives way to a newer one.
            try await asked.execute(
                "UPDATE operation.consumption SET outcome = 'failed', retry_at = 'infinity'"
            )
            try await asked.act("request-refund")
            #expect(try await asked.round(Self.terms) == ["sent": 1])
            let outcomes = try await asked.requests().map(\.outcome)
            #expect(outcomes == [.sent, .superseded, .superseded])
        }
    }

    @Test func `what was about to be sent when the process died is sent as it was`() async throws {
        try await Self.run { asked in
            _ = try await asked.round(Self.terms)
            let before = try await asked.requests()
            try await asked.execute(
                "UPDATE operation.consumption SET outcome = 'sending', decided_at = requested_at"
            )
            let none = #"{"consent":"customers","consentingCustomers":["somebody"]}"#
            #expect(try await asked.round(none) == ["sent": 1])
            let (kept, after) = (try await asked.kept(), try await asked.requests())
            #expect(kept.count == 2)
            let percentages = kept.map(\.consumption.consumptionPercentage)
            #expect(percentages.first == percentages.last)
            #expect(after.map(\.body) == before.map(\.body) && after.map(\.outcome) == [.sent])
        }
    }

    @Test func `an erasure removes what was sent, and nothing is sent afterwards`() async throws {
        for isSent in [true, false] {
            try await Self.run { asked in
                if isSent { #expect(try await asked.round(Self.terms) == ["sent": 1]) }
                _ = try await asked.polled.ledger.erase(
                    [ErasureTarget(stream: asked.stream, scope: .customer)],
                    reason: ErasureReason("request", by: "ops"),
                    withSiblings: true
                )
                #expect(try await asked.round(Self.terms) == [:])
                let session = try await PostgresSession.connect(asked.polled.settings)
                let rows = try await session.query("SELECT count(*) FROM operation.consumption")
                #expect(try rows.single().int8(0) == 0)
                await session.close()
                #expect(try await asked.kept().count == (isSent ? 1 : 0))
            }
        }
    }

    @Test func `after twelve hours nothing is sent`() async throws {
        try await Self.run { asked in
            let outcomes = try await asked.round(Self.terms, later: 12 * 3_600_000)
            #expect(outcomes == ["tooLate": 1])
            #expect(try await asked.kept().isEmpty)
        }
    }

    @Test func `what Apple has decided needs no answer`() async throws {
        for action in ["refund", "decline-refund"] {
            try await Self.run { asked in
                try await asked.act(action)
                #expect(try await asked.round(Self.terms) == ["notNeeded": 1], "\(action)")
                #expect(try await asked.kept().isEmpty)
            }
        }
    }

    @Test func `a request of the sandbox is answered in the sandbox`() async throws {
        try await Self.run(#","environment":"Sandbox""#) { asked in
            let outcomes = try await asked.round(Self.terms)
            let environments = try await asked.requests().map(\.stream.environment)
            #expect(outcomes == ["sent": 1] && environments == [.sandbox])
            #expect(try await asked.kept().count == 1, "production does not know the id")
        }
    }

    @Test func `one process at a time answers`() async throws {
        try await Self.run { asked in
            let lock = "subledger/consumption/\(SimulatedStoreServer.bundleId)"
            let other = try #require(
                try await asked.polled.ledger.log.followerSession(holding: lock)
            )
            #expect(try await asked.round(Self.terms) == nil)
            await other.close()
            #expect(try await asked.round(Self.terms) == ["sent": 1])
        }
    }

    @Test func `the app decides, and is asked again if it did not answer`() async throws {
        try await Self.run { asked in
            let (stalled, release) = AsyncStream.makeStream(of: Void.self)
            let answers: [@Sendable () async throws -> Response] = [
                { OddServer.json("{}", status: .serviceUnavailable) },
                { OddServer.json(#"{"customerConsented":true}"#, status: .created) },
                { OddServer.json("", status: .found, headers: [.location: "/elsewhere"]) },
                { OddServer.json("<html>") },
                { OddServer.json(#"{"customerConsented":"yes"}"#) },
                { OddServer.json(#"{"customerConsented":true,"customerConsented":true}"#) },
                { OddServer.json(#"{"customerConsented":true,"consented":true}"#) },
                { OddServer.json(#"{"customerConsented":true,"consumptionPercentage":100001}"#) },
                { OddServer.json(String(repeating: " ", count: 65_537)) },
                {
                    for await _ in stalled {}
                    return OddServer.json("{}")
                },
                { OddServer.json(#"{"customerConsented":true,"refundPreference":"GRANT_FULL"}"#) },
            ]
            try await OddServer.run { number, request in
                #expect(request.method == .post)
                return try await answers[min(number, answers.count) - 1]()
            } _: { url, count in
                let policy = #"{"consent":"callback","callback":"\#(url)/consent?secret=1"}"#
                for number in 1..<answers.count {
                    let isLast = number == answers.count - 1
                    let outcome = try await asked.round(policy, seconds: isLast ? 0.5 : nil)
                    #expect(outcome == ["failed": 1], "\(number)")
                    let request = try #require(try await asked.requests().first)
                    #expect(request.attempts == number && request.body == nil)
                    #expect(request.note.contains("the app at 127.0.0.1 "), "\(request.note)")
                    #expect(!request.note.contains("secret"))
                    #expect(try await asked.round(policy) == [:], "not before the pause is over")
                    try await asked.execute("UPDATE operation.consumption SET retry_at = now()")
                }
                release.finish()
                #expect(count() == answers.count - 1, "no redirect is followed")
                #expect(try await asked.kept().isEmpty)
                #expect(try await asked.round(policy) == ["sent": 1])
                let preferences = try await asked.kept().map(\.consumption.refundPreference)
                #expect(preferences == ["GRANT_FULL"])
            }
        }
    }

    @Test func `an app that says no is not overruled`() async throws {
        try await Self.run { asked in
            try await OddServer.run { _, request in
                let body = try await request.body.collect(upTo: 1 << 20)
                let text = String(buffer: body)
                let reason = #""consumptionRequestReason":"UNINTENDED_PURCHASE""#
                #expect(text.contains(reason), "\(text)")
                #expect(text.contains(#""proposal":{"#) && text.contains(#""requestedAt":"#))
                return OddServer.json(#"{"customerConsented":false}"#)
            } _: { url, _ in
                let policy = #"{"consent":"callback","callback":"\#(url)/ask"}"#
                let outcomes = try await asked.round(policy)
                #expect(outcomes == ["notConsented": 1])
                #expect(try await asked.kept().isEmpty)
            }
        }
    }

    @Test func `a command and a service answer, and the answers are listed`() async throws {
        try await TestServer.shared.withDatabase(from: .polled) { settings in
            let store = try await StoreProcess.start(["--subscriptions", "0", "--month", "10m"])
            let product = #"{"productId":"example.subledger.lumen.plus.monthly"}"#
            let made = try await store.post("/control/subscriptions", product)
            let id = try JSONDecoder().decode(Bought.self, from: made).originalTransactionId
            func ask() async throws {
                _ = try await store.post("/control/subscriptions/\(id)/request-refund", "{}")
                let since = ["backfill", "--since", "yesterday"]
                let filled = try await subledger(since + store.flags, settings)
                #expect(filled.code == 0, "\(filled.errors)")
            }
            func kept() throws -> Int {
                try JSONDecoder().decode([Kept].self, from: store.get("/control/consumption")).count
            }
            func consumption(_ arguments: String...) async throws -> Program.Ending {
                let flags = arguments.contains("--list") ? [] : store.flags
                return try await subledger(["apple", "consumption"] + arguments + flags, settings)
            }
            try await ask()
            let policy = try store.folder.write("policy.json", Data(Self.terms.utf8))
            let wrong = try store.folder.write("wrong.json", Data("{}".utf8))
            let refused = try await consumption("--auto", "--policy", wrong)
            #expect(refused.code == 78 && refused.errors.contains("member consent is missing"))
            let dry = try await consumption("--auto", "--policy", policy)
            #expect(dry.code == 0 && dry.output.contains("PUT /inApps/v2/transactions/consumption"))
            let open = try await consumption("--list", "--json").output
            #expect(open.contains(#""outcome":"open""#), "\(open)")
            #expect(try kept() == 0, "nothing is sent without --execute")

            let service = try Program("subledger").start(
                ["serve", "--port", "0", "--answer-consumption", policy] + store.flags,
                environment: ["DATABASE_URL": settings.fullConnectionString]
            )
            _ = try await service.firstMatch(of: /(answered requests for consumption)/)
            #expect(try kept() == 1)
            let busy = try await consumption("--auto", "--policy", policy, "--execute")
            #expect(busy.code == 75 && busy.errors.contains("another process answers"))
            service.signal(SIGTERM)
            #expect(await service.ending().code == 0)

            try await ask()
            let sent = try await consumption("--auto", "--policy", policy, "--execute")
            #expect(sent.code == 0 && sent.output == "1 sent\n", "\(sent)")
            let follow = ["apple", "consumption", "--auto", "--policy", policy, "--execute"]
            let following = try Program("subledger").start(
                follow + ["--follow"] + store.flags,
                environment: ["DATABASE_URL": settings.fullConnectionString]
            )
            try await ask()
            var lines = following.lines.makeAsyncIterator()
            #expect(await lines.next() == "1 sent")
            following.signal(SIGTERM)
            while await lines.next() != nil {}
            #expect(await following.ending().code == 0)
            let list = try await consumption("--list")
            #expect(list.output.split(separator: "\n").count == 4, "\(list)")
            await store.end()
        }
    }
}
