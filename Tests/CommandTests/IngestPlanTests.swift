import Foundation
import TestSupport
import Testing

/// `ingest --plan` predicts an ingest without a database.
@Suite(.enabled { await TestServer.isAvailable })
struct IngestPlanTests {
    private static let nowhere = Command(environment: ["DATABASE_URL": "host=/nowhere"])

    @Test func `the plan predicts the ingest and needs no database`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let all = try simulation.allPayloads()
        try folder.write("1.ndjson", all.joined(separator: [0x0a]))
        try folder.write("2.json", Array(IngestSummaryTests.ios6.utf8))
        let arguments = ["--root-certificate", simulation.root, folder.path]
        let plan = try JSONDecoder().decode(
            IngestPlanDocument.self,
            from: Data(
                try await Self.nowhere.expect(65, ["ingest", "--plan", "--json"] + arguments).utf8
            )
        )
        try await withLedger { command, _ in
            let output = try await command.expect(65, ["ingest", "--json"] + arguments)
            let report = try JSONDecoder().decode(IngestDocument.self, from: Data(output.utf8))
            #expect(plan.payloads == report.payloads && plan.skipped == report.skipped)
            #expect(plan.facts == report.appended + report.duplicates)
            #expect(plan.streams == report.streams)
            #expect(plan.leftOutByReason == report.leftOutByReason)
            #expect(plan.rejectedByReason == report.rejectedByReason)
            #expect(plan.rejected == 1 && plan.leftOut == report.leftOut)
        }
        #expect(plan.forms.map(\.count).reduce(0, +) == plan.payloads)
        #expect(plan.forms.contains { $0.word == "verify-receipt-response" })
        #expect(plan.bundleIds.map(\.word) == ["example.subledger"])
        #expect(plan.bundleIds.map(\.count) == [plan.facts])
        #expect(plan.environments.map(\.word) == ["Production"])
        #expect(
            plan.byteCount
                == Int64(all.map(\.count).reduce(0, +) + IngestSummaryTests.ios6.utf8.count)
        )
        let (from, to) = (try #require(plan.from), try #require(plan.to))
        #expect(from < to && !plan.wasStopped)
        #expect(plan.estimatedSeconds > plan.readingSeconds)
    }

    @Test func `the plan shows what would be refused and the option that accepts it`()
        async throws
    {
        let folder = try TestFolder()
        try folder.write("1.json", Array(IngestSummaryTests.ios6.utf8))
        try folder.write("2.txt", Array("what is this?".utf8))
        let ending = try await Self.nowhere.run("ingest", "--plan", "--vouch", folder.path)
        #expect(ending.code == 65 && ending.errors.isEmpty, "\(ending.errors)")
        for words in [
            "2 payloads, ", "2 payloads would be refused", "verify-receipt-response",
            "unrecognised",
            "[environment-unknown]", "to accept it: --assume-environment Production",
            "an ingest will take roughly", "nothing was written",
        ] {
            #expect(ending.output.contains(words), "\(words): \(ending.output)")
        }
        try await Self.nowhere.expect(65, ["ingest", "--plan", "--strict", folder.path])
        let taken = try await Self.nowhere.expect(
            0,
            [
                "ingest", "--plan", "--vouch", "--assume-environment", "production",
                folder.path(of: "1.json"),
            ]
        )
        #expect(taken.contains("1 fact of 1 stream\nfrom 2012-12-12 00:10:05 "), "\(taken)")
    }
}
