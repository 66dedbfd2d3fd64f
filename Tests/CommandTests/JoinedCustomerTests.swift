import Foundation
import TestSupport
import Testing

/// Subscriptions that Apple's account joins, and links that override it: the same in every
/// question.
@Suite(.enabled { await TestServer.isAvailable })
struct JoinedCustomerTests {
    private static let tokens = [
        "aaaaaaaa-0000-4222-8333-000000000001", "bbbbbbbb-0000-4222-8333-000000000002",
    ]

    private struct Erasures: Decodable {
        struct Line: Decodable, Equatable {
            let originalTransactionId: String
            let scope: String
            let events: String
            let confirmations: String
            let evidence: String
        }
        struct Left: Decodable {
            let originalTransactionId: String
            let reason: String
        }
        let erasures: [Line]
        let left: [Left]
    }

    private static func row(
        _ id: String,
        _ from: String,
        _ to: String,
        token: String? = nil
    ) -> String {
        let more = token.map { ",\"app_account_token\":\"\($0)\"" } ?? ""
        return """
            {"quantity":"1","product_id":"plan\(id)","transaction_id":"\(id)",\
            "original_transaction_id":"\(id)","purchase_date":"\(from) 00:00:00 Etc/GMT",\
            "expires_date":"\(to) 00:00:00 Etc/GMT"\(more)}
            """
    }

    /// A ledger that ingested one verifyReceipt response for each list of rows.
    private static func withReceipts(
        _ receipts: [[String]],
        _ body: (Command) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        try await withLedger { command, _ in
            for (number, rows) in receipts.enumerated() {
                let answer = """
                    {"status":0,"environment":"Production","receipt":{\
                    "receipt_type":"Production","bundle_id":"com.x",\
                    "receipt_creation_date_ms":"\(1_500_000_000_000 + number)",\
                    "request_date_ms":"\(1_500_000_000_000 + number)","in_app":[]},\
                    "latest_receipt_info":[\(rows.joined(separator: ","))]}
                    """
                let path = folder.path(of: "\(number).json")
                try answer.write(toFile: path, atomically: true, encoding: .utf8)
                try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            }
            try await body(command)
        }
    }

    private static let two = [
        row("3101", "2016-01-01", "2016-06-01"), row("3102", "2016-07-01", "2016-12-01"),
    ]

