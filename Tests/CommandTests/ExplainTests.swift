import EventLog
import Events
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

/// `explain` and the other questions with two clocks, against a log whose clock the test sets.
@Suite(.enabled { await TestServer.isAvailable })
struct ExplainTests {
    @Test func `a reversed refund is explained with both clocks`() async throws {
        try await withStory { command in
            let document = try await explain(command, "--at", "2026-03-03T09:00:00Z")
            #expect(document.schema == "ledger.explain/3")
            #expect(document.entitled.access == true && document.served.access == false)
            #expect(document.entitled.period?.kind == "paid")
            #expect(document.entitled.knownAt.position == 3)
            #expect(document.served.reason == "refunded")
            #expect(document.served.knownAt.position == 2)
            #expect(document.served.knownAt.time == Instant("2026-03-03T09:00:00Z"))
            #expect(document.difference.kind == "wronglyDenied")
            #expect(document.difference.cause == "refundReversedLater")
            #expect(document.difference.from == Instant("2026-02-27T10:16:02Z"))
            #expect(document.difference.to == Instant("2026-03-05T14:20:11Z"))
            #expect(document.difference.seconds == 533_049)
            #expect(document.because.map(\.role) == ["opened", "ended", "restored"])
            #expect(document.because.map(\.position) == [1, 2, 3])
            #expect(document.because.map(\.source) == ["test", "test", "test"])
            #expect(document.because.first?.lagSeconds == 128_455)
            #expect(document.changesIf.map(\.without) == [3])
            #expect(document.proof.verifiedTo == 3)
            let heads = try await command.json(VerifyDocument.self, "verify").heads
            #expect(document.proof.chainHead == "sha256:\(heads.first?.digest ?? "")")
        }
    }

    @Test func `as known at an earlier position or instant, the reversal was not known`()
        async throws
    {
        try await withStory { command in
            for bound in ["2", "2026-03-04"] {
                let document = try await explain(
                    command,
                    "--at",
                    "2026-03-03T09:00:00Z",
                    "--known-at",
                    bound
                )
                #expect(document.entitled.access == false, "\(bound)")
                #expect(document.entitled.reason == "refunded", "\(bound)")
                #expect(document.difference.kind == "none", "\(bound)")
                #expect(document.proof.verifiedTo == 2, "\(bound)")
            }
        }
    }

    @Test func `the document has the documented members`() async throws {
        try await withStory { command in
            let text = try await command.expect(
                0,
                "explain",
                "1000",
                "--at",
                "2026-03-03T09:00:00Z",
                "--json"
            )
            #expect(
                try members(text).isSuperset(of: [
                    "schema", "customer", "entitlement", "at", "entitled", "served", "difference",
                    "because", "changesIf", "policy", "catalogVersion", "projection", "proof",
                ])
            )
            #expect(
                try members(text, "because").isSuperset(of: [
                    "position", "role", "type", "subtype", "occurredAt", "recordedAt", "signedAt",
                    "lagSeconds", "source",
                ])
            )
            #expect(text.contains("\"catalogVersion\":null"))
        }
    }

    @Test func `the text is for people, and in ASCII if stdout is not a terminal`() async throws {
        try await withStory { command in
            let text = try await command.expect(
                0,
                "explain",
                "token-1",
                "--at",
                "2026-03-03T09:00:00Z"
            )
            #expect(text.contains("ENTITLED  yes"))
            #expect(text.contains("SERVED    no"))
            #expect(text.contains("wrongly denied for 6 d 4 h 4 m"))
            #expect(text.contains("v asked"))
            #expect(text.contains("decisive  #3: without it the answer would be no access"))
            #expect(
                text.hasPrefix(
                    "Access on 3 March 2026, 09:00 UTC: monthly was paid for from 10 February 2026, "
                        + "19:00 UTC to 8 March 2026, and its refund was reversed on 5 March 2026, "
                        + "14:20 UTC. The ledger learned of it only on 5 March 2026, 14:20:11 UTC; at "
                        + "the time it answered \"no access\" (Apple refunded monthly, bought on "
                        + "10 February 2026, 19:00 UTC, on 27 February 2026, 10:15 UTC).\n"
                ),
                "\(text)"
            )
            #expect(text.utf8.allSatisfy { $0 < 128 }, "\(text)")
            let ending = try await command.run("explain", "4711")
            #expect(ending.code == 4 && ending.errors.contains("4711"))
        }
    }

    @Test func `blame, diff, replay and event agree with explain`() async throws {
        try await withStory { command in
            let blame = try await command.expect(0, "blame", "1000", "--at", "2026-03-03")
            #expect(blame.contains("reversed"))
            let before = try await command.expect(
                0,
                "blame",
                "1000",
                "--at",
                "2026-03-03",
                "--known-at",
                "2"
            )
            #expect(before.contains("revocationDate"))
            let diff = try await command.expect(0, "diff", "1000", "--known", "2..3")
            #expect(diff.contains("+ access  2026-02-27 10:15:00 → 2026-03-08 00:00:00"))
            #expect(diff.contains("restored, #"))
            let same = try await command.expect(0, "diff", "1000", "--known", "3..2099-01-01")
            #expect(same.contains("nothing changed"))
            let replay = try await command.expect(0, "replay", "1000")
            #expect(replay.contains("↩ restored") && replay.contains("* status = refunded"))
            let history = try await command.expect(0, "history", "1000")
            #expect(history.contains("↩ restored") && history.contains("+ opened"))
            let raw = try await command.expect(0, "event", "2", "--raw")
            #expect(raw == "payload 2")
            let proof = try await command.expect(0, "event", "3", "--proof", "--json")
            #expect(proof.contains("\"number\":3"))
            #expect(try await command.expect(0, "event", "1").contains("monthly"))
            try await command.expect(4, "event", "99")
            for usage in [["event", "0"], ["event", "1:x"], ["diff", "1000", "--known", "2"]] {
                try await command.expect(64, usage)
            }
        }
    }

    @Test func `the report sums up the whole ledger`() async throws {
        try await withStory { command in
            let report = try await command.json(Report.self, "report", "wrong-answers")
            #expect(report.streams == 1 && report.streamsWithAny == 1)
            // While the refund was in force; before its first commit the ledger cannot have been
            // asked.
            #expect(report.wronglyDeniedSeconds == 533_049)
            #expect(report.streamsNotAsked == 1 && report.notAskedSeconds == 128_455)
            let text = try await command.expect(0, "report", "wrong-answers")
            #expect(
                text.contains(
                    "not asked of this ledger, and left out: 1 stream, 1 d 11 h 40 m before "
                        + "its first commit or brought by an import; --all counts them too"
                ),
                "\(text)"
            )
            #expect(report.wronglyGrantedSeconds == 0)
            #expect(report.worst.map(\.originalTransactionId) == ["1000"])
            let rest = try await command.json(
                Report.self,
                "report",
                "wrong-answers",
                "--without",
                "refundReversedLater",
                "--all"
            )
            #expect(rest.wronglyDeniedSeconds == 128_455)
            try await command.expect(64, "report", "wrong-answers", "--limit", "0")
        }
    }

    private func explain(
        _ command: Command,
        _ arguments: String...
    ) async throws -> ExplainDocument {
        let output = try await command.expect(0, ["explain", "1000", "--json"] + arguments)
        return try JSONDecoder().decode(ExplainDocument.self, from: Data(output.utf8))
    }

    /// A purchase that becomes known late, its refund, and the reversal of the refund.
    private func withStory(_ body: (Command) async throws -> Void) async throws {
        try await withLedger { command, settings in
            var options = EventLog.Options()
            options.readersMax = 1
            let current = StoryClock()
            options.clock = { current.now }
            let log = try await EventLog.open(settings, options)
            let story: [(recorded: String, signed: String, revoked: String?)] = [
                ("2026-02-12T06:40:55Z", "2026-02-10T19:00:08Z", nil),
                ("2026-02-27T10:16:02Z", "2026-02-27T10:16:00Z", "2026-02-27T10:15:00Z"),
                ("2026-03-05T14:20:11Z", "2026-03-05T14:20:00Z", nil),
            ]
            for (number, line) in story.enumerated() {
                current.now = try #require(Instant(line.recorded))
                _ = try await log.append(
                    try StoryClock.purchase(
                        signed: line.signed,
                        revoked: line.revoked,
                        payload: "payload \(number + 1)"
                    )
                )
            }
            await log.close()
            try await body(command)
        }
    }

    private struct Report: Decodable {
        let streams: Int
        let streamsWithAny: Int
        let wronglyDeniedSeconds: Int64
        let streamsNotAsked: Int
        let notAskedSeconds: Int64
        let wronglyGrantedSeconds: Int64
        let worst: [Line]

        struct Line: Decodable {
            let originalTransactionId: String
        }
    }
}

