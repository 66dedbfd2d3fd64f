import Foundation
import Postgres
import TestSupport
import Testing

/// `rejections` and `report ingest-quality` from the outside.
@Suite(.enabled { await TestServer.isAvailable })
struct RejectionsTests {
    private static let secret = "c0ffee00c0ffee00c0ffee00c0ffee00"
    private static let files = [
        ("bad.json", "{\"a\":1,\"a\":2}"), ("not.txt", "what is this?"),
        ("v1.json", "{\"notification_type\":\"CANCEL\",\"password\":\"\(secret)\"}"),
        ("cut.json", "{\"password\":\"\(secret)\""),
    ]

    @Test func `refused payloads are listed, filtered and returned`() async throws {
        try await withRefusals { command, settings, folder in
            let all = try await command.json(RejectionsDocument.self, "rejections")
            #expect(all.count == 4)
            let paths = Set(all.rejections.map(\.location))
            #expect(paths == Set(Self.files.map { folder.path(of: $0.0) }))
            let duplicate = try await command.json(
                RejectionsDocument.self,
                "rejections",
                "--reason",
                "json-duplicate-name",
                "--source",
                "upload",
                "--since",
                "2020-01-01"
            )
            #expect(duplicate.count == 1)
            let line = try #require(duplicate.rejections.first)
            #expect(line.byteCount == 13 && line.bodyByteCount == 13)
            let body = try await command.expect(0, "rejections", "--body", line.digest)
            #expect(body == "{\"a\":1,\"a\":2}")
            for filter in [["--source", "file"], ["--since", "2099-01-01"]] {
                let output = try await command.expect(0, ["rejections"] + filter)
                #expect(output == "no payload was refused\n")
            }
            let ending = try await command.run("rejections", "--limit", "1")
            #expect(ending.output.split(separator: "\n").count == 2)
            #expect(ending.errors.contains("3 more"))
            try await command.expectSoundLog(events: 0)
        }
    }

    @Test func `a secret is neither printed nor stored, and a dropped body is reported`()
        async throws
    {
        try await withRefusals { command, settings, folder in
            let all = try await command.json(RejectionsDocument.self, "rejections").rejections
            let whole = try #require(all.first { $0.location.hasSuffix("v1.json") })
            let body = try await command.expect(0, "rejections", "--body", whole.digest)
            #expect(body == "{\"notification_type\":\"CANCEL\",\"password\":\"\"}")
            let cut = try #require(all.first { $0.location.hasSuffix("cut.json") })
            #expect(cut.bodyByteCount == nil)
            let ending = try await command.run("rejections", "--body", cut.digest)
            #expect(ending.code == 4 && ending.output.isEmpty)
            #expect(ending.errors.contains("password"), "\(ending.errors)")
            let never = String(repeating: "0", count: 64)
            let unknown = try await command.run("rejections", "--body", never)
            #expect(unknown.code == 4 && unknown.errors.contains(never))
            let held = try await settings.number(
                """
                SELECT count(*) FROM ledger.rejection r WHERE r::text LIKE '%\(Self.secret)%'
                    OR r::text LIKE '%' || encode('\(Self.secret)', 'hex') || '%'
                """
            )
            #expect(held == 0)
        }
    }

    @Test func `an unknown reason is refused with the known ones`() async throws {
        let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])
        let ending = try await command.run("rejections", "--reason", "unprooven")
        #expect(ending.code == 64)
        for word in ["unprooven", "unproven", "signature-invalid", "json-malformed"] {
            #expect(ending.errors.contains(word))
        }
    }

    @Test func `ingest quality counts runs, refusals, repetitions and restores`() async throws {
        let simulation = try await Simulation.shared
        try await withRefusals { command, settings, folder in
            let first = try await command.ingest(
                "--root-certificate",
                simulation.root,
                simulation.payloads
            )
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let quality = try await command.json(
                IngestQualityDocument.self,
                "report",
                "ingest-quality"
            )
            #expect(quality.sources.map(\.source) == ["file", "upload"])
            #expect(quality.sources.map(\.runs) == [2, 1])
            #expect(quality.sources[0].appended == Int64(first.appended))
            #expect(quality.sources[0].facts == Int64(2 * (first.appended + first.duplicates)))
            #expect(quality.sources[1].rejected == 4)
            #expect(
                quality.sources[1].rejectedByReason == [
                    "json-duplicate-name": 1, "unsupported-format": 1, "unproven": 1,
                    "json-malformed": 1,
                ]
            )
            #expect(quality.sources[1].duplicatePercent == nil, "no percentage of no facts")
            #expect(quality.total.payloads == Int64(2 * first.payloads + 4))
            let share = quality.total.duplicatePercent ?? 0
            #expect(share > 50 && share < 100)
            #expect(quality.total.restored > 0, "seed 9 restores")
            let further = quality.aliases.map(\.aliases).reduce(0, +)
            #expect(further == quality.total.restored)
            let text = try await command.expect(0, "report", "ingest-quality", "--source", "upload")
            #expect(text.contains("refused 1 × unproven"))
            let none = try await command.json(
                IngestQualityDocument.self,
                "report",
                "ingest-quality",
                "--since",
                "2099-01-01"
            )
            #expect(none.sources.isEmpty && none.total.runs == 0)
        }
    }

    /// Lends a ledger that refused four files.
    private func withRefusals(
        _ body: (Command, ConnectionSettings, TestFolder) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        for (name, text) in Self.files { try folder.write(name, Array(text.utf8)) }
        try await withLedger { command, settings in
            let report = try await command.ingest(exit: 65, "--source", "upload", folder.path)
            #expect(report.rejected == 4)
            // Again: nothing is stored twice. Under another name, so that its run can be
            // distinguished.
            try await body(command, settings, folder)
            _ = try await command.ingest(exit: 65, "--source", "again", folder.path)
            #expect(try await settings.number("SELECT count(*) FROM ledger.rejection") == 4)
        }
    }
}
