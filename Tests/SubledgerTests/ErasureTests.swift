import AppStore
import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// Erasures: erased data is gone, the rest is proven, and nothing comes back.
@Suite(.enabled { await TestServer.isAvailable })
struct ErasureTests {
    private static let everything = Array(
        FilledLedger.simulator.sampleHistory(count: FilledLedger.lives)
    )
    static let reason = ErasureReason("ticket 4711", by: "privacy team")

    @Test(arguments: [1, 4])
    func `an erased subscription has no content, and the rest is proven`(lanes: Int) async throws {
        try await Self.withFilled(lanes: lanes) { ledger, settings in
            let stream = try await Self.longest(of: ledger)
            let before = try await ledger.log.history(of: stream)
            let target = ErasureTarget(stream: stream, scope: .subscription)
            let planned = try await ledger.plannedErasures(of: [target])
            #expect(planned.contains { $0.stream == stream && $0.position == nil })
            #expect(try await ledger.log.history(of: stream) == before, "a plan changes nothing")
            let done = try await ledger.erase([target], reason: Self.reason, withSiblings: true)
            #expect(done.map(\.stream) == planned.map(\.stream))
            #expect(done.map(\.erasure) == planned.map(\.erasure))

            let after = try await ledger.log.history(of: stream)
            #expect(after.events.dropLast().allSatisfy { $0.fact.kind == .erased })
            #expect(after.events.last?.fact.kind == .erasure)
            #expect(after.confirmations.isEmpty)
            #expect(try await ledger.periods(of: stream).rows.isEmpty)
            try await Self.expectSound(ledger, erased: Int64(before.events.count))
            let again = try await ledger.erase([target], reason: Self.reason, withSiblings: true)
            #expect(again.isEmpty, "nothing is left to erase")

            // Payloads that Apple sends again are refused: they are from before the erasure.
            let events = try await ledger.log.heads().values.reduce(0) { $0 + $1.offset }
            let report = try await ledger.ingest(Self.everything)
            #expect(report.erased > 0)
            #expect(report.appended == 0)
            #expect(try await ledger.log.heads().values.reduce(0) { $0 + $1.offset } == events)
            #expect(try await Self.traces(of: before, settings).isEmpty)
            try await Self.expectSound(ledger, erased: Int64(before.events.count))
        }
    }

