import Foundation
import TestSupport
import Testing

/// A newcomer's questions on the first day, about imported subscriptions: no answer may be false.
@Suite(.enabled { await TestServer.isAvailable })
struct ImportedSubscriptionTests {
    static func row(
        _ id: String,
        _ from: String,
        _ to: String,
        _ more: String = ""
    ) -> String {
        """
        {"quantity":"1","product_id":"plan","transaction_id":"\(id)",\
        "original_transaction_id":"\(id)","purchase_date":"\(from) 00:00:00 Etc/GMT",\
        "expires_date":"\(to) 00:00:00 Etc/GMT"\(more)}
        """
    }

    static func response(of row: String, _ number: Int) -> String {
        """
        {"status":0,"environment":"Production","receipt":{\
        "receipt_type":"Production","bundle_id":"com.x",\
        "receipt_creation_date_ms":"\(1_500_000_000_000 + number)",\
        "request_date_ms":"\(1_500_000_000_000 + number)","in_app":[]},\
        "latest_receipt_info":[\(row)]}
        """
    }

    /// A ledger that imported a verifyReceipt response for each row.
    static func withLedger(
        _ rows: [String],
        _ body: (Command, TestFolder) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        try await CommandTests.withLedger { command, _ in
            for (number, row) in rows.enumerated() {
                let path = folder.path(of: "\(number).json")
                try response(of: row, number).write(
                    toFile: path,
                    atomically: true,
                    encoding: .utf8
                )
                try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            }
            try await body(command, folder)
        }
    }

    static let one = [row("1000", "2015-06-09", "2015-07-09")]

