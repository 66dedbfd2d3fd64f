import EventLog
import Events
import Postgres
import Subledger
import Synchronization
import TestSupport
import Testing

/// The sentences at the start of an explanation.
@Suite(.enabled { await TestServer.isAvailable })
struct ExplanationSummaryTests {
    /// One event, with when it was recorded.
    private struct RecordedFact {
        let recorded: String
        let fact: Fact
    }

    @Test func `renewal turned off in time is the reason, known at the time or not`() async throws {
        let sentence =
            "No access on 3 March 2025: renewal was turned off on 11 December 2024 and the period "
            + "of monthly ended on 1 March 2025."
        let purchase = RecordedFact(recorded: "2024-12-01", fact: try Self.purchase("2024-12-01"))
        let known = try [purchase] + Self.turnedOff("2024-12-11", recorded: "2024-12-11")
        try await expect(known, "2025-03-03", sentence + " The ledger knew this at the time.")
        let late = try [purchase] + Self.turnedOff("2024-12-11", recorded: "2025-03-10")
        try await expect(
            late,
            "2025-03-03",
            sentence
                + " The ledger learned of it only on 10 March 2025; at the time it gave the same "
                + "answer for another reason (the period of monthly ended on 1 March 2025, and Apple "
                + "has reported no renewal)."
        )
        // Without the notification only the day by which it was turned off is known.
        try await expect(
            Array(known.dropLast()),
            "2025-03-03",
            sentence.replacing("turned off on", with: "turned off by")
                + " The ledger knew this at the time."
        )
    }

    @Test func `the summary of a late refund includes the answer given at the time`() async throws {
        let facts = [
            RecordedFact(recorded: "2024-12-01", fact: try Self.purchase("2024-12-01")),
            RecordedFact(
                recorded: "2025-02-20",
                fact: try Self.purchase("2025-02-20", revoked: "2025-02-01")
            ),
        ]
        try await expect(
            facts,
            "2025-02-10",
            "No access on 10 February 2025: Apple refunded monthly, bought on 1 December 2024, on "
                + "1 February 2025. The ledger learned of it only on 20 February 2025; at the time it "
                + "answered \"access\" (monthly was paid for from 1 December 2024 to 1 March 2025)."
        )
        try await expect(
            facts,
            "2025-02-10",
            knownAt: .time(try #require(Instant("2025-02-12"))),
            "Access on 10 February 2025: monthly was paid for from 1 December 2024 to 1 March 2025. "
                + "The ledger knew this at the time. This uses only what the ledger knew on "
                + "12 February 2025."
        )
        try await expect(
            facts,
            "2024-11-01",
            "No access on 1 November 2024: the first purchase began only on 1 December 2024."
        )
    }

    @Test func `a later date of the same refund changes neither the answer nor its reason`()
        async throws
    {
        let facts = [
            RecordedFact(recorded: "2024-12-01", fact: try Self.purchase("2024-12-01")),
            RecordedFact(
                recorded: "2025-02-12",
                fact: try Self.purchase("2025-02-12", revoked: "2025-02-01")
            ),
            RecordedFact(
                recorded: "2025-02-25",
                fact: try Self.purchase("2025-02-25", revoked: "2025-02-05")
            ),
        ]
        try await expect(
            facts,
            "2025-02-10",
            "No access on 10 February 2025: Apple refunded monthly, bought on 1 December 2024, on "
                + "1 February 2025. The ledger learned of it only on 12 February 2025; at the time it "
                + "answered \"access\" (monthly was paid for from 1 December 2024 to 1 March 2025)."
        )
    }

    @Test func `the future is not told in the past tense, and now is not "at the time"`()
        async throws
    {
        let purchase = RecordedFact(
            recorded: "2024-12-01",
            fact: try Self.purchase("2024-12-01", expires: "2998-03-01")
        )
        try await expect(
            [purchase],
            "2999-01-01",
            "No access on 1 January 2999: the period of monthly ends on 1 March 2998, and Apple has "
                + "reported no renewal. That time is in the future: this is what is known now, and "
                + "the answer may change."
        )
        try await withLedger([purchase]) { ledger in
            let document = try await ledger.explain("1000", at: .systemClock())
            #expect(document.summary.hasSuffix("to 1 March 2998."), "\(document.summary)")
            #expect(document.served.access == true)
            let later = try await ledger.explain("1000", at: try #require(Instant("2999-01-01")))
            #expect(later.served.access == nil && later.served.reason == "notAsked")
        }
    }

    @Test func `if nothing was known, the summary says only that`() async throws {
        try await expect(
            [RecordedFact(recorded: "2024-12-01", fact: try Self.purchase("2024-12-01"))],
            "2025-02-10",
            knownAt: .time(try #require(Instant("2024-01-01"))),
            "No access is known on 10 February 2025: nothing was known of 1000. This uses only what "
                + "the ledger knew on 1 January 2024."
        )
    }

    @Test func `the summary of every simulated customer agrees with the document`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            var seen: Set<String> = []
            for stream in try await ledger.allStreams().prefix(60) {
                for at in ["2025-06-01T12:00:00Z", "2026-03-03T09:00:00Z"] {
                    let subject = SubjectID(
                        stream.originalTransactionId,
                        in: stream.environment,
                        alone: true
                    )
                    let document = try await ledger.explain(subject, at: try #require(Instant(at)))
                    let text = document.summary
                    let hasAccess = try #require(document.entitled.access as Bool?)
                    #expect(text.hasPrefix("Access ") == hasAccess, "\(text)")
                    #expect(text.hasSuffix(".") && !text.contains("\n"), "\(text)")
                    if text.contains("knew this at the time") {
                        #expect(document.difference.kind == "none", "\(text)")
                        #expect(document.served.access == hasAccess, "\(text)")
                    } else if let served = document.served.access, served != hasAccess {
                        #expect(text.contains("learned of it only on"), "\(text)")
                    }
                    let isAsked = document.difference.kind != "notAsked"
                    #expect((document.served.access != nil) == isAsked, "\(text)")
                    #expect((document.served.reason == "notAsked") != isAsked, "\(text)")
                    seen.insert(document.entitled.reason ?? "access")
                }
            }
            #expect(seen.isSuperset(of: ["access", "expired", "refunded"]), "\(seen)")
            await ledger.close()
        }
    }

    private func expect(
        _ facts: [RecordedFact],
        _ at: String,
        knownAt: KnownAt = .latest,
        _ summary: String,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        try await withLedger(facts) { ledger in
            let document = try await ledger.explain(
                "1000",
                at: try #require(Instant(at)),
                knownAt: knownAt
            )
            #expect(document.summary == summary, sourceLocation: location)
        }
    }

    private func withLedger(
        _ facts: [RecordedFact],
        _ body: (Ledger) async throws -> Void
    ) async throws {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, .single)
            var options = FilledLedger.options
            let clock = SetClock()
            options.clock = { clock.now }
            let ledger = Ledger(
                log: try await EventLog.open(settings, options),
                verifier: try FilledLedger.simulator.verifier()
            )
            for line in facts {
                let instant = try #require(Instant(line.recorded))
                clock.now = instant
                _ = try await ledger.log.append(Self.verified(line.fact))
            }
            try await body(ledger)
            await ledger.close()
        }
    }

