import Foundation
import TestSupport
import Testing

/// What a name refers to: the same in every question, and shown if an answer depends on it.
@Suite(.enabled { await TestServer.isAvailable })
struct SubjectTests {
    private struct AccessDocument: Decodable {
        struct Group: Decodable { let counting: Period }
        struct Period: Decodable {
            let originalTransactionId: String
            let bundleId: String?
        }
        let access: Bool
        let groups: [Group]
        let subscriptions: [Ground]
    }
    private struct ExplainDocument: Decodable {
        struct Answer: Decodable { let access: Bool }
        let entitled: Answer
        let originalTransactionIds: [String]
        let subscriptions: [Ground]
    }
    private struct Ground: Decodable, Equatable {
        let originalTransactionId: String
        let bundleId: String?
        let because: String
        let value: String?
        let with: String?
    }

    private static let token = "0b5e7c1a-3f6d-4e0b-9a51-7f3d2c1b0a99"

    // Two subscriptions in one receipt, and one of another app with the first one's token.
    private func withCustomer(_ body: (Command) async throws -> Void) async throws {
        let folder = try TestFolder()
        func row(
            _ id: String,
            _ product: String,
            _ from: String,
            _ to: String,
            _ more: String = ""
        )
            -> String
        {
            """
            {"quantity":"1","product_id":"\(product)","transaction_id":"\(id)1",\
            "original_transaction_id":"\(id)","purchase_date":"\(from) 00:00:00 Etc/GMT",\
            "expires_date":"\(to) 00:00:00 Etc/GMT"\(more)}
            """
        }
        func answer(_ app: String, _ rows: String...) -> String {
            """
            {"status":0,"environment":"Production","receipt":{"receipt_type":"Production",\
            "bundle_id":"\(app)","receipt_creation_date_ms":"1483228800000",\
            "request_date_ms":"1483228800000","in_app":[]},\
            "latest_receipt_info":[\(rows.joined(separator: ","))]}
            """
        }
        let answers = [
            answer(
                "com.example.one",
                row(
                    "1000",
                    "monthly",
                    "2016-01-01",
                    "2016-02-01",
                    ",\"app_account_token\":\"\(Self.token)\",\"is_trial_period\":\"true\""
                ),
                row("2000", "yearly", "2016-03-01", "2017-03-01")
            ),
            answer(
                "com.example.two",
                row(
                    "3000",
                    "games",
                    "2016-03-01",
                    "2016-04-01",
                    ",\"app_account_token\":\"\(Self.token.uppercased())\""
                )
            ),
        ]
        try await withLedger { command, _ in
            for (number, answer) in answers.enumerated() {
                let path = folder.path(of: "\(number).json")
                try answer.write(toFile: path, atomically: true, encoding: .utf8)
                try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            }
            try await body(command)
        }
    }

    @Test func `access and explain give the same answer for every name`() async throws {
        try await withCustomer { command in
            let names = ["1000", "2000", "3000", "10001", Self.token, Self.token.uppercased()]
            for at in ["2015-01-01", "2016-01-15", "2016-03-15", "2018-01-01"] {
                for name in names {
                    let access = try await command.run("access", "-q", name, "--at", at).code == 0
                    let told = try await command.json(
                        ExplainDocument.self,
                        "explain",
                        name,
                        "--at",
                        at
                    )
                    #expect(told.entitled.access == access, "\(name) at \(at)")
                    #expect(told.originalTransactionIds == ["1000", "2000", "3000"])
                    try await command.expect(0, "blame", name, "--at", at)
                }
            }
            let alone = try await command.json(
                ExplainDocument.self,
                "explain",
                "1000",
                "--alone",
                "--at",
                "2016-03-15"
            )
            #expect(!alone.entitled.access && alone.originalTransactionIds == ["1000"])
            let several = try await command.run("explain", Self.token, "--alone")
            #expect(several.code == 64 && several.errors.contains("1000, 2000, 3000"))
            let byTransaction = try await command.json(
                ExplainDocument.self,
                "explain",
                "10001",
                "--alone",
                "--at",
                "2016-03-15"
            )
            #expect(byTransaction.originalTransactionIds == ["1000"])
        }
    }

