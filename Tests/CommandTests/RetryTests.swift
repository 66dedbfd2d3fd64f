import Foundation
import TestSupport
import Testing

/// `rejections --retry` ingests refused payloads again, and `--open` lists the rest.
@Suite(.enabled { await TestServer.isAvailable })
struct RetryTests {
    private static let file = IngestSummaryTests.ios6

    @Test func `refused payloads are ingested again with the options of ingest, and marked`()
        async throws
    {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let payloads = Array(try simulation.allPayloads().prefix(50))
        let lines = try folder.write("lines.ndjson", payloads.joined(separator: [0x0a]))
        try folder.write("not.txt", Array("what is this?".utf8))
        try await withLedger { command, settings in
            let refused = try await command.ingest(exit: 65, "--source", "upload", folder.path)
            #expect(refused.rejected == 51 && refused.appended == 0)
            let retry = ["rejections", "--retry", "--json", "--root-certificate", simulation.root]
            let output = try await command.expect(65, retry)
            let report = try JSONDecoder().decode(IngestDocument.self, from: Data(output.utf8))
            #expect(report.payloads == 51 && report.rejected == 1 && report.appended > 0)
            #expect(report.rejections.map(\.reason) == ["unsupported-format"])
            let open = try await command.json(RejectionsDocument.self, "rejections", "--open")
            #expect(open.rejections.map(\.reason) == ["unsupported-format"])
            let all = try await command.json(RejectionsDocument.self, "rejections").rejections
            #expect(all.count == 51 && all.count { $0.takenAt == nil } == 1)
            let sources = "SELECT string_agg(DISTINCT source, ',') FROM ledger.evidence"
            #expect(try await settings.text(sources) == "upload", "their channel")
            // Again, and the originals: nothing is left to do.
            let again = try await command.run(retry)
            #expect(again.output.contains("\"payloads\":1,"))
            let original = try await command.ingest("--root-certificate", simulation.root, lines)
            #expect(original.appended == 0 && original.rejected == 0)
            try await command.expectSoundLog(events: Int64(report.appended))
        }
    }