    @Test(arguments: [1, 4])
    func `an erased customer is found nowhere, and the purchases are unchanged`(
        lanes: Int
    ) async throws {
        try await Self.withFilled(lanes: lanes) { ledger, settings in
            let stream = try await Self.longest(of: ledger)
            let periods = try await ledger.periods(of: stream).rows
            _ = try await ledger.add(
                CustomerLink(
                    stream: stream,
                    customer: "anna@example.com",
                    statedBy: "support",
                    reason: "a call of Anna's",
                    statedAt: Instant(milliseconds: 0)
                ),
                receivedAt: .systemClock()
            )
            let before = try await ledger.log.history(of: stream)
            let targets = try await ledger.erasureTargets(ofCustomer: "anna@example.com")
            #expect(targets.map(\.scope) == [.customer])
            _ = try await ledger.erase(targets, reason: Self.reason, withSiblings: true)
            #expect(try await ledger.erasureTargets(ofCustomer: "anna@example.com").isEmpty)

            let after = try await ledger.log.history(of: stream)
            #expect(after.events.count == before.events.count + 1)
            #expect(
                after.events.allSatisfy {
                    $0.fact.kind == .erasure || !$0.fact.content.identifiesPerson
                }
            )
            #expect(try await ledger.periods(of: stream).rows == periods)
            #expect(try await Self.traces(of: before, settings).isEmpty)
            try await Self.expectSound(ledger, erased: nil)

            // Known facts stay known, and news is recorded without the person.
            let heads = try await ledger.log.heads()
            let report = try await ledger.ingest(Self.everything)
            #expect(report.appended == 0)
            #expect(try await ledger.log.heads() == heads, "payloads from before add no commit")
            #expect(try await Self.traces(of: before, settings).isEmpty)
            try await Self.expectSound(ledger, erased: nil)
        }
    }

    @Test func `erasing a contested claim leaves the subscription to its owner`() async throws {
        try await Self.withFilled(lanes: 1) { ledger, _ in
            let stream = try await Self.longest(of: ledger)
            func link(_ customer: String, at time: Int64) async throws {
                let statement = CustomerLink(
                    stream: stream,
                    customer: customer,
                    statedBy: "test",
                    reason: "",
                    statedAt: Instant(milliseconds: time)
                )
                var policy = ledger.verifier.policy
                policy.environments.insert(stream.environment)
                let verified = try AppStoreVerifier(policy: policy).verify(
                    payload: statement.payload,
                    source: "test",
                    receivedAt: .systemClock(),
                    voucher: .operator
                )
                _ = try await ledger.log.append(verified.groups)
            }
            try await link("yve", at: 1_600_000_000_000)
            // Contested: it moves nothing.
            try await link("xaver", at: 1_700_000_000_000)
            let targets = try await ledger.erasureTargets(ofCustomer: "xaver")
            #expect(targets.first { $0.stream == stream }?.scope == .link)
            _ = try await ledger.erase(targets, reason: Self.reason, withSiblings: true)
            let claims = StreamClaims(Timeline(try await ledger.log.history(of: stream)))
            #expect(claims.linkedCustomer == "yve")
            #expect(claims.links.map(\.customer) == ["yve"])
            try await Self.expectSound(ledger, erased: 1)
        }
    }

    @Test(arguments: [1, 4])
    func `payloads that prove other subscriptions are erased only if that is accepted`(
        lanes: Int
    ) async throws {
        try await FollowTests.withLedger(lanes: lanes) { ledger, _ in
            // One response about eight subscriptions, then a later one that repeats everything.
            for day in [Int64(40), 41] {
                _ = try await ledger.ingest(
                    Self.response(day: day),
                    source: "test",
                    voucher: .operator
                )
            }
            let streams = try await ledger.allStreams()
            #expect(streams.count == 8)
            let target = ErasureTarget(stream: streams[0], scope: .subscription)
            let planned = try await ledger.plannedErasures(of: [target])
            #expect(Set(planned.map(\.stream)) == Set(streams))
            #expect(planned.count { $0.erasure.scope == .payload } == 7)
            let error = await #expect(throws: EventLogError.self) {
                _ = try await ledger.erase([target], reason: Self.reason, withSiblings: false)
            }
            #expect(error?.code == .sharedPayloads)
            #expect(error?.message.contains(streams[1].originalTransactionId) == true)
            #expect(try await ledger.plannedErasures(of: [target]) == planned)
            let rows = try await ledger.periods(of: streams[1]).rows
            _ = try await ledger.erase([target], reason: Self.reason, withSiblings: true)
            #expect(try await ledger.periods(of: streams[1]).rows == rows)
            #expect(try await ledger.periods(of: streams[0]).rows.isEmpty)
            #expect(try await ledger.plannedErasures(of: [target]).isEmpty)
            try await Self.expectSound(ledger, erased: 8)
            // A later response has news about all of them: its bytes contain the erased one's, too.
            let later = try await ledger.ingest(
                Self.response(day: 50, priced: true),
                source: "test",
                voucher: .operator
            )
            #expect(later.outcomes.contains { $0.isNew || $0.isConfirmation })
            try await Self.expectSound(ledger, erased: 8)
            for stream in streams {
                for event in try await ledger.log.history(of: stream).events
                where event.fact.kind != .erasure {
                    let stored = try await ledger.log.event(at: event.position)
                    if case .whole? = stored?.evidence {
                        Issue.record("\(event.position) still has its payload")
                    }
                }
            }
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `followed tables equal those of a rebuild, whenever something was erased`(
        seed: UInt64
    ) async throws {
        try await FollowTests.withLedger(lanes: seed == 3 ? 4 : 1) { ledger, settings in
            var random = TestSupport.SeededGenerator(seed: seed)
            let projector = Projector(log: ledger.log, settings: settings)
            let deliveries = FollowTests.deliveries(seed: seed)
            let half = deliveries.count / 2
            try await ledger.ingest(Array(deliveries[..<half]))
            _ = try await projector.rebuild()
            var rest = deliveries[half...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...80, using: &random)
                try await ledger.ingest(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
                let streams = try await ledger.allStreams()
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let stream = try #require(streams.randomElement(using: &random))
                    let scope: Erasure.Scope =
                        Bool.random(using: &random) ? .subscription : .customer
                    _ = try await ledger.erase(
                        [ErasureTarget(stream: stream, scope: scope)],
                        reason: Self.reason,
                        withSiblings: true
                    )
                }
                if Bool.random(using: &random) { _ = try await projector.follow(.once("test")) }
            }
            _ = try await projector.follow(.once("test"))
            try await FollowTests.expectEqualsRebuild(projector, settings, "seed \(seed)")
            try await Self.expectSound(ledger, erased: nil)
        }
    }

    @Test(arguments: [UInt64(1), 2])
    func `between erasures the order of arrival changes no answer`(seed: UInt64) async throws {
        var digests: [[Digest]] = []
        for order in [UInt64(11), 12, 13] {
            try await FollowTests.withLedger(lanes: 1) { ledger, settings in
                let deliveries = Array(FilledLedger.simulator.sampleHistory(count: 20))
                let half = deliveries.count / 2
                try await ledger.ingest(Array(deliveries[..<half]).disordered(seed: seed &* order))
                for (index, stream) in try await ledger.allStreams().enumerated()
                where index % 3 < 2 {
                    _ = try await ledger.erase(
                        [
                            ErasureTarget(
                                stream: stream,
                                scope: index % 3 == 0 ? .customer : .subscription
                            )
                        ],
                        reason: Self.reason,
                        withSiblings: true
                    )
                }
                try await ledger.ingest(Array(deliveries[half...]).disordered(seed: seed &+ order))
                let projector = Projector(log: ledger.log, settings: settings)
                digests.append(try await projector.rebuild().map(\.digest))
                try await Self.expectSound(ledger, erased: nil)
            }
        }
        #expect(Set(digests).count == 1, "seed \(seed)")
    }

    @Test func `a subscription that had lost a shared payload gets no token from a later one`()
        async throws
    {
        try await FollowTests.withLedger(lanes: 1) { ledger, _ in
            func ingest(day: Int64, token: String? = nil) async throws -> [AppendOutcome] {
                try await ledger.ingest(
                    Self.response(day: day, priced: day > 45, token: token, about: 1...2),
                    source: "test",
                    voucher: .operator
                ).outcomes
            }
            _ = try await ingest(day: 40)
            let streams = try await ledger.allStreams().sorted()
            _ = try await ledger.erase(
                [ErasureTarget(stream: streams[0], scope: .customer)],
                reason: Self.reason,
                withSiblings: true
            )
            let later = try await ingest(day: 50, token: "7f1c0a52-9d3e-4c6b-8a41-2b5d6e7f8091")
            #expect(later.contains { $0.isNew })
            let sibling = try await ledger.log.history(of: streams[1]).events
            #expect(sibling.count > 1)
            #expect(sibling.last?.fact.content.identifiesPerson == false)
            #expect(try await ledger.log.verify().isOK)
        }
    }
}

