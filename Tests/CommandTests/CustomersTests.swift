import Foundation
import Postgres
import TestSupport
import Testing

/// `customers` from the outside: which customer a subscription belongs to, stated and queried.
@Suite(.enabled { await TestServer.isAvailable })
struct CustomersTests {
    @Test func `a subscription is linked, linked again, contested, transferred and unlinked`()
        async throws
    {
        try await withStream { command, _, id in
            let before = try await command.json(VerifyDocument.self, "verify").events
            let first = try await Self.link(command, "anna", id, "2024-01-01")
            #expect(first.outcome == "appended" && first.positions == [before + 1])
            #expect(first.statement == "link" && first.customer == "anna")
            let again = try await Self.link(command, "anna", id, "2024-01-01")
            #expect(again.outcome == "duplicate" && again.positions == first.positions)

            let refused = try await command.run("customers", "link", "ben", id)
            #expect(refused.code == 65)
            #expect(refused.output.isEmpty)
            for word in ["anna", "2024-01-01", "#\(before + 1)", "--transfer", id] {
                #expect(refused.errors.contains(word), "\(word): \(refused.errors)")
            }
            let early = try await command.run(
                "customers",
                "link",
                "ben",
                id,
                "--transfer",
                "--at",
                "2023-01-01"
            )
            #expect(early.code == 65, "what begins later cannot be taken: \(early.errors)")

            let moved = try await Self.link(command, "ben", id, "2024-02-01", "--transfer")
            #expect(moved.positions == [before + 2, before + 3])
            let unlinked = try await command.json(
                StatementDocument.self,
                "customers",
                "unlink",
                "ben",
                id,
                "--at",
                "2024-03-01"
            )
            #expect(unlinked.statement == "unlink" && unlinked.positions == [before + 4])
            #expect(try await command.run("customers", "unlink", "anna", id).code == 4)

            let told = try await Self.show(command, id)
            let stream = try #require(told.streams.first)
            #expect(stream.owners.suffix(3).map(\.customer) == ["anna", "ben", nil])
            // After the unlink the token decides again, if there is one.
            #expect(
                stream.owners.suffix(3).prefix(2).map(\.position) == [before + 1, before + 3]
            )
            #expect(stream.links.map(\.by) == ["tester", "tester"])
            try await command.expectSoundLog(events: before + 4)
            try await command.expect(
                0,
                "verify",
                "--signatures",
                "--root-certificate",
                try await Self.root()
            )
        }
    }

    @Test func `two clocks answer who owned it then, and what was known then`() async throws {
        try await withStream { command, _, id in
            let linked = try await Self.link(command, "anna", id, "2024-01-01")
            let known = try #require(linked.positions.first)
            try await Self.link(command, "ben", id, "2024-02-01", "--transfer")
            func owned(_ name: String, _ at: String, _ knownAt: Int64? = nil) async throws -> Bool {
                let bound = knownAt.map { ["--known-at", "\($0)"] } ?? []
                let told = try await Self.show(command, name, ["--at", at] + bound)
                return told.ownedAt?.contains(id) ?? false
            }
            #expect(try await owned("anna", "2024-01-15"))
            #expect(try await owned("anna", "2024-03-01") == false)
            #expect(try await owned("ben", "2024-03-01"))
            #expect(try await owned("ben", "2024-01-15") == false)
            // Before the transfer was recorded, anna owned it forever and ben was unknown.
            #expect(try await owned("anna", "2024-03-01", known))
            #expect(try await owned("ben", "2024-03-01", known) == false)
            #expect(try await owned("anna", "2024-03-01", known - 1) == false)
            let all = try await Self.show(command, "anna", ["--known-at", "\(known - 1)"])
            #expect(all.streams.isEmpty && all.related.isEmpty)
            try await command.expect(64, "customers", "show", "anna", "--known-at", "1000000")
        }
    }

    @Test func `a contested claim from a file is listed and moves nothing`() async throws {
        try await withStream { command, _, id in
            try await Self.link(command, "anna", id, "2024-01-01")
            let folder = try TestFolder()
            let file = try folder.write(
                "link.json",
                Data(
                    """
                    {"subledger":"customer-link/1","environment":"Production","by":"import",
                    "originalTransactionId":"\(id)","customer":"ben","reason":"restored",
                    "statedAt":1706745600000}
                    """.utf8
                )
            )
            let refused = try await command.ingest(exit: 65, file)
            #expect(refused.rejections.map(\.reason) == ["unproven"])
            let taken = try await command.ingest("--vouch", file)
            #expect(taken.appended == 1 && taken.rejected == 0)
            let claims = try await command.json([ClaimLine].self, "customers", "claims")
            #expect(
                claims.filter { $0.originalTransactionId == id }.compactMap(\.customer) == [
                    "anna", "ben",
                ]
            )
            let contested = try await command.json(
                [ClaimLine].self,
                "customers",
                "claims",
                "--contested"
            )
            #expect(contested.map(\.customer) == ["ben"])
            #expect(contested.map(\.contests) == ["anna"])
            #expect(contested.map(\.reason) == ["restored"])
            let told = try await Self.show(command, "ben", ["--at", "2024-06-01"])
            #expect(told.streams.isEmpty && told.ownedAt == [])
            #expect(told.related.map(\.originalTransactionId) == [id])
            #expect(try await command.expect(0, "customers", "claims").contains("CONTESTED"))
            #expect(try await command.expect(0, "customers", "show", id).contains("CONTESTED"))
            #expect(try await command.expect(0, "history", id).contains("restored"))
            try await command.expect(
                0,
                "verify",
                "--signatures",
                "--root-certificate",
                try await Self.root()
            )
        }
    }

    @Test func `a customer is shown by every name, and is listed`() async throws {
        try await withStream { command, settings, id in
            try await Self.link(command, "anna", id, "2024-01-01")
            let names = try await Self.names(of: id, settings)
            #expect(!names.isEmpty)
            for name in ["anna", id] + names {
                let told = try await Self.show(command, name)
                #expect(told.customer == "anna", "\(name)")
                #expect(told.streams.map(\.originalTransactionId).contains(id), "\(name)")
            }
            let list = try await command.json(CustomerList.self, "customers", "list")
            #expect(list.customers.map(\.customer) == ["anna"])
            #expect(list.customers.map(\.streams) == [1])
            #expect(try await command.expect(0, "customers", "list").contains("anna"))
            for page in [["--after", "anna"], ["--after", "b", "--limit", "1"]] {
                let rest = try await command.expect(0, ["customers", "list", "--json"] + page)
                #expect(rest == "{\"customers\":[]}\n")
            }
        }
    }

    @Test func `an unknown customer exits with 4, an invalid command with 64`() async throws {
        try await withStream { command, _, id in
            let unknown = try await command.run("customers", "link", "anna", "4711")
            #expect(unknown.code == 4 && unknown.errors.contains("4711"))
            #expect(try await command.run("customers", "unlink", "anna", id).code == 4)
            let nobody = try await command.run("customers", "show", "nobody")
            #expect(nobody.code == 4 && nobody.errors.contains("customers list"))
            let long = String(repeating: "x", count: 257)
            try await command.expect(64, "customers", "link", long, id)
            try await command.expect(64, "customers", "link", "", id)
            try await command.expect(64, "customers", "link", "anna", id, "--at", "whenever")
            try await command.expect(64, "customers", "list", "--limit", "0")
            try await command.expect(65, "customers", "link", "an\nna", id)
            // A stream that only a link names has no event from Apple.
            let link = Data(
                """
                {"subledger":"customer-link/1","environment":"Production","by":"x","customer":"a",
                "originalTransactionId":"4711","reason":"","statedAt":1706745600000}
                """.utf8
            )
            let folder = try TestFolder()
            let file = try folder.write("early.json", link)
            #expect(try await command.ingest("--vouch", file).appended == 1)
            try await command.expect(4, "customers", "link", "anna", "4711")
        }
    }

    @Test func `a statement that would have no effect is refused`() async throws {
        try await withStream { command, _, id in
            try await Self.link(command, "adam", id, "2026-01-01")
            let undone = try await command.run(
                "customers",
                "unlink",
                "adam",
                id,
                "--at",
                "2026-01-01"
            )
            #expect(undone.code == 65, "\(undone.errors)")
            #expect(undone.errors.contains("--at"))
            try await Self.link(command, "zoe", id, "2026-03-01", "--transfer")
            let back = try await command.run(
                "customers",
                "link",
                "adam",
                id,
                "--transfer",
                "--at",
                "2026-03-01"
            )
            #expect(back.code == 65, "\(back.errors)")
            let told = try await Self.show(command, id)
            #expect(told.streams.first?.owners.last?.customer == "zoe")
        }
    }

    @Test func `a mistaken link, once undone, takes no access away and restores no used offer`()
        async throws
    {
        try await withStream { command, _, id in
            let active = try await command.json(ActiveDocument.self, "periods", id).active
            let start = try #require(active.first?.first)
            let at = Date(timeIntervalSince1970: Double(start) / 1000 + 60).ISO8601Format()
            func access() async throws -> Int32 {
                try await command.run("access", id, "--at", at).code
            }
            func offers(_ name: String) async throws -> [String] {
                try await command.expect(0, "eligibility", name, "--at", "2035-01-01")
                    .split(separator: "\n").filter { $0.contains("introductory") }.map(String.init)
            }
            let rules = try await offers(id)
            #expect(try await access() == 0)
            try await Self.link(command, "wrong", id, "2019-01-01")
            try await command.expect(
                0,
                "customers",
                "unlink",
                "wrong",
                id,
                "--at",
                "2019-02-01"
            )
            #expect(try await access() == 0)
            #expect(try await offers(id) == rules)
            try await Self.link(command, "alice", id, "2019-03-01")
            try await Self.link(command, "bob", id, "2019-04-01", "--transfer")
            // Whoever owns it now: a used offer stays used (Apple's data: offer eligibility).
            #expect(try await offers("alice") == rules)
            #expect(try await offers("bob") == rules)
        }
    }

    @Test func `without --by and --at a link is by this user, from the first purchase on`()
        async throws
    {
        try await withStream { command, _, id in
            let made = try await command.json(
                StatementDocument.self,
                "customers",
                "link",
                "anna",
                id,
                "--reason",
                "bought on the web"
            )
            #expect(made.statedAt == 0)
            let link = try #require(try await Self.show(command, id).streams.first?.links.first)
            #expect(link.by == NSUserName())
            #expect(link.reason == "bought on the web")
            #expect(link.from == made.statedAt)
        }
    }
}