    @Test func `a link holds from the first purchase on if no customer had the subscription`()
        async throws
    {
        try await Self.withLedger(Self.one) { command, _ in
            let linked = try await command.expect(0, "customers", "link", "anna", "1000")
            #expect(linked.contains("linked to anna from the first purchase on: appended"))
            let again = try await command.expect(0, "customers", "link", "anna", "1000")
            #expect(again.contains("known already"), "\(again)")
            try await command.expect(0, "access", "anna", "--at", "2015-06-20")
            let shown = try await command.expect(
                0,
                "customers",
                "show",
                "anna",
                "--at",
                "2015-06-20"
            )
            #expect(shown.contains("always") && !shown.contains("1970"), "\(shown)")
            #expect(shown.contains("theirs at 2015-06-20 00:00:00: 1000"), "\(shown)")
            #expect(!shown.contains("not linked"), "\(shown)")
            // The previous owner keeps the time before.
            let unlinked = try await command.run(
                "customers",
                "unlink",
                "anna",
                "1000",
                "--at",
                "2016-01-01",
                "--tz",
                "Europe/Berlin"
            )
            #expect(unlinked.code == 0, "\(unlinked.errors)")
            #expect(
                unlinked.errors.contains(
                    "--at 2016-01-01 is 2015-12-31 23:00:00 UTC (time zone Europe/Berlin)"
                ),
                "\(unlinked.errors)"
            )
            let next = try await command.expect(0, "customers", "link", "ben", "1000")
            #expect(next.contains("linked to ben as of "), "\(next)")
            try await command.expect(0, "access", "anna", "--at", "2015-06-20")
            try await command.expect(1, "access", "ben", "--at", "2015-06-20")
        }
    }

    @Test func `an answer names the link that was not in force`() async throws {
        try await Self.withLedger(Self.one) { command, _ in
            try await command.expect(0, "customers", "link", "anna", "1000", "--at", "2016-03-01")
            let line =
                "1000: not linked to anna before 2016-03-01 00:00:00; if it belonged to them earlier: "
                + "subledger customers link anna 1000 --environment Production --at "
            let access = try await command.expect(1, "access", "anna", "--at", "2015-06-20")
            #expect(access.contains(line + "2015-06-20T00:00:00Z"), "\(access)")
            let explained = try await command.expect(0, "explain", "anna", "--at", "2015-06-20")
            #expect(explained.contains(line + "2015-06-20T00:00:00Z"), "\(explained)")
            #expect(!explained.contains("the answer given then was right"), "\(explained)")
            let periods = try await command.expect(0, "periods", "anna")
            #expect(periods.contains(line + "2015-06-09T00:00:00Z"), "\(periods)")
            let offers = try await command.expect(
                0,
                "eligibility",
                "anna",
                "--at",
                "2015-06-20"
            )
            #expect(offers.contains(line), "\(offers)")
            #expect(!offers.contains("currentlySubscribed"), "what comes later does not count")
            let shown = try await command.expect(
                0,
                "customers",
                "show",
                "anna",
                "--at",
                "2015-06-20"
            )
            #expect(shown.contains("theirs at 2015-06-20 00:00:00: none\n" + line), "\(shown)")
            #expect(shown.contains("1000 counts from 2016-03-01 00:00:00 because a link"))
            // A question by Apple's id is about the subscription, whoever owns it.
            let own = try await command.expect(0, "access", "1000", "--at", "2015-06-20")
            #expect(!own.contains("not linked"), "\(own)")
        }
    }

    @Test func `an unlinked subscription still counts for offers, and the answer says so`()
        async throws
    {
        try await Self.withLedger(Self.one) { command, _ in
            try await command.expect(0, "customers", "link", "anna", "1000")
            try await command.expect(0, "customers", "unlink", "anna", "1000", "--at", "2016-01-01")
            let offers = try await command.expect(0, "eligibility", "anna")
            #expect(
                offers.contains(
                    "1000: linked to anna until 2016-01-01 00:00:00, not at the requested "
                        + "instant; it still counts: an offer can be used only once"
                ),
                "\(offers)"
            )
        }
    }

    @Test func `a long ended period without renewal info is shown as ended`() async throws {
        try await Self.withLedger([Self.row("1000", "2016-06-09", "2018-07-09")]) { command, _ in
            let periods = try await command.expect(0, "periods", "1000")
            #expect(periods.contains("ended 2018-07-09, no renewal known"), "\(periods)")
            let json = try await command.expect(0, "periods", "1000", "--json")
            #expect(json.contains("\"endReason\":\"open\""), "\(json)")
        }
    }

    @Test func `for a time before its first commit explain says that the ledger was not asked`()
        async throws
    {
        try await Self.withLedger(Self.one) { command, _ in
            let text = try await command.expect(0, "explain", "1000", "--at", "2015-06-20")
            #expect(
                text.contains("SERVED    -    not asked of this ledger: its first commit was at "),
                "\(text)"
            )
            #expect(text.contains("there was no answer then to compare with"), "\(text)")
            #expect(!text.contains("wrongly"), "\(text)")
            let json = try await command.expect(
                0,
                "explain",
                "1000",
                "--at",
                "2015-06-20",
                "--json"
            )
            #expect(json.contains("\"notAsked\":\"beforeLedger\""), "\(json)")
            #expect(!text.contains("--known-at"), "\(text)")
            let report = try await command.expect(0, "report", "wrong-answers")
            #expect(report.contains("0 of 1 streams had wrong answers"), "\(report)")
            #expect(report.contains("and left out: 1 stream, 30 d"), "\(report)")
            let all = try await command.expect(0, "report", "wrong-answers", "--all")
            #expect(all.contains("1 of 1 streams had wrong answers"), "\(all)")
        }
    }

    @Test func `for a purchase imported later explain says that the ledger was not asked`()
        async throws
    {
        try await Self.withLedger(Self.one) { command, folder in
            let between = "\(Int64(Date().timeIntervalSince1970 * 1000))"
            let late = Self.response(of: Self.row("2000", "2026-01-01", "2099-01-01"), 9)
            let path = try folder.write("late.json", Data(late.utf8))
            try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            let text = try await command.expect(0, "explain", "2000", "--at", between)
            #expect(
                text.contains(
                    "not asked of this ledger: its facts about that time were imported later"
                ),
                "\(text)"
            )
            let report = try await command.expect(0, "report", "wrong-answers")
            #expect(!report.contains("--limit"), "\(report)")
            #expect(report.contains("0 of 2 streams had wrong answers"), "\(report)")
            let all = ["report", "wrong-answers", "--all"]
            let cut = try await command.expect(0, all + ["--limit", "1"])
            #expect(cut.contains("2 of 2 streams had wrong answers"), "\(cut)")
            #expect(cut.contains("1 stream more; list more with --limit"), "\(cut)")
            let whole = try await command.expect(0, all)
            #expect(!whole.contains("--limit"), "\(whole)")
        }
    }

    @Test func `an unknown customer is eligible, and a product needs a catalog`() async throws {
        try await Self.withLedger(Self.one) { command, _ in
            let text = try await command.expect(0, "eligibility", "nobody")
            #expect(
                text.contains("eligible, nothing bought: no purchase of nobody is known in"),
                "\(text)"
            )
            let group = try await command.expect(0, "eligibility", "nobody", "--group", "g")
            #expect(group.contains("neverSubscribed"), "\(group)")
            let product = try await command.run("eligibility", "nobody", "--product", "plan")
            #expect(product.code == 4)
            #expect(
                product.errors.contains(
                    "no catalog was imported, so the subscription group of plan is unknown; "
                        + "name the group instead, or import a catalog that contains it "
                        + "(`subledger catalog import`)"
                ),
                "\(product.errors)"
            )
        }
    }

    @Test func `refunds gives money and state as of --at`() async throws {
        let refunded = ",\"cancellation_date\":\"2015-06-20 00:00:00 Etc/GMT\""
        try await Self.withLedger([
            Self.row("1000", "2015-06-09", "2015-07-09", refunded)
        ]) { command, _ in
            let before = try await command.expect(0, "refunds", "1000", "--at", "2015-06-15")
            #expect(before.contains("kept") && !before.contains("refunded ("), "\(before)")
            let after = try await command.expect(0, "refunds", "1000", "--at", "2015-06-21")
            #expect(after.contains("refunded (type not stated)"), "\(after)")
        }
    }

    @Test func `a policy for retroactive refunds applies to content`() async throws {
        let refunded = ",\"cancellation_date\":\"2015-06-20 00:00:00 Etc/GMT\""
        try await Self.withLedger([
            Self.row("1000", "2015-06-09", "2015-07-09", refunded)
        ]) { command, folder in
            let issues = try folder.write("issues", Data("2015-06-15 June\n".utf8))
            let kept = try folder.write("kept", Data("{\"refundIsRetroactive\":false}".utf8))
            let never = try folder.write("never", Data("{\"refundIsRetroactive\":true}".utf8))
            try await command.expect(1, "access", "1000", "--content", issues)
            try await command.expect(0, "access", "1000", "--content", issues, "--with", kept)
            try await command.expect(0, "access", "1000", "--at", "2015-06-15")
            try await command.expect(1, "access", "1000", "--at", "2015-06-15", "--with", never)
        }
    }
}
