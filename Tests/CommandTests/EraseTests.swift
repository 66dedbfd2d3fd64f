import Foundation
import Postgres
import TestSupport
import Testing

/// `erase` from the outside: what is removed, what stays, and who may erase.
@Suite(.enabled { await TestServer.isAvailable })
struct EraseTests {
    @Test func `a customer is erased, and every command shows it`() async throws {
        try await Self.withLinked("anna@example.com") { command, _, id in
            let periods = try await command.json(PeriodsDocument.self, "periods", id)
            let dry = try await Self.erase(command, "customer", "anna@example.com", "--dry-run")
            #expect(!dry.erased)
            // Another subscription has the customer's app account token.
            #expect(dry.erasures.count >= 1 && dry.erasures.allSatisfy { $0.scope == "customer" })
            #expect(dry.erasures.allSatisfy { $0.position == nil })
            let head = try #require(
                try await command.json(VerifyDocument.self, "verify").heads.first
            )
            let done = try await Self.erase(command, "customer", "anna@example.com")
            #expect(done.erased)
            let last = head.offset + Int64(done.erasures.count)
            #expect(done.erasures.compactMap(\.position) == Array(head.offset + 1...last))
            #expect(done.erasures.map(\.events) == dry.erasures.map(\.events))

            #expect(try await command.json(PeriodsDocument.self, "periods", id) == periods)
            for question in ["periods", "access", "eligibility", "history"] {
                let told = try await command.run(question, id, "--json")
                #expect(told.output.contains(#""scope":"customer""#), "\(question): \(told)")
            }
            let history = try await command.expect(0, "history", id)
            for words in ["not kept", "rest erased", "ticket 4711", "privacy team"] {
                #expect(history.contains(words), "\(words): \(history)")
            }
            #expect(!history.contains("anna"))
            let verified = try await command.expect(0, "verify")
            #expect(verified.contains("erased: parts of"))
            let signatures = try await command.expect(
                0,
                ["verify", "--signatures", "--root-certificate", try await Simulation.shared.root]
            )
            #expect(signatures.contains("not kept after erasures"))
            let raw = try await command.run("event", "1", "--raw")
            #expect([0, 4].contains(raw.code))
            let feed = try await command.expect(0, "feed")
            #expect(feed.contains("\"erased\":\"person\""))
            #expect(feed.contains("\"kind\":\"erasure\"") && !feed.contains("anna"))
            #expect(
                try await command.run(
                    "erase",
                    "customer",
                    "anna@example.com",
                    "--reason",
                    "again"
                ).code == 4
            )
        }
    }

    @Test func `an id that is written otherwise is not erased, and the error says how to find it`()
        async throws
    {
        try await Self.withLinked("Anna") { command, _, id in
            for target in [["customer", "anna"], ["subscription", "#\(id)"]] {
                let refused = try await command.run(["erase"] + target + ["--reason", "asked"])
                #expect(refused.code == 4, "\(refused.output)")
                for words in ["takes an id only as it is written", "`subledger explain ID`"] {
                    #expect(refused.errors.contains(words), "\(refused.errors)")
                }
                let found = try await command.run("explain", target[1])
                let name = target[0] == "customer" ? "Anna" : id
                #expect(found.errors.contains("answered for \(name)"), "\(found.errors)")
            }
        }
    }

    @Test func `a subscription is erased, and its facts do not come back`() async throws {
        try await Self.withLinked("anna") { command, _, id in
            try await command.expect(0, "rebuild", "--quiet")
            let done = try await Self.erase(command, "subscription", id, "--with-siblings")
            let own = try #require(done.erasures.first { $0.scope == "subscription" })
            let first = String(own.events.prefix { $0.isNumber })
            for question in [["event", first], ["replay", id], ["history", id]] {
                let answer = try await command.expect(0, question)
                #expect(!answer.contains("1970"), "\(answer)")
            }
            try await command.expect(0, "follow", "--once", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
            let history = try await command.expect(0, "history", id)
            #expect(history.contains("erased: the subscription"))
            #expect(history.contains("ticket 4711"))
            let simulation = try await Simulation.shared
            // What is refused is never a success, and the erasure that refused it is named.
            let again = try await command.expect(
                65,
                simulation.arguments + [simulation.payloads, "--json"]
            )
            #expect(again.contains("\"erased\":"))
            #expect(!again.contains("\"erased\":0,"), "\(again)")
            let position = try #require(own.position)
            #expect(again.contains("\"erasedBy\":[\"0:\(position)\"]"), "\(again)")
            let words = try await command.run(
                ["ingest", "--root-certificate", simulation.root, simulation.payloads]
            )
            #expect(words.code == 65)
            #expect(words.errors.contains("refused by 1 erasure (\(position))"), "\(words)")
            try await command.expect(0, "verify")
            for question in ["access", "eligibility"] {
                let answer = try await command.run(question, id, "--json")
                #expect(answer.code == 4 && answer.output.isEmpty, "\(question): \(answer)")
                for words in ["erased on 20", "(ticket 4711)", "nothing about its purchases"] {
                    #expect(answer.errors.contains(words), "\(question): \(answer.errors)")
                }
            }
            let explained = try await command.expect(0, "explain", id)
            #expect(explained.contains("erased: \(id) by event"), "\(explained)")
            #expect(explained.contains("ENTITLED  ?  "), "\(explained)")
            let document = try await command.expect(0, "explain", id, "--json")
            #expect(document.contains(#""access":null"#), "\(document)")
            #expect(document.contains(#""reason":"erased""#), "\(document)")
            let periods = try await command.run("periods", id)
            #expect(periods.errors.contains("ticket 4711"), "\(periods.errors)")
            try await command.expect(0, "tables", "check", "--quiet")
            let twice = try await Self.erase(command, "subscription", id)
            #expect(twice.erasures.isEmpty)
        }
    }

    @Test func `before the tables are followed, a check leaves out what was erased`() async throws {
        try await Self.withLinked("anna") { command, settings, id in
            try await command.expect(0, "rebuild", "--quiet")
            _ = try await Self.erase(command, "subscription", id, "--with-siblings")
            let check = try await command.run("tables", "check")
            #expect(check.code == 0, "\(check)")
            #expect(check.errors.contains("left out"), "\(check.errors)")
            #expect(check.errors.contains("`subledger follow --once`"), "\(check.errors)")
            // What differs in other subscriptions is still found.
            try await settings.meddle(
                """
                UPDATE projection.active_periods SET product_identifier = 'altered'
                WHERE original_transaction_id = (SELECT max(original_transaction_id)
                    FROM projection.active_periods WHERE original_transaction_id <> '\(id)')
                """
            )
            let altered = try await command.run("tables", "check")
            #expect(altered.code == 3 && altered.output.contains("altered"), "\(altered)")
        }
    }

    @Test func `erase requires a reason and a known id`() async throws {
        try await Self.withLinked("anna") { command, _, id in
            #expect(try await command.run("erase", "subscription", id).code == 64)
            let empty = try await command.run("erase", "subscription", id, "--reason", "")
            #expect(empty.code == 64)
            let unknown = try await command.run(
                "erase",
                "subscription",
                "1",
                "--reason",
                "ticket"
            )
            #expect(unknown.code == 4)
            try await command.expect(0, "history", id)
            #expect(try await command.json(VerifyDocument.self, "verify").ok)
        }
    }
}

extension EraseTests {
    private struct Document: Decodable {
        let erased: Bool
        let erasures: [Line]

        struct Line: Decodable {
            let position: Int64?
            let scope: String
            let events: String
        }
    }

    private static func erase(
        _ command: Command,
        _ arguments: String...
    ) async throws -> Document {
        let output = try await command.expect(
            0,
            ["erase"] + arguments
                + ["--reason", "ticket 4711", "--by", "privacy team", "--json"]
        )
        return try JSONDecoder().decode(Document.self, from: Data(output.utf8))
    }

    /// A ledger of simulated payloads, one subscription of which is linked to a customer.
    private static func withLinked(
        _ customer: String,
        _ body: (Command, ConnectionSettings, String) async throws -> Void
    ) async throws {
        let simulation = try await Simulation.shared
        try await withLedger { command, settings in
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let streams = try await command.json([StreamLine].self, "streams")
            let stream = try #require(streams.first { $0.environment == "Production" })
            let id = stream.originalTransactionId
            try await command.expect(0, "customers", "link", customer, id, "--by", "tester")
            try await body(command, settings, id)
        }
    }
}