extension CustomersTests {
    private static func root() async throws -> String { try await Simulation.shared.root }

    /// Lends a ledger of simulated subscriptions, and the id of one.
    private func withStream(
        _ body: (Command, ConnectionSettings, String) async throws -> Void
    ) async throws {
        let simulation = try await Simulation.shared
        try await withLedger { command, settings in
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let streams = try await command.json([StreamLine].self, "streams")
            let stream = try #require(streams.first { $0.environment == "Production" })
            try await body(command, settings, stream.originalTransactionId)
        }
    }

    @discardableResult
    private static func link(
        _ command: Command,
        _ customer: String,
        _ id: String,
        _ at: String,
        _ more: String...
    ) async throws -> StatementDocument {
        let arguments = ["customers", "link", customer, id, "--at", at, "--by", "tester", "--json"]
        let output = try await command.expect(0, arguments + more)
        return try JSONDecoder().decode(StatementDocument.self, from: Data(output.utf8))
    }

    private static func show(
        _ command: Command,
        _ name: String,
        _ more: [String] = []
    ) async throws -> CustomerDocument {
        let output = try await command.expect(0, ["customers", "show", name, "--json"] + more)
        return try JSONDecoder().decode(CustomerDocument.self, from: Data(output.utf8))
    }

    /// A transaction id of a stream, and its token if it has one.
    private static func names(
        of id: String,
        _ settings: ConnectionSettings
    ) async throws -> [String] {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query(
            """
            SELECT max(transaction_id) FROM ledger.event WHERE original_transaction_id = $1
            UNION ALL SELECT max(app_account_token) FROM ledger.event
            WHERE original_transaction_id = $1
            """,
            [.text(id)]
        )
        await session.close()
        return try rows.compactMap { try $0.textIfPresent(0) }
    }
}

