import Foundation
import TestSupport
import Testing

/// Missing statements are shown as missing: settings, states after the last statement, future
/// transfers, and how much of the log an answer used.
@Suite(.enabled { await TestServer.isAvailable })
struct MissingStatementTests {
    @Test func `a setting that no response carries is unknown, in text and in JSON`() async throws {
        try await withLedger { command, _ in
            try await Self.ingest([Self.response()], into: command)
            let state = try await command.expect(0, "state", "1000")
            #expect(state.contains("unknown") && !state.contains(" on "))
            let document = try await command.expect(0, "state", "1000", "--json")
            #expect(!document.contains("isAutoRenewOn"))
            let history = try await command.expect(0, "history", "1000")
            #expect(history.contains("auto-renew unknown") && !history.contains("auto-renew on"))
        }
    }

    @Test func `auto-renew is unknown before Apple first reports it`() async throws {
        try await withLedger { command, _ in
            let off = Self.response(
                renewal: #"{"original_transaction_id":"1000","#
                    + #""auto_renew_product_id":"pro","auto_renew_status":"0"}"#
            )
            try await Self.ingest([off], into: command)
            let state = try await command.expect(0, "state", "1000")
            let rows = state.split(separator: "\n").filter {
                $0.contains("waiting") || $0.contains("closed")
            }
            #expect(rows.first?.contains("unknown") == true)
            #expect(rows.dropFirst().first?.contains(" off ") == true)
            #expect(!state.contains(" on "))
        }
    }

    @Test func `the effect of a request for another product names that product`() async throws {
        try await withLedger { command, _ in
            let wish = Self.response(
                renewal: #"{"original_transaction_id":"1000","product_id":"pro","#
                    + #""auto_renew_product_id":"basic","auto_renew_status":"1"}"#
            )
            try await Self.ingest([wish], into: command)
            let history = try await command.expect(0, "history", "1000")
            #expect(history.contains("→ asked for basic instead of pro"))
            let document = try await command.expect(0, "history", "1000", "--json")
            #expect(document.contains("plan_change_scheduled"))
        }
    }

    @Test func `a period that ended since Apple's last statement is not called open`()
        async throws
    {
        try await withLedger { command, _ in
            try await Self.ingest([Self.response()], into: command)
            let periods = try await command.expect(0, "periods", "1000")
            let isOver = Date() > Date(timeIntervalSince1970: 1_785_542_400)
            #expect(periods.contains("no renewal known") == isOver)
            let document = try await command.expect(0, "periods", "1000", "--json")
            #expect(document.contains(#""endReason":"open""#))
        }
    }

    @Test func `state in a gap reports how the access ended, as explain does`() async throws {
        try await withLedger { command, _ in
            try await Self.ingest([Self.response()], into: command)
            let arguments = ["state", "1000", "--at", "2026-09-01"]
            let text = try await command.expect(0, arguments)
            #expect(text.contains("expired since 2026-08-01 00:00:00"))
            #expect(!text.contains("nothing is known"))
            let document = try await command.expect(0, arguments + ["--json"])
            #expect(try members(document, "noState") == ["reason", "since"])
            #expect(document.contains(#""reason":"expired""#))
            let explained = try await command.expect(0, "explain", "1000", "--at", "2026-09-01")
            #expect(explained.contains("expired"))
            let before = try await command.expect(0, "state", "1000", "--at", "2026-06-01")
            #expect(before.contains("not bought yet"))
        }
    }

    @Test func `access ends no later than a known transfer`() async throws {
        try await withLedger { command, _ in
            try await Self.ingest([Self.response()], into: command)
            for (customer, at) in [("anna", "2026-07-02"), ("ben", "2026-07-20")] {
                let more = customer == "ben" ? ["--transfer"] : []
                let link = ["customers", "link", customer, "1000", "--at", at, "--by", "tester"]
                try await command.expect(0, link + more)
            }
            let anna = try await command.expect(0, "access", "anna", "--at", "2026-07-10")
            #expect(anna.contains("yes, until 2026-07-20") && !anna.contains("2026-08-01"))
            let ben = try await command.expect(0, "access", "ben", "--at", "2026-07-20")
            #expect(ben.contains("yes, until 2026-08-01"))
            #expect(try await command.run("access", "-q", "anna", "--at", "2026-07-20").code == 1)
        }
    }

    @Test func `explain gives the knowledge it used and extends a position to its commit's end`()
        async throws
    {
        try await withLedger { command, _ in
            try await Self.ingest([Self.response()], into: command)
            let arguments = ["explain", "1000", "--at", "2026-07-10", "--known-at"]
            let inside = try await command.expect(0, arguments + ["1"])
            #expect(inside.contains("at 1, counted to the end of its commit  (position 2)"))
            #expect(!inside.contains("as known now"))
            let end = try await command.expect(0, arguments + ["2"])
            #expect(end.contains("as known at position 2"))
            let early = try await command.expect(0, arguments + ["2000-01-01"])
            #expect(early.contains("at 2000-01-01 00:00:00  (nothing was recorded by then)"))
            let document = try await command.expect(0, arguments + ["1", "--json"])
            #expect(document.contains(#""askedKnownAt":"1""#))
            #expect(document.contains(#""verifiedTo":2"#))
            try await command.expect(64, arguments + ["2000"])
        }
    }

    @Test func `history shows both dates of a refund that Apple dated again, the first counts`()
        async throws
    {
        try await withLedger { command, _ in
            // Request dates of 4 and 16 July; the second one dates the refund four days later.
            let dated = [
                ("1783123200000", "1783036800000"), ("1784160000000", "1783382400000"),
            ].map { Self.response(asked: $0, cancelled: $1) }
            try await Self.ingest(dated, into: command)
            let text = try await command.expect(0, "history", "1000")
            #expect(text.contains("revoked 2026-07-03 00:00:00"))
            #expect(text.contains("revoked 2026-07-07 00:00:00 (was 2026-07-03 00:00:00)"))
            let document = try await command.expect(0, "history", "1000", "--json")
            #expect(document.contains(#""earlierRevocationDate":1783036800000"#))
            let refunds = try await command.expect(0, "refunds", "1000")
            #expect(refunds.contains("2026-07-03 00:00:00") && !refunds.contains("2026-07-07"))
            let cases = try await command.expect(0, "refunds", "1000", "--json")
            #expect(cases.contains(#""revocationDate":1783036800000"#))
        }
    }

    // One period, 1 July to 1 August 2026, requested on 3 July, with no renewal listed.
    private static func response(
        asked: String = "1783036800000",
        cancelled: String? = nil,
        renewal: String = ""
    ) -> String {
        let cancellation = cancelled.map { #","cancellation_date_ms":"\#($0)""# } ?? ""
        return """
            {"status":0,"environment":"Production","receipt":{"receipt_type":"Production",\
            "bundle_id":"com.example","request_date_ms":"\(asked)","in_app":[]},\
            "latest_receipt_info":[{"product_id":"pro","transaction_id":"1",\
            "original_transaction_id":"1000","purchase_date_ms":"1782864000000",\
            "expires_date_ms":"1785542400000"\(cancellation)}],"pending_renewal_info":[\(renewal)]}
            """
    }

    private static func ingest(_ bodies: [String], into command: Command) async throws {
        let folder = try TestFolder()
        for (number, body) in bodies.enumerated() {
            let path = folder.path(of: "\(number).json")
            try body.write(toFile: path, atomically: true, encoding: .utf8)
            try await command.expect(0, "ingest", "--quiet", "--vouch", path)
        }
    }
}