    @Test func `an answer that depends on a bond or a link names it`() async throws {
        try await withCustomer { command in
            let told = try await command.json(
                AccessDocument.self,
                "access",
                "1000",
                "--product",
                "yearly",
                "--at",
                "2016-03-15"
            )
            #expect(told.access)
            #expect(
                told.subscriptions.map(\.because) == ["named", "appReceipt", "appAccountToken"]
            )
            #expect(told.subscriptions.map(\.with) == [nil, "1000", "1000"])
            let text = try await command.expect(0, "access", "1000", "--at", "2016-03-15")
            #expect(text.contains("2000 counts because one app receipt (SHA-256 "))
            #expect(text.contains("3000 counts because it has appAccountToken"))
            let reasons = try await command.expect(0, "explain", "1000", "--at", "2016-03-15")
            #expect(reasons.contains("2000 counts because one app receipt"))
            let own = try await command.expect(
                0,
                "access",
                "2000",
                "--product",
                "yearly",
                "--at",
                "2016-03-15"
            )
            #expect(!own.contains("counts because"), "it depends only on itself")

            try await command.expect(0, "customers", "link", "anna", "2000", "--at", "2015-01-01")
            let linked = try await command.expect(0, "access", "anna", "--at", "2016-05-01")
            #expect(linked.contains("2000 counts because a link assigns it to customer anna"))
            let shown = try await command.expect(0, "customers", "show", "anna")
            #expect(shown.contains("1000 counts because one app receipt"))
            let offers = try await command.expect(0, "eligibility", "anna", "--at", "2018-01-01")
            #expect(offers.contains("counts because"))
        }
    }

    @Test func `a link to another customer takes its subscription from the receipt's customer`()
        async throws
    {
        try await withCustomer { command in
            try await command.expect(0, "customers", "link", "anna", "1000", "--at", "2015-01-01")
            try await command.expect(0, "customers", "link", "ben", "2000", "--at", "2015-01-01")
            func access(_ name: String) async throws -> Int32 {
                try await command.run(
                    "access",
                    "-q",
                    name,
                    "--product",
                    "yearly",
                    "--at",
                    "2016-05-01"
                )
                .code
            }
            #expect(try await access("anna") == 1)
            #expect(try await access("1000") == 1)
            #expect(try await access("ben") == 0)
        }
    }

    @Test func `access covers all apps of a customer, and names the app that granted it`()
        async throws
    {
        try await withCustomer { command in
            for (product, app) in [("games", "com.example.two"), ("yearly", "com.example.one")] {
                let told = try await command.json(
                    AccessDocument.self,
                    "access",
                    Self.token,
                    "--product",
                    product,
                    "--at",
                    "2016-03-15"
                )
                #expect(told.groups.map(\.counting.bundleId) == [app])
                let text = try await command.expect(
                    0,
                    "access",
                    Self.token,
                    "--product",
                    product,
                    "--at",
                    "2016-03-15"
                )
                #expect(text.contains(app))
            }
        }
    }

    @Test(arguments: ["state", "periods", "history", "changes", "refunds", "replay"])
    func `a question about one subscription reports that there are others`(
        question: String
    ) async throws {
        try await withCustomer { command in
            let told = try await command.run(question, "1000")
            #expect(told.code == 0)
            #expect(
                told.errors.contains(
                    "this answer is about 1000 alone; other subscriptions and one-time purchases "
                        + "of the same customer: 2"
                ),
                "\(told.errors)"
            )
            #expect(told.errors.contains("customers show 1000"))
        }
    }

    @Test(arguments: ["state", "periods", "history", "changes", "refunds", "replay"])
    func `a question about one subscription accepts every id of it`(question: String) async throws {
        try await withCustomer { command in
            let expected = try await command.expect(0, question, "1000")
            // The id of its transaction, which is not that of the subscription.
            #expect(try await command.expect(0, question, "10001") == expected)
            let several = try await command.run(question, Self.token)
            #expect(several.code == 64 && several.errors.contains("1000"), "\(several.errors)")
        }
    }

    @Test func `after a link every id of a subscription gives the answer of its own id`()
        async throws
    {
        try await withCustomer { command in
            try await command.expect(0, "customers", "link", "dave", "2000", "--at", "2017-01-01")
            for instant in ["2016-06-01", "2017-02-01", "2018-01-01"] {
                var answers: Set<Bool> = []
                for id in ["2000", "20001"] {
                    let access = try await command.run("access", id, "--at", instant)
                    let explained = try await command.json(
                        ExplainDocument.self,
                        "explain",
                        id,
                        "--at",
                        instant
                    )
                    #expect(explained.entitled.access == (access.code == 0), "\(id) \(instant)")
                    answers.insert(access.code == 0)
                }
                #expect(answers == [instant != "2018-01-01"], "\(instant)")
            }
        }
    }
}
