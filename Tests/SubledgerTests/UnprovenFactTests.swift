import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// Facts that nothing proves, committed by a role with INSERT only, or by an eraser who erased
/// something else: the database refuses them, or `verify --signatures` names them.
@Suite(.enabled { await TestServer.isAvailable })
struct UnprovenFactTests {
    @Test func `a writer can neither record an erasure nor add a payload without its bytes`()
        async throws
    {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            let forger = Forger(log: ledger.log, settings: settings)
            let (erasure, statement) = Self.erasure(of: stream, events: [])
            let refused = await #expect(throws: PostgresError.self) {
                try await forger.commit([erasure], citing: statement)
            }
            #expect(refused?.sqlState == "LG001")
            for kind in [PayloadKind.signedTransaction, .appReceipt, .verifyReceiptResponse] {
                let refused = await #expect(throws: PostgresError.self) {
                    try await forger.commit([Self.years()], citing: try forger.unkept(kind))
                }
                #expect(refused?.sqlState == "LG001", "\(kind)")
            }
            #expect(try await ledger.log.verify().isOK)
        }
    }

    /// Who claims that a payload was not kept.
    enum Claim: String, CaseIterable, Sendable {
        case transaction, receipt, response, notification, unknownTag, confirmation, erasure
    }

    @Test(arguments: Claim.allCases)
    func `what is not kept needs an erasure of its own subscription`(claim: Claim) async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            let target = ErasureTarget(stream: stream, scope: .subscription)
            let done = try await ledger.erase(
                [target],
                reason: ErasureTests.reason,
                withSiblings: true
            )
            let own = try #require(done.first { $0.stream == stream })
            let erased = try #require(own.erasure.events.ranges.first).lowerBound
            // Without them, only an erasure of another subscription could be the explanation.
            let touched = Set(done.map(\.stream))
            var whole: Event?
            for other in try await ledger.allStreams() where !touched.contains(other) {
                whole = try await ledger.log.history(of: other).events.first
                if whole != nil { break }
            }
            let known = try #require(whole)
            let forged = try await Self.forge(
                claim,
                Forger(log: ledger.log, settings: settings),
                known,
                Self.erasure(of: stream, events: [erased]).fact
            )
            let failure = try #require(try await Self.prove(ledger).firstFailure)
            #expect(failure.reason == "evidence-missing")
            #expect(failure.position == forged)
        }
    }

    @Test func `an erasure that removed nothing is found, and refuses nothing`() async throws {
        try await FollowTests.withLedger(lanes: 1) { ledger, settings in
            let life = FilledLedger.simulator.life(0).deliveries()
            try await ledger.ingest([life[0]])
            let stream = try #require(try await ledger.allStreams().first)
            let forger = Forger(log: ledger.log, settings: settings, role: "ledger_eraser")
            let (erasure, statement) = Self.erasure(of: stream, events: [])
            let position = try await forger.commit([erasure], citing: statement)
            let mismatch = try #require(try await ledger.log.verify().firstMismatch)
            #expect(mismatch.offset == position.offset)
            #expect(mismatch.reason.contains("removed nothing"))
            let report = try await ledger.ingest(life)
            #expect(report.erased == 0)
            #expect(report.appended > 0)
        }
    }

    @Test(arguments: [Erasure.Scope.subscription, .customer])
    func `an erasure that leaves out an event of its subscription is found`(
        scope: Erasure.Scope
    ) async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            let history = try await ledger.log.history(of: stream)
            // All events of one payload that repeats nothing, so that the row digests still match.
            let repeating = Set(history.confirmations.map(\.evidence))
            let groups = Dictionary(grouping: history.events, by: \.evidence)
                .filter { !repeating.contains($0.key) }
            var found: [Event]?
            for (_, events) in groups.sorted(by: { $0.key < $1.key }) where found == nil {
                let stored = try await ledger.log.event(at: events[0].position)
                if case .whole(let evidence)? = stored?.evidence,
                    evidence.kind == .signedNotification
                {
                    found = events
                }
            }
            let taken = try #require(found)
            #expect(taken.count < history.events.count)
            try await Self.erase(taken, of: stream, scope, in: ledger, settings)
            let mismatch = try #require(try await ledger.log.verify().firstMismatch)
            #expect(mismatch.reason.contains("left out"), "\(mismatch)")
            #expect(try await VerifyScript.code(settings) == 3)
            let left = history.events.first { event in !taken.contains { $0 == event } }
            #expect(mismatch.offset == left?.position.offset)
            // A complete one heals it.
            let target = ErasureTarget(stream: stream, scope: scope)
            _ = try await ledger.erase([target], reason: ErasureTests.reason, withSiblings: true)
            #expect(try await ledger.log.verify().isOK)
            #expect(try await VerifyScript.code(settings) == 0)
        }
    }

    @Test func `an erasure that is dated after its commit is found`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            let target = ErasureTarget(stream: stream, scope: .subscription)
            let later = Instant.systemClock().milliseconds + 86_400_000
            _ = try await ledger.log.erase(target, sharingWith: Set(try await ledger.allStreams()))
            {
                stream,
                erasure,
                now in
                ErasureStatement(
                    stream: stream,
                    erasure: erasure,
                    erasedBy: "test",
                    reason: "test",
                    erasedAt: Instant(milliseconds: later)
                ).verified(source: "test", receivedAt: now)
            }
            let mismatch = try #require(try await ledger.log.verify().firstMismatch)
            #expect(mismatch.reason.contains("after its commit"), "\(mismatch)")
            #expect(try await VerifyScript.code(settings) == 3)
        }
    }

    @Test(arguments: [1, 4])
    func `a subscription that shares a payload with an erased one needs a payload of its own`(
        lanes: Int
    ) async throws {
        try await FollowTests.withLedger(lanes: lanes) { ledger, _ in
            _ = try await ledger.ingest(
                ErasureTests.response(day: 40, about: 1...1),
                source: "test",
                voucher: .operator
            )
            let stream = try #require(try await ledger.allStreams().first)
            let done = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: .customer)],
                reason: ErasureTests.reason,
                withSiblings: false
            )
            let position = try #require(done.first?.position)
            // The response may not be kept, so nothing could prove what it states about the second.
            let both = try await ledger.ingest(
                ErasureTests.response(day: 50, priced: true, about: 1...2),
                source: "test",
                voucher: .operator
            )
            #expect(both.outcomes.contains { $0.isErased && $0.position == position })
            #expect(both.outcomes.contains { $0.isNew }, "the erased one goes on")
            #expect(try await ledger.allStreams() == [stream])
            let alone = try await ledger.ingest(
                ErasureTests.response(day: 51, about: 2...2),
                source: "test",
                voucher: .operator
            )
            #expect(alone.outcomes.allSatisfy { $0.isNew })
            let report = try await Self.prove(ledger)
            #expect(report.isOK)
            for outcome in both.outcomes where outcome.isNew {
                let events = report.notKeptEvents.first { $0.lane == outcome.position.lane }
                #expect(
                    events?.arrivedAfterErasure.contains(outcome.position.offset) == true
                )
            }
        }
    }

    @Test(arguments: [Erasure.Scope.subscription, .customer])
    func `what arrives after an erasure may not say whose it is`(
        scope: Erasure.Scope
    ) async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            _ = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: scope)],
                reason: ErasureTests.reason,
                withSiblings: true
            )
            let forger = Forger(log: ledger.log, settings: settings)
            func forge(token: String?) async throws -> Position {
                let fact = Self.years(id: stream.originalTransactionId, token: token)
                return try await forger.commit(
                    [fact],
                    citing: try forger.unkept(.signedTransaction)
                )
            }
            let nameless = try await forge(token: nil)
            let report = try await Self.prove(ledger)
            #expect(report.isOK)
            #expect(
                report.notKeptEvents.first?.arrivedAfterErasure.contains(nameless.offset) == true
            )
            // It would give the purchase to whom the token names.
            let named = try await forge(token: "7f1c0a52-9d3e-4c6b-8a41-2b5d6e7f8091")
            let failure = try #require(try await Self.prove(ledger).firstFailure)
            #expect(failure.reason == "evidence-missing")
            #expect(failure.position == named)
            #expect(failure.message.contains("identifies a person"))
        }
    }

    @Test func `what an earlier version accepted without recording why is listed`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            _ = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: .customer)],
                reason: ErasureTests.reason,
                withSiblings: true
            )
            let forger = Forger(log: ledger.log, settings: settings)
            let forged = try await forger.commit(
                [Self.years()],
                citing: try forger.unkept(.appReceipt)
            )
            #expect(try await Self.prove(ledger).firstFailure?.position == forged)
            // As if the database had been migrated later.
            try await settings.meddle(
                "UPDATE ledger.migration SET applied_at = now() + '1 h' WHERE version = 11"
            )
            let report = try await Self.prove(ledger)
            #expect(report.isOK)
            let events = try #require(report.notKeptEvents.first)
            #expect(events.byEarlierVersion.contains(forged.offset))
            #expect(!events.erased.isEmpty)
        }
    }
}