    @Test func `a link takes no access away before it starts, and an unlink restores it`()
        async throws
    {
        try await Self.withReceipts([Self.two]) { command in
            func access(_ name: String, _ at: String) async throws -> Bool {
                let code = try await command.run("access", "-q", name, "--at", at).code
                let told = try await command.expect(0, "customers", "show", name, "--at", at)
                let explained = try await command.expect(0, "explain", name, "--at", at)
                #expect(
                    explained.contains("ENTITLED  \(code == 0 ? "yes" : "no ")"),
                    "\(explained)"
                )
                if code == 0 { #expect(told.contains("theirs at \(at)"), "\(told)") }
                return code == 0
            }
            try await command.expect(0, "customers", "link", "leo", "3101", "--at", "2016-01-01")
            #expect(try await access("leo", "2016-08-01"))
            try await command.expect(0, "customers", "link", "mia", "3102", "--at", "2016-09-01")
            #expect(try await access("leo", "2016-08-01"))
            #expect(try await access("leo", "2016-09-02") == false)
            #expect(try await access("mia", "2016-08-01") == false)
            #expect(try await access("mia", "2016-09-02"))
            try await command.expect(
                0,
                "customers",
                "unlink",
                "mia",
                "3102",
                "--at",
                "2016-10-01"
            )
            #expect(try await access("leo", "2016-10-02"))
            #expect(try await access("leo", "2016-09-15") == false)
            let shown = try await command.expect(0, "customers", "show", "leo")
            #expect(
                shown.contains(
                    "3102 counts from 2016-01-01 00:00:00 until 2016-09-01 00:00:00 and from "
                        + "2016-10-01 00:00:00 because"
                ),
                "\(shown)"
            )
            #expect(shown.contains("no link, no token") && !shown.contains("nobody"))
        }
    }

    @Test func `explain stops at the transfer, and reports no denial before the customer`()
        async throws
    {
        try await Self.withReceipts([[Self.row("1900", "2016-01-01", "2026-01-01")]]) { command in
            try await command.expect(0, "customers", "link", "dave", "1900", "--at", "2016-01-01")
            try await command.expect(
                0,
                "customers",
                "link",
                "erin",
                "1900",
                "--transfer",
                "--at",
                "2017-01-01"
            )
            try await command.expect(
                0,
                "customers",
                "link",
                "fred",
                "1900",
                "--transfer",
                "--at",
                "2018-01-01"
            )
            let text = try await command.expect(0, "explain", "erin", "--at", "2017-06-01")
            #expect(
                text.contains("2016-01-01 00:00:00 -> 2018-01-01 00:00:00, app com.x"),
                "\(text)"
            )
            #expect(!text.contains("2026-01-01"), "\(text)")
            let json = try await command.expect(
                0,
                "explain",
                "erin",
                "--at",
                "2017-06-01",
                "--json"
            )
            // Her period, in 2017: it was imported, so no access was denied.
            #expect(json.contains("\"from\":1483228800000"), "\(json)")
            #expect(json.contains("\"to\":1514764800000"), "\(json)")
            #expect(json.contains("\"kind\":\"notAsked\""), "\(json)")
        }
    }

    @Test func `a position inside a commit extends to its end, in every question`() async throws {
        try await Self.withReceipts([Self.two]) { command in
            for id in ["3101", "3102"] {
                let at = id == "3101" ? "2016-02-01" : "2016-08-01"
                for known in ["1", "2"] {
                    for question in ["access", "explain", "state", "periods", "history"] {
                        let instant =
                            ["periods", "history"].contains(question) ? [] : ["--at", at]
                        let told = try await command.run(
                            [question, id, "--known-at", known] + instant
                        )
                        #expect(told.code == 0, "\(question) \(id) \(known): \(told.errors)")
                        let word = ["history": id, "state": " active "][question] ?? "plan\(id)"
                        #expect(told.output.contains(word), "\(question): \(told.output)")
                    }
                }
            }
            let help = try await command.expect(0, "access", "--help")
            #expect(help.contains("means the end of that commit"))
        }
    }

    @Test func `two tokens in one receipt are listed, and an erasure reports what it leaves out`()
        async throws
    {
        let rows = [
            Self.row("3301", "2016-01-01", "2016-06-01", token: Self.tokens[0]),
            Self.row("3302", "2016-07-01", "2016-12-01", token: Self.tokens[1]),
            Self.row("3303", "2016-07-01", "2016-12-01"),
        ]
        try await Self.withReceipts([rows]) { command in
            let claims = try await command.expect(0, "customers", "claims", "--contested")
            for (own, other) in [(0, 1), (1, 0)] {
                let line = claims.split(separator: "\n").first {
                    $0.contains("token \(Self.tokens[own])  ")
                }
                #expect(line?.contains("to token \(Self.tokens[other])") == true, "\(claims)")
            }
            let plan = try await command.expect(
                0,
                "erase",
                "customer",
                Self.tokens[0],
                "--reason",
                "ticket",
                "--dry-run"
            )
            #expect(
                plan.contains("not erased: 3302 (Production): it has another app account token")
            )
            #expect(plan.contains("not erased: 3303 (Production): it has no token"), "\(plan)")
            let document = try await command.json(
                Erasures.self,
                "erase",
                "customer",
                Self.tokens[0],
                "--reason",
                "ticket",
                "--dry-run"
            )
            #expect(document.left.map(\.originalTransactionId) == ["3302", "3303"])
            #expect(
                document.erasures.filter { $0.scope == "customer" }.map(\.originalTransactionId)
                    == ["3301"]
            )
        }
    }

    @Test func `a dry run lists each subscription of a receipt once, as the run erases it`()
        async throws
    {
        let third = Self.row("3103", "2016-07-01", "2016-12-01")
        try await Self.withReceipts([Self.two + [third], Self.two, Self.two + [third]]) { command in
            for id in ["3101", "3102", "3103"] {
                try await command.expect(0, "customers", "link", "leo", id, "--at", "2016-01-01")
            }
            func erase(_ more: String...) async throws -> Erasures {
                let output = try await command.expect(
                    0,
                    ["erase", "customer", "leo", "--reason", "ticket", "--json"] + more
                )
                return try JSONDecoder().decode(Erasures.self, from: Data(output.utf8))
            }
            let plan = try await erase("--dry-run")
            #expect(plan.erasures.count == 3 && plan.erasures.allSatisfy { $0.scope == "customer" })
            #expect(Set(plan.erasures.map(\.originalTransactionId)).count == 3)
            let done = try await erase()
            #expect(done.erasures == plan.erasures)
            #expect(
                try await command.run("erase", "customer", "leo", "--reason", "ticket").code == 4
            )
            try await command.expect(0, "verify")
        }
    }

    @Test func `a subscription joined to two customers is reported, and an empty id is refused`()
        async throws
    {
        let rows = Self.two + [Self.row("2203", "2016-07-01", "2016-12-01")]
        try await Self.withReceipts([rows]) { command in
            try await command.expect(0, "customers", "link", "dave", "3101", "--at", "2016-01-01")
            try await command.expect(0, "customers", "link", "erin", "3102", "--at", "2016-01-01")
            let words =
                "2203 is joined to dave and to erin, so it counts for neither; link it to one of them"
            #expect(try await command.expect(0, "customers", "show", "dave").contains(words))
            let access = try await command.expect(1, "access", "dave", "--at", "2016-08-01")
            #expect(access.contains(words))
            for question in [["access", ""], ["explain", ""], ["customers", "show", ""]] {
                let refused = try await command.run(question)
                #expect(refused.code == 64 && refused.errors.contains("the id is empty"))
            }
        }
    }
}