    private static func purchase(
        _ signed: String,
        revoked: String? = nil,
        expires: String = "2025-03-01"
    ) throws -> Fact {
        var content = Content(format: .signedTransaction)
        content[.transactionId] = .text("t1")
        content[.productId] = .text("monthly")
        content[.revocationDate] = try revoked.map { .instant(try #require(Instant($0))) }
        return try fact(.transaction, signed, content, expires: expires)
    }

    /// Renewal info with auto-renewal off, and the notification with its date.
    private static func turnedOff(_ signed: String, recorded: String) throws -> [RecordedFact] {
        var renewal = Content(format: .signedRenewalInfo)
        renewal[.autoRenewStatus] = .integer(0)
        renewal[.productId] = .text("monthly")
        renewal[.autoRenewProductId] = .text("monthly")
        var notification = Content(format: .signedNotification)
        notification[.notificationType] = .text("DID_CHANGE_RENEWAL_STATUS")
        notification[.subtype] = .text("AUTO_RENEW_DISABLED")
        notification[.notificationUUID] = .text("1")
        return [
            RecordedFact(recorded: recorded, fact: try fact(.renewal, signed, renewal)),
            RecordedFact(recorded: recorded, fact: try fact(.notification, signed, notification)),
        ]
    }

    private static func fact(
        _ kind: Kind,
        _ signed: String,
        _ content: Content,
        expires: String? = nil
    ) throws -> Fact {
        Fact(
            stream: StreamID(environment: .production, originalTransactionId: "1000"),
            bundleId: "example.subledger",
            kind: kind,
            purchaseDate: kind == .transaction ? Instant("2024-12-01") : nil,
            expiresDate: try expires.map { try #require(Instant($0)) },
            asOf: try #require(Instant(signed)),
            content: content
        )
    }

    private static func verified(_ fact: Fact) -> Verified<[Fact]> {
        Verified(
            [fact],
            evidence: Evidence(
                payload: Array("\(fact.kind) \(fact.asOf)".utf8),
                kind: .signedTransaction,
                source: "test",
                verification: .signed(root: .zero),
                receivedAt: fact.asOf
            )
        )
    }
}

/// Our clock, as a test sets it.
private final class SetClock: Sendable {
    private let instant = Mutex(Instant(milliseconds: 0))

    var now: Instant {
        get { instant.withLock { $0 } }
        set { instant.withLock { $0 = newValue } }
    }
}