extension UnprovenFactTests {
    private static func forge(
        _ claim: Claim,
        _ forger: Forger,
        _ known: Event,
        _ erasure: Fact
    ) async throws -> Position {
        var forger = forger
        var fact = years(tag: claim == .unknownTag)
        let evidence: Evidence
        switch claim {
        case .transaction: evidence = try forger.unkept(.signedTransaction)
        case .receipt, .unknownTag, .confirmation: evidence = try forger.unkept(.appReceipt)
        case .response: evidence = try forger.unkept(.verifyReceiptResponse, trust: .vouched)
        case .notification:
            evidence = try forger.unkept(.statusUpdateNotification, trust: .sharedSecret)
        case .erasure:
            // Not even the eraser's own statement may be left out.
            forger.role = "ledger_eraser"
            fact = erasure
            evidence = try forger.unkept(.erasureStatement, trust: .vouched)
        }
        guard claim != .confirmation else {
            try await forger.commit([], confirming: [known], citing: evidence)
            return known.position
        }
        return try await forger.commit([fact], citing: evidence)
    }

    // As an eraser can: the rows are blanked as the log's own erasure would.
    private static func erase(
        _ events: [Event],
        of stream: StreamID,
        _ scope: Erasure.Scope,
        in ledger: Ledger,
        _ settings: ConnectionSettings
    ) async throws {
        var rows: [(salt: [UInt8], content: [UInt8], key: [UInt8])] = []
        for event in events {
            let stored = try #require(try await ledger.log.event(at: event.position))
            let commitments = try #require(stored.commitments)
            let (content, isWhole) = (event.fact.content, scope == .subscription)
            rows.append(
                (
                    stored.keys.stored(without: scope.parts, commitments),
                    isWhole
                        ? Content(format: content.format).canonicalBytes
                        : content.withoutPerson.canonicalBytes,
                    FactKey(
                        erasedAt: event.position.offset,
                        of: isWhole ? nil : event.fact.subject
                    ).bytes
                )
            )
        }
        let offsets = events.map(\.position.offset)
        let (erasure, statement) = erasure(
            of: stream,
            scope: scope,
            events: offsets,
            evidence: [events[0].evidence]
        )
        let values: [PostgresValue] = [
            .int8Array(offsets), .byteaArray(rows.map(\.salt)), .byteaArray(rows.map(\.content)),
            .uuidArray(rows.map(\.key)), .int8Array([events[0].evidence]),
        ]
        let forger = Forger(log: ledger.log, settings: settings, role: "ledger_eraser")
        try await forger.commit([erasure], citing: statement) { session, offset in
            _ = try await session.query(
                "SELECT ledger.erase(0, $1, $2, $3, $4, $5, '{}', '{}', '{}', $6)",
                [.int8(offset)] + values
            )
        }
    }