    @Test func `rejections are listed in the order of the input, the newest run first`()
        async throws
    {
        let folder = try TestFolder()
        let lines = try (1...2).map { run in
            try folder.write(
                "\(run).ndjson",
                Array((1...700).map { "{\"run\":\(run),\"n\":\($0)}\n" }.joined().utf8)
            )
        }
        try await withLedger { command, _ in
            for file in lines { _ = try await command.ingest(exit: 65, file) }
            let listed = try await command.json(
                RejectionsDocument.self,
                "rejections",
                "--limit",
                "2000"
            ).rejections.map(\.location)
            #expect(
                listed == lines.reversed().flatMap { file in (1...700).map { "\(file)#\($0)" } }
            )
        }
    }

    @Test
    func `a refused payload of a hundred thousand bytes is kept whole, a larger one in part`()
        async throws
    {
        let folder = try TestFolder()
        for (name, count) in [("normal", 98_842), ("large", 2_000_000)] {
            let pad = String(repeating: "x", count: count)
            let body = Self.file.replacing(
                "{\"status\":0,",
                with: "{\"status\":0,\"pad\":\"\(pad)\","
            )
            .replacing("\"2\"", with: "\"\(count)\"")
            try folder.write("\(name).json", Array(body.utf8))
        }
        try await withLedger { command, _ in
            _ = try await command.ingest(exit: 65, folder.path)
            let retry = ["rejections", "--retry", "--vouch", "--assume-environment", "sandbox"]
            let ending = try await command.run(retry)
            #expect(ending.code == 65)
            #expect(ending.output.hasPrefix("2 payloads: 1 fact appended"), "\(ending.output)")
            #expect(ending.errors.contains("refused: 1 payload [body-not-kept]"))
            #expect(ending.errors.contains("only its first 1048576 were kept"))
            // The original is accepted, and then nothing is open.
            let original = folder.path(of: "large.json")
            _ = try await command.ingest("--vouch", "--assume-environment", "sandbox", original)
            let nothing = try await command.expect(0, ["rejections", "--open"])
            #expect(
                nothing
                    == "no open rejections: no payload was refused, or all were accepted later\n"
            )
            let last = try await command.run(retry)
            #expect(last.code == 0 && last.output.hasPrefix("0 payloads: 0 facts appended"))
        }
    }

    @Test func `a payload refused again stays open, and is tried once per run`()
        async throws
    {
        let folder = try TestFolder()
        let file = try folder.write("ios6.json", Array(Self.file.utf8))
        try await withLedger { command, _ in
            _ = try await command.ingest(exit: 65, file)
            let first = try await command.run("rejections", "--retry", "--vouch")
            #expect(first.code == 65 && first.output.hasPrefix("1 payload: "), "\(first.output)")
            #expect(first.errors.contains("[environment-unknown]"))
            let open = try await command.json(RejectionsDocument.self, "rejections", "--open")
            #expect(open.rejections.map(\.reason) == ["environment-unknown", "unproven"])
            #expect(Set(open.rejections.map(\.digest)).count == 1)
            #expect(Set(open.rejections.map(\.location)) == [file])
            let second = try await command.run(
                "rejections",
                "--retry",
                "--vouch",
                "--assume-environment",
                "Production"
            )
            #expect(second.code == 0 && second.output.hasPrefix("1 payload: 1 fact appended"))
            #expect(
                try await command.json(RejectionsDocument.self, "rejections", "--open").count == 0
            )
        }
    }

    @Test func `a password that was not kept is the reported reason why its secret proves nothing`()
        async throws
    {
        let folder = try TestFolder()
        let secret = try folder.write("secret", Array("s3cret".utf8))
        let body = """
            {"notification_type":"CANCEL","password":"s3cret","environment":"PROD",\
            "latest_receipt_info":\(Self.file.dropFirst("{\"status\":0,\"receipt\":".count))
            """
        let file = try folder.write("v1.json", Array(body.utf8))
        try await withLedger { command, _ in
            _ = try await command.ingest(exit: 65, file)
            let retry = try await command.run(
                "rejections",
                "--retry",
                "--shared-secret-file",
                secret
            )
            #expect(retry.code == 65)
            #expect(retry.errors.contains("the shared secret can only prove the original"))
            let original = try await command.ingest("--shared-secret-file", secret, file)
            #expect(original.appended > 0)
            #expect(
                try await command.json(RejectionsDocument.self, "rejections", "--open").count == 0
            )
        }
    }

    @Test
    func `a live payload stays live when it is ingested later, an imported one stays imported`()
        async throws
    {
        let simulation = try await Simulation.shared
        let payloads = Array(try simulation.allPayloads().prefix(40))
        let folder = try TestFolder()
        let files = try [payloads.prefix(20), payloads.suffix(20)].enumerated().map {
            try folder.write("\($0.offset).ndjson", $0.element.joined(separator: [0x0a]))
        }
        try await withLedger { command, settings in
            _ = try await command.ingest(exit: 65, "--source", "live", "--live", files[0])
            _ = try await command.ingest(exit: 65, "--source", "old", files[1])
            // Refused again for another reason, it keeps its channel.
            try await command.expect(
                65,
                ["rejections", "--retry", "--root-certificate", simulation.root]
                    + ["--bundle-id", "com.example.other"]
            )
            try await command.expect(
                0,
                "rejections",
                "--retry",
                "--root-certificate",
                simulation.root
            )
            let arrivals = """
                SELECT string_agg(DISTINCT source || ' ' || is_imported::text, ', ')
                FROM ledger.evidence
                """
            #expect(try await settings.text(arrivals) == "live false, old true")
        }
    }

    @Test func `a payload left out for lack of proof stays open`() async throws {
        let folder = try await IngestSummaryTests.unsigned.value
        let root = folder.path(of: "root.der")
        try await withLedger { command, _ in
            // Without the root certificate, that is what is missing, before any voucher.
            let refused = try await command.ingest(exit: 65, folder.path)
            #expect(refused.rejectedByReason.map(\.reason) == ["chain-untrusted"])
            #expect(
                refused.rejectedByReason.first?.advice?.hasPrefix("--root-certificate FILE") == true
            )
            let retry = ["rejections", "--retry", "--json", "--root-certificate", root]
            let first = try await command.expect(0, retry)
            let report = try JSONDecoder().decode(IngestDocument.self, from: Data(first.utf8))
            #expect(report.appended > 0 && report.leftOut > 0)
            let open = try await command.json(RejectionsDocument.self, "rejections", "--open")
            #expect(open.count == Int64(report.notices.count))
            let second = try await command.expect(0, retry + ["--vouch"])
            let rest = try JSONDecoder().decode(IngestDocument.self, from: Data(second.utf8))
            #expect(rest.appended > 0 && rest.leftOut == 0)
            #expect(
                try await command.json(RejectionsDocument.self, "rejections", "--open").count == 0
            )
        }
    }

    @Test func `options of ingest without --retry are an error`() async throws {
        let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])
        for arguments in [["--vouch"], ["--bundle-id", "a"], ["--assume-environment", "sandbox"]] {
            let ending = try await command.run(["rejections"] + arguments)
            #expect(ending.code == 64 && ending.errors.contains("need --retry"))
        }
    }
}