private struct StatementDocument: Decodable {
    let originalTransactionId: String
    let environment: String
    let customer: String
    let statement: String
    let statedAt: Int64
    let outcome: String
    let positions: [Int64]
}

private struct CustomerDocument: Decodable {
    let id: String
    let customer: String?
    let appAccountTokens: [String]
    let streams: [Stream]
    let related: [Stream]
    let ownedAt: [String]?

    struct Stream: Decodable {
        let originalTransactionId: String
        let productIds: [String]
        let owners: [Interval]
        let links: [ClaimLine]
        let tokens: [ClaimLine]
    }

    struct Interval: Decodable {
        let customer: String?
        let appAccountToken: String?
        let from: Int64?
        let to: Int64?
        let position: Int64?
    }
}

private struct ClaimLine: Decodable {
    let originalTransactionId: String
    let customer: String?
    let appAccountToken: String?
    let from: Int64
    let to: Int64?
    let position: Int64
    let by: String?
    let reason: String?
    let isContested: Bool
    let contests: String?
}

private struct CustomerList: Decodable {
    let customers: [Line]

    struct Line: Decodable {
        let customer: String
        let streams: Int64
        let firstRecordedAt: Int64
        let lastRecordedAt: Int64
    }
}

private struct ActiveDocument: Decodable {
    let active: [[Int64]]
}