    /// Ten years of access for an id that was never seen.
    static func years(
        id: String = "999000111",
        tag: Bool = false,
        token: String? = nil,
        account: String? = nil
    ) -> Fact {
        var content = Content(format: tag ? .receiptTransaction : .signedTransaction)
        content[.transactionId] = .text(id)
        content[.productId] = .text("com.example.forged")
        content[.appAccountToken] = token.map { .text($0) }
        content[.appTransactionId] = account.map { .text($0) }
        var bytes = content.canonicalBytes
        // A field that only a later version knows.
        if tag { bytes += [100, 1, 65] }
        let start = Instant.systemClock().milliseconds / 1000 * 1000
        return Fact(
            stream: StreamID(environment: .production, originalTransactionId: id),
            bundleId: "com.example.lumen",
            kind: .transaction,
            purchaseDate: Instant(milliseconds: start),
            expiresDate: Instant(milliseconds: start + 315_360_000_000),
            asOf: Instant(milliseconds: start),
            content: Content(canonicalBytes: bytes) ?? content
        )
    }

    /// The event of an erasure, and its statement.
    static func erasure(
        of stream: StreamID,
        scope: Erasure.Scope = .subscription,
        events: [Int64],
        evidence: [Int64] = []
    ) -> (fact: Fact, statement: Evidence) {
        let now = Instant.systemClock()
        let statement = ErasureStatement(
            stream: stream,
            erasure: Erasure(
                scope: scope,
                events: NumberRanges(events),
                confirmations: NumberRanges([]),
                evidence: NumberRanges(evidence)
            ),
            erasedBy: "forger",
            reason: "forged",
            erasedAt: now
        ).verified(source: "forger", receivedAt: now)
        return (statement.value[0], statement.evidence)
    }

    private static func prove(_ ledger: Ledger) async throws -> SignatureReport {
        #expect(try await ledger.log.verify().isOK, "the chain alone cannot show it")
        return try await SignatureVerification(
            log: ledger.log,
            roots: [try .init(der: FilledLedger.simulator.store.pki.rootDER)],
            jobs: 2
        ).run()
    }
}