extension ErasureTests {
    /// A verifyReceipt response about some subscriptions, as of a day.
    static func response(
        day: Int64,
        priced: Bool = false,
        token: String? = nil,
        about numbers: ClosedRange<Int> = 1...8
    ) -> [UInt8] {
        let start: Int64 = 1_700_000_000_000
        func at(_ day: Int64) -> Int64 { start + day * 86_400_000 }
        let rows = numbers.map { number in
            """
            {"quantity":"1","product_id":"monthly","transaction_id":"30000\(number)",
            "original_transaction_id":"10000\(number)","purchase_date_ms":"\(at(0))",
            "original_purchase_date_ms":"\(at(0))","expires_date_ms":"\(at(30))",
            \(token.map { "\"app_account_token\":\"\($0)\"," } ?? "")
            \(priced ? "\"cancellation_date_ms\":\"\(at(45))\",\"cancellation_reason\":\"0\"," : "")
            "web_order_line_item_id":"20000\(number)","is_trial_period":"false"}
            """
        }.joined(separator: ",")
        return Array(
            """
            {"status":0,"environment":"Production","receipt":{"receipt_type":"Production",
            "bundle_id":"com.example.lumen","request_date_ms":"\(at(day))","in_app":[]},
            "latest_receipt_info":[\(rows)],"pending_renewal_info":[]}
            """.utf8
        )
    }