/// Our clock, as the test sets it.
private final class StoryClock: Sendable {
    private let instant = Mutex(Instant(milliseconds: 0))

    var now: Instant {
        get { instant.withLock { $0 } }
        set { instant.withLock { $0 = newValue } }
    }

    /// The one purchase of the story, as signed at one time.
    static func purchase(
        signed: String,
        revoked: String?,
        payload: String
    ) throws -> Verified<[Fact]> {
        var content = Content(format: .signedTransaction)
        content[.transactionId] = .text("t1")
        content[.productId] = .text("monthly")
        content[.price] = .integer(9990)
        content[.appAccountToken] = .text("token-1")
        if let revoked {
            content[.revocationDate] = .instant(try #require(Instant(revoked)))
        }
        let fact = Fact(
            stream: StreamID(environment: .production, originalTransactionId: "1000"),
            bundleId: "example.subledger",
            kind: .transaction,
            purchaseDate: Instant("2026-02-10T19:00:00Z"),
            expiresDate: Instant("2026-03-08"),
            asOf: try #require(Instant(signed)),
            content: content
        )
        let bytes = Array(payload.utf8)
        return Verified(
            [fact],
            evidence: Evidence(
                payload: bytes,
                kind: .signedTransaction,
                source: "test",
                verification: .signed(root: .zero),
                receivedAt: try #require(Instant(signed))
            )
        )
    }
}

/// The JSON of `explain`; decoding fails if a property has another name or type.
private struct ExplainDocument: Decodable {
    let schema: String
    let entitled: Answer
    let served: Answer
    let difference: Difference
    let because: [Reason]
    let changesIf: [Change]
    let proof: Proof

    struct Answer: Decodable {
        let access: Bool?
        let reason: String?
        let knownAt: Knowledge
        let period: Period?
    }

    struct Knowledge: Decodable {
        let position: Int64
        let time: Instant
    }

    struct Period: Decodable {
        let kind: String
        let productId: String
    }

    struct Difference: Decodable {
        let kind: String
        let from: Instant?
        let to: Instant?
        let seconds: Int64?
        let cause: String?
    }

    struct Reason: Decodable {
        let position: Int64
        let role: String
        let lagSeconds: Int64
        let source: String
    }

    struct Change: Decodable {
        let without: Int64
        let access: Bool
    }

    struct Proof: Decodable {
        let chainHead: String
        let verifiedTo: Int64
    }
}
