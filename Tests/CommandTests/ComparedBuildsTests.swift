import Foundation
import Postgres
import TestSupport
import Testing

/// What a report of `rebuild` is about, and what its samples are about.
@Suite(.enabled { await TestServer.isAvailable })
struct ComparedBuildsTests {
    private static let words =
        "{\"familyCounts\":true,\"graceCounts\":false,\"refundIsRetroactive\":false,"
        + "\"reversalIsRetroactive\":true}"

    @Test func `a report of another policy names the policy, its folder and its position`()
        async throws
    {
        let simulation = try await Simulation.shared
        try await withLedger { command, settings in
            let folder = try TestFolder()
            let page = folder.path(of: "page.html")
            let policy = try folder.write("policy.json", Data("{\"graceCounts\":false}".utf8))
            let first = simulation.payloads + "/notification.ndjson"
            try await command.expect(0, simulation.arguments + [first])
            try await command.expect(0, "rebuild", "--quiet")
            let verified = try await command.json(VerifyDocument.self, "verify")
            // Payloads ingested later are on neither side.
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let grown = try await command.json(VerifyDocument.self, "verify")
            #expect(grown.events > verified.events)
            let text = try await command.expect(
                0,
                ["rebuild", "--with", policy, "--into", "next", "--html", page, "--quiet"]
            )
            let document = try await command.json(
                Report.self,
                "rebuild",
                "--with",
                policy,
                "--into",
                "again"
            )
            let words = ComparedBuildsTests.words
            let ledger = try await settings.text(
                "SELECT ledger_id::text FROM ledger.ledger_config"
            )
            let head = try #require(verified.heads.first)
            let comparison = document.comparison
            #expect(comparison.kind == "with" && comparison.schema == "again")
            #expect(comparison.policy == words && comparison.ledgerId == ledger)
            #expect(comparison.upTo.count == 1)
            let standing = try #require(comparison.upTo.first)
            #expect(standing.projections == document.projections.map(\.name))
            #expect(standing.heads.map(\.digest) == [head.digest])
            #expect(standing.heads.map(\.offset) == [head.offset])
            #expect(standing.heads.map(\.commit) == [head.commit])
            #expect(comparison.madeAt > 1_700_000_000_000)
            for table in document.projections {
                #expect(table.oldCatalogVersion == 0 && table.newCatalogVersion == 0)
            }

            let position = "#\(head.offset) (commit \(head.commit), \(head.digest.prefix(12))"
            for word in [
                "rebuild --with", words, "schema next", position, "use the adopted policy",
            ] { #expect(text.contains(word), "\(word)") }
            let html = try String(contentsOfFile: page, encoding: .utf8)
            for word in [
                "rebuild --with", words.replacing("\"", with: "&quot;"), "schema next", position,
                ledger, "use the adopted policy",
                "<dt>fold version</dt><dd>\(foldVersion(of: "active_periods")) (active_periods",
                "<dt>catalog</dt><dd>none</dd>", "<dt>made</dt><dd>20",
            ] { #expect(html.contains(word), "\(word)") }
        }
    }

    @Test func `a difference and its promotion are one document`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command, _ in
            let document = try await command.json(
                Report.self,
                "tables",
                "diff",
                "--promote",
                "--quiet"
            )
            #expect(document.equal && document.comparison.kind == "diff")
            let names = document.projections.map(\.name)
            #expect(try #require(document.promotion).promoted.map(\.name) == names)
            let alone = try await command.json(Report.self, "tables", "diff", "--quiet")
            #expect(alone.promotion == nil)
        }
    }