    /// A ledger of simulated lives, with its settings.
    static func withFilled(
        lanes: Int,
        _ body: (Ledger, ConnectionSettings) async throws -> Void
    ) async throws {
        let template = lanes == 1 ? FilledLedger.plain : FilledLedger.divided
        try await TestServer.shared.withDatabase(from: template) { settings in
            var options = FilledLedger.options
            options.readersMax = 3
            let ledger = Ledger(
                log: try await EventLog.open(settings, options),
                verifier: try FilledLedger.simulator.verifier()
            )
            try await body(ledger, settings)
            await ledger.log.close()
        }
    }

    /// The subscription with the most events: with notifications, polls and a token.
    static func longest(of ledger: Ledger) async throws -> StreamID {
        var best: (stream: StreamID, events: Int)?
        for stream in try await ledger.allStreams() {
            let history = try await ledger.log.history(of: stream)
            guard history.events.contains(where: { $0.fact.content.text(.appAccountToken) != nil })
            else { continue }
            if history.events.count > best?.events ?? 0 { best = (stream, history.events.count) }
        }
        return try #require(best).stream
    }

    /// The log and its payloads are proven, except for what was erased.
    static func expectSound(_ ledger: Ledger, erased: Int64?) async throws {
        let report = try await ledger.log.verify()
        #expect(report.firstMismatch == nil)
        if let erased { #expect(report.erasedEvents >= erased) }
        let signatures = try await SignatureVerification(
            log: ledger.log,
            roots: [try .init(der: FilledLedger.simulator.store.pki.rootDER)],
            jobs: 2
        ).run()
        #expect(signatures.firstFailure == nil)
        #expect(signatures.notKept > 0)
    }

    /// The tokens and customers of a history that any row of the log still contains, payloads
    /// unpacked.
    private static func traces(
        of history: StreamHistory,
        _ settings: ConnectionSettings
    ) async throws -> [String] {
        var secrets: Set<String> = []
        for event in history.events {
            for field in [Field.appAccountToken, .customerId, .linkReason] {
                if let text = event.fact.content.text(field) { secrets.insert(text) }
            }
        }
        let log = try await EventLog.open(settings, FilledLedger.options)
        var found: [String] = []
        for (lane, head) in try await log.heads() {
            var commit: Int64 = 0
            while let page = try await log.citedPayloads(lane: lane, after: commit, upTo: head) {
                commit = page.lastCommit
                for cited in page.payloads {
                    var texts = cited.events.map(\.fact.content.canonicalBytes)
                    if case .whole(let evidence) = cited.evidence {
                        texts += decoded(evidence.payload)
                    }
                    for secret in secrets
                    where texts.contains(where: { isFound(secret, in: $0) }) {
                        found.append("payload \(lane):\(cited.number): \(secret)")
                    }
                }
            }
        }
        await log.close()
        return found
    }

    // By Foundation, because in a module that is not optimised Swift's search takes most of the
    // test.
    private static func isFound(_ secret: String, in text: [UInt8]) -> Bool {
        Data(text).range(of: Data(secret.utf8)) != nil
    }

    // A payload, and the contents of its base64url parts.
    private static func decoded(_ payload: [UInt8]) -> [[UInt8]] {
        var all = [payload]
        for piece in payload.split(whereSeparator: { !Base64.isURLCharacter($0) })
        where piece.count > 40 {
            guard let inner = Base64.decodeURLUnpadded(piece) else { continue }
            all += decoded(inner)
        }
        return all
    }
}
