import Foundation
import TestSupport
import Testing

/// `access` and `eligibility` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct AccessTests {
    private struct AccessDocument: Decodable {
        struct Group: Decodable {
            let subscriptionGroupIdentifier: String?
            let counting: Period
            let active: [Period]
        }
        struct Period: Decodable {
            let originalTransactionId: String
            let productId: String
            let validTo: Int64
            let kind: String
            let familyShared: Bool
            let positions: [Int64]
        }
        let id: String
        let environment: String
        let at: Int64
        let access: Bool
        let until: Int64?
        let products: [String]
        let groups: [Group]
        let intervals: [[Int64]]
    }
    private struct ContentDocument: Decodable {
        struct Line: Decodable {
            let name: String
            let unlocked: Bool
            let reason: String?
        }
        let runs: [[Int64]]
        let issues: [Line]
    }
    private struct EligibilityDocument: Decodable {
        struct Group: Decodable {
            let subscriptionGroupIdentifier: String?
            let subscriber: String
            let introductory: Verdict
            let promotional: Verdict
            let winBack: Verdict
        }
        struct Verdict: Decodable {
            let eligible: Bool
            let rule: String
            let blocking: Blocking?
        }
        struct Blocking: Decodable {
            let transactionIds: [String]
            let productId: String
            let positions: [Int64]
        }
        let groups: [Group]
    }

    @Test func `access exits with 0 for yes, 1 for no, 4 for unknown, and -q prints nothing`()
        async throws
    {
        try await withMagazine { command, _ in
            func code(_ at: String, _ more: String...) async throws -> Int32 {
                let ending = try await command.run(["access", "-q", "--at", at] + more)
                #expect(ending.output.isEmpty)
                return ending.code
            }
            #expect(try await code("2016-02-20", "1") == 0)
            #expect(try await code("2016-02-19", "1") == 1)
            #expect(try await code("2016-04-20", "1") == 1)
            #expect(try await code("2016-07-01", "3") == 0, "by a transaction id")
            #expect(try await code("2016-07-01", "1", "--product", "monthly") == 0)
            #expect(try await code("2016-07-01", "1", "--product", "yearly") == 1)
            #expect(try await code("2016-07-01", "1", "--group", "20") == 0)
            #expect(try await code("2016-07-01", "1", "--group", "21") == 1)
            #expect(try await code("2016-07-01", "9") == 4)
            #expect(try await code("2016-07-01", "1", "--known-at", "0") == 4)
            let sandbox = try await command.run("access", "1", "--environment", "Sandbox")
            #expect(sandbox.code == 4 && sandbox.errors.contains("Production"))
            // Without --at the question is about now, long after.
            #expect(try await command.run("access", "1").code == 1)
        }
    }

    @Test func `the document names what counts and the events that cause it`() async throws {
        try await withMagazine { command, _ in
            let told = try await command.json(
                AccessDocument.self,
                "access",
                "1",
                "--at",
                "2016-03-25"
            )
            let group = try #require(told.groups.first)
            #expect(told.access && told.products == ["monthly"] && told.environment == "Production")
            #expect(group.subscriptionGroupIdentifier == "20" && group.active.count == 1)
            #expect(group.counting.kind == "paid" && !group.counting.familyShared)
            #expect(!group.counting.positions.isEmpty && told.until == group.counting.validTo)
            #expect(told.intervals.count == 2)
            let none = try await command.json(
                AccessDocument.self,
                exit: 1,
                "access",
                "1",
                "--at",
                "2016-05-01"
            )
            #expect(!none.access && none.groups.isEmpty && none.until == nil)
            let text = try await command.expect(0, "access", "1", "--at", "2016-03-25")
            #expect(text.contains("access  yes, until 2016-04-20 00:00:00"))
        }
    }

    @Test func `content gives the five issues of Apple's table, from either form of file`()
        async throws
    {
        try await withMagazine { command, folder in
            let lines = folder.path(of: "issues.txt")
            try (1...8).map { "2016-0\($0)-01 Issue \($0)" }.joined(separator: "\n")
                .write(toFile: lines, atomically: true, encoding: .utf8)
            let json = folder.path(of: "issues.json")
            let array = (1...8).map { #"{"name":"Issue \#($0)","publishedAt":"2016-0\#($0)-01"}"# }
            try "[\(array.joined(separator: ","))]"
                .write(toFile: json, atomically: true, encoding: .utf8)
            for path in [lines, json] {
                let told = try await command.json(
                    ContentDocument.self,
                    "access",
                    "1",
                    "--at",
                    "2016-12-31",
                    "--content",
                    path
                )
                let unlocked = told.issues.filter(\.unlocked)
                #expect(
                    unlocked.map(\.name) == [2, 3, 4, 6, 7].map { "Issue \($0)" }
                )
                #expect(
                    unlocked.map(\.reason) == [
                        "newestAtStart", "published", "published", "newestAtStart", "published",
                    ]
                )
                #expect(told.issues.count == 8 && told.runs.count == 2)
            }
            try await command.expect(
                1,
                "access",
                "1",
                "--at",
                "2016-02-10",
                "--content",
                lines
            )
            let table = try await command.run(
                ["access", "1", "--at", "2016-12-31", "--content", "-"],
                inputFile: lines
            )
            #expect(table.code == 0 && table.output.contains("newest issue at the start"))
        }
    }

    @Test(arguments: [
        ("", "contains no issue"), ("[", "not a list of issues"), ("yesterday May", "line 1"),
        ("2016-05-01", "line 1"), (#"[{"name":"May"}]"#, "not a list of issues"),
        (#"[{"name":"May","publishedAt":"soon"}]"#, "element 1"), ("1999-01-01 May", "line 1"),
    ])
    func `an invalid list of issues exits with 65 and gives its position`(
        text: String,
        words: String
    ) async throws {
        let folder = try TestFolder()
        let path = folder.path(of: "issues")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])
        let ending = try await command.run("access", "1", "--content", path)
        #expect(ending.code == 65)
        #expect(ending.errors.contains(words) && ending.errors.contains("2026-05-01"))
        #expect(ending.output.isEmpty)
        let missing = try await command.run("access", "1", "--content", path + "-missing")
        #expect(missing.code == 66 && missing.errors.contains("issues-missing"))
    }

    @Test func `eligibility names the purchase that prevents an offer`() async throws {
        try await withMagazine { command, _ in
            let told = try await command.json(
                EligibilityDocument.self,
                "eligibility",
                "1",
                "--at",
                "2016-05-01"
            )
            let group = try #require(told.groups.first)
            #expect(group.subscriptionGroupIdentifier == "20" && group.subscriber == "expired")
            #expect(group.introductory.rule == "usedIntroductoryOffer")
            let blocking = try #require(group.introductory.blocking)
            #expect(blocking.transactionIds == ["1"] && blocking.productId == "monthly")
            #expect(!blocking.positions.isEmpty)
            #expect(group.promotional.eligible && group.winBack.eligible)
            let other = try await command.json(
                EligibilityDocument.self,
                "eligibility",
                "1",
                "--group",
                "21"
            )
            #expect(other.groups.map(\.introductory.rule) == ["neverSubscribed"])
            let text = try await command.expect(0, "eligibility", "1", "--at", "2016-05-01")
            #expect(text.contains("usedIntroductoryOffer") && text.contains("2016-02-20"))
            let unseen = try await command.expect(0, "eligibility", "9")
            #expect(unseen.contains("eligible, nothing bought"), "\(unseen)")
        }
    }

    // The three periods of the magazine rule, the first a trial, in one verifyReceipt response.
    @Test func `sandbox purchases count only for the customers or times that the options name`()
        async throws
    {
        try await withMagazine("Sandbox") { command, _ in
            let question = ["access", "1", "--at", "2016-07-01"]
            let production = try await command.run(question)
            #expect(production.code == 1, "\(production.errors)")
            #expect(production.output.contains("in the sandbox  access, until 2016-07-17"))
            let named = try await command.run(question + ["--sandbox-customer", "1"])
            #expect(named.code == 0)
            #expect(named.output.contains("by the sandbox policy, purchases of 1"))
            let window = ["--sandbox-from", "2016-06-30", "--sandbox-to", "2016-07-02"]
            let open = try await command.run(question + window)
            #expect(open.code == 0)
            #expect(open.output.contains("purchases of every customer"))
            let why = try await command.run(["explain"] + question.dropFirst() + window)
            let sentences = why.output.prefix { $0 != "\n" }.components(separatedBy: ". ")
            #expect(why.code == 0 && sentences[0].hasPrefix("Access by a sandbox purchase "))
            #expect(sentences[1].hasPrefix("By the sandbox policy, purchases"), "\(sentences)")
            let asked = ["explain", "1", "--environment", "Sandbox", "--at"]
            for (at, words) in [
                ("2016-07-01", "Access in the sandbox "),
                ("2026-07-01", "No access in the sandbox "),
            ] {
                let tested = try await command.expect(0, asked + [at])
                #expect(tested.hasPrefix(words), "\(tested)")
            }
            let long = ["--sandbox-from", "2016-01-01", "--sandbox-to", "2016-07-02"]
            let refused = try await command.run(question + long)
            #expect(refused.code == 64 && refused.errors.contains("31 days"), "\(refused.errors)")
        }
    }

    private func withMagazine(
        _ environment: String = "Production",
        _ body: (Command, TestFolder) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        let kind = environment == "Sandbox" ? "ProductionSandbox" : "Production"
        let periods = [
            ("1", "2016-02-20", "2016-03-20", "true"), ("2", "2016-03-20", "2016-04-20", "false"),
            ("3", "2016-06-17", "2016-07-17", "false"),
        ]
        let rows = periods.map { id, from, to, trial in
            """
            {"quantity":"1","product_id":"monthly","transaction_id":"\(id)",\
            "original_transaction_id":"1","purchase_date":"\(from) 00:00:00 Etc/GMT",\
            "expires_date":"\(to) 00:00:00 Etc/GMT","is_trial_period":"\(trial)",\
            "subscription_group_identifier":"20"}
            """
        }
        let answer = """
            {"status":0,"environment":"\(environment)","receipt":{"receipt_type":"\(kind)",\
            "bundle_id":"com.example","receipt_creation_date_ms":"1483228800000",\
            "request_date_ms":"1483228800000","in_app":[]},\
            "latest_receipt_info":[\(rows.joined(separator: ","))]}
            """
        let path = folder.path(of: "answer.json")
        try answer.write(toFile: path, atomically: true, encoding: .utf8)
        try await withLedger { command, _ in
            try await command.expect(0, "ingest", "--quiet", "--vouch", path)
            try await body(command, folder)
        }
    }
}