    @Test func `the old and new catalog versions are shown next to each table`()
        async throws
    {
        try await withSimulatedLedger { command, _ in
            let folder = try TestFolder()
            let page = folder.path(of: "page.html")
            try await command.expect(0, "rebuild", "--quiet")
            let file = try await Simulation.shared.payloads + "/catalog.storekit"
            try await command.expect(0, "catalog", "import", file, "--quiet")
            let text = try await command.expect(
                0,
                ["tables", "diff", "--quiet", "--html", page]
            )
            #expect(text.contains("catalog  none -> 1"), "\(text.prefix(600))")
            let html = try String(contentsOfFile: page, encoding: .utf8)
            #expect(html.contains("<dt>catalog</dt><dd>none → 1</dd>"))
            // A check rebuilds with the catalog version of the live tables.
            let check = try await command.json(Report.self, "tables", "check", "--quiet")
            #expect(check.comparison.kind == "check" && check.comparison.policy == nil)
            for table in check.projections {
                #expect(table.oldCatalogVersion == 0 && table.newCatalogVersion == 0)
            }
            let difference = try await command.json(Report.self, "tables", "diff", "--quiet")
            for table in difference.projections {
                #expect(table.oldCatalogVersion == 0 && table.newCatalogVersion == 1)
            }
            // A catalog changes the class of a plan change, but no access.
            let sample = try #require(
                difference.samples.first { $0.explain.old.row?.projection == "plan_changes" }
            )
            #expect(sample.explain.about == "row")
            let new = try #require(sample.explain.newRow)
            #expect(new.row?.positions == new.because.map(\.position))
            let lines = text.split(separator: "\n").map(String.init)
            #expect(
                lines.contains { $0.hasPrefix("  old     plan_changes: plan_change plan_change") }
            )
            #expect(lines.contains { $0.hasPrefix("  new     plan_changes: plan_change ") })
            #expect(lines.contains { $0.hasPrefix("  next    subledger changes ") })
            #expect(!lines.contains { $0.hasPrefix("  old     ") && $0.contains("access") })
            #expect(!lines.contains { $0.hasPrefix("  new     ") && $0.contains("access") })
            #expect(!text.contains("explain"), "no access differs")
        }
    }

    @Test func `money names its table, and amounts from another table are not added`()
        async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let given = try await settings.number(
                "SELECT sum(refunded_milliunits)::bigint FROM projection.refunds"
            )
            #expect(given > 0, "no refund that the live table could lose")
            try await settings.meddle(
                "UPDATE projection.refunds SET refunded_milliunits = 0"
            )
            let refunds = try await command.json(
                Report.self,
                exit: 3,
                "tables",
                "check",
                "--quiet"
            )
            // The rebuilt table contains a refund that the live one lost: less money.
            #expect(!refunds.money.isEmpty && refunds.otherMoney.isEmpty)
            #expect(refunds.money.allSatisfy { $0.projection == "refunds" })
            #expect(refunds.money.map(\.lostMilliunits).reduce(0, +) == given)
            let sample = try #require(refunds.samples.first)
            #expect(sample.money.map(\.projection) == ["refunds"])

            try await settings.meddle(
                "UPDATE projection.movements SET amount_milliunits = amount_milliunits - 10"
            )
            let both = try await command.json(
                Report.self,
                exit: 3,
                "tables",
                "check",
                "--quiet"
            )
            #expect(!both.money.isEmpty && both.money.allSatisfy { $0.projection == "movements" })
            #expect(both.otherMoney == refunds.money)
            let folder = try TestFolder()
            let page = folder.path(of: "page.html")
            let text = try await command.expect(
                3,
                ["tables", "check", "--quiet", "--html", page]
            )
            #expect(text.contains("  money (movements)  +"), "\(text.prefix(600))")
            #expect(text.contains("lost; from another table, not added"))
            #expect(text.contains("  next    subledger refunds "))
            let html = try String(contentsOfFile: page, encoding: .utf8)
            #expect(html.contains("<td>money (movements), "))
            #expect(html.contains("<td>money (refunds), "))
            #expect(html.contains("; from another table, not added</td>"))
        }
    }
}

/// What a report is about; decoding fails if there is more than one document.
private struct Report: Decodable {
    let comparison: Comparison
    let equal: Bool
    let money: [Money]
    let otherMoney: [Money]
    let projections: [Table]
    let samples: [Sample]
    let promotion: Promotion?

    struct Comparison: Decodable {
        let kind: String
        let policy: String?
        let schema: String?
        let ledgerId: String
        let madeAt: Int64
        let upTo: [Standing]
    }

    struct Standing: Decodable {
        let projections: [String]
        let heads: [VerifyDocument.Head]
    }

    struct Money: Decodable, Equatable {
        let projection: String
        let currency: String?
        let gainedMilliunits: Int64
        let lostMilliunits: Int64
    }

    struct Table: Decodable {
        let name: String
        let oldCatalogVersion: Int?
        let newCatalogVersion: Int?
    }

    struct Sample: Decodable {
        let money: [Amount]
        let explain: Explanations
    }

    struct Amount: Decodable { let projection: String }

    struct Explanations: Decodable {
        let about: String
        let old: Side
        let newRow: Side?
    }

    struct Side: Decodable {
        let row: Row?
        let because: [Cause]
    }

    struct Row: Decodable {
        let projection: String
        let positions: [Int64]
    }

    struct Cause: Decodable { let position: Int64 }

    struct Promotion: Decodable { let promoted: [Promoted] }

    struct Promoted: Decodable { let name: String }
}
