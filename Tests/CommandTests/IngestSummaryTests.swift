import Foundation
import TestSupport
import Testing

/// What `ingest` prints about the data that it leaves out or refuses.
@Suite(.enabled { await TestServer.isAvailable })
struct IngestSummaryTests {
    /// verifyReceipt responses and version 1 notifications whose receipts do not prove everything.
    static let unsigned = Task {
        let folder = try TestFolder()
        try await Command(environment: [:]).expect(
            0,
            "simulate",
            "--quiet",
            "--subscriptions",
            "20",
            "--seed",
            "9",
            "--format",
            "verify-receipt,v1",
            "--out",
            folder.path
        )
        return folder
    }

    @Test func `a forgotten --vouch gives one group with the flag, not thousands of lines`()
        async throws
    {
        let folder = try await Self.unsigned.value
        let root = folder.path(of: "root.der")
        try await withLedger { command, _ in
            let ending = try await command.run("ingest", "--root-certificate", root, folder.path)
            #expect(ending.code == 0)
            // A slow machine prints progress as well.
            let lines = ending.errors.split(separator: "\n").filter { !$0.hasPrefix("ingest: ") }
            #expect(lines.count == 4, "\(ending.errors)")
            #expect(
                lines.first?.contains(/left out: \d+ facts of \d+ payloads \[unproven-left/) == true
            )
            #expect(lines.dropFirst().first?.contains("for example \(folder.path)/") == true)
            #expect(lines.dropFirst(2).first?.contains("to accept them: --vouch, if you") == true)
            #expect(ending.output.contains(/; \d+ facts left out/))
            let report = try await command.ingest("--root-certificate", root, folder.path)
            let group = try #require(report.leftOutByReason.first)
            #expect(report.leftOutByReason.count == 1 && report.rejectedByReason.isEmpty)
            #expect(group.reason == "unproven-left-out")
            #expect(group.facts == report.leftOut && group.facts > 100)
            #expect(group.payloads == report.notices.count)
            #expect(group.example == report.notices.first?.path, "the first of the input")
            #expect(group.advice?.hasPrefix("--vouch") == true)
            let vouched = try await command.ingest(
                "--vouch",
                "--root-certificate",
                root,
                folder.path
            )
            #expect(vouched.leftOutByReason.isEmpty && vouched.appended > 0)
        }
    }

    @Test func `--strict exits with 65 if anything was left out, -q prints only the result line`()
        async throws
    {
        let folder = try await Self.unsigned.value
        let arguments = ["ingest", "--root-certificate", folder.path(of: "root.der"), folder.path]
        try await withLedger { command, _ in
            try await command.expect(65, arguments + ["--strict"])
            let quiet = try await command.run(arguments + ["-q"])
            #expect(quiet.code == 0 && quiet.errors.isEmpty)
            #expect(quiet.output.split(separator: "\n").count == 1)
            try await command.expect(0, arguments + ["--strict", "--vouch"])
            let report = try await command.ingest(
                "--root-certificate",
                folder.path(of: "root.der"),
                folder.path
            )
            let verbose = try await command.run(arguments + ["--verbose"])
            let single = verbose.errors.split(separator: "\n").filter { $0.hasPrefix("notice   ") }
            #expect(single.count == report.notices.count)
            #expect(zip(single, report.notices).allSatisfy { $0.contains($1.path) })
        }
    }

    @Test func `refusals are grouped by reason, with the option that would accept them`()
        async throws
    {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let genuine = try simulation.allPayloads().prefix(30).joined(separator: [0x0a])
        try folder.write("1.ndjson", genuine)
        try folder.write("2.json", Array(Self.ios6.utf8))
        try folder.write("3.json", Array("{\"a\":1,\"a\":2}".utf8))
        try await withLedger { command, _ in
            let ending = try await command.run("ingest", "--vouch", folder.path)
            #expect(ending.code == 65)
            for words in [
                "refused: 30 payloads",
                "[chain-untrusted]\n  for example \(folder.path)/1.ndjson#1: ",
                "to accept them: --root-certificate FILE",
                "refused: 1 payload with 1 fact or more [environment-unknown]",
                "to accept it: --assume-environment Production",
                "refused: 1 payload [json-duplicate-name]",
                "`subledger rejections` lists the refused ones",
            ] {
                #expect(ending.errors.contains(words), "\(words): \(ending.errors)")
            }
            let other = try await command.ingest(
                exit: 65,
                "--root-certificate",
                simulation.root,
                "--bundle-id",
                "com.example.other",
                "--environment",
                "SANDBOX",
                folder.path
            )
            let advice = Dictionary(
                uniqueKeysWithValues: other.rejectedByReason.map { ($0.reason, $0.advice) }
            )
            #expect(advice["bundle-id-mismatch"] == "--bundle-id ID for each app that is yours")
            #expect(advice["unproven"]??.contains("--vouch") == true)
            #expect(advice["json-duplicate-name"] == .some(nil))
        }
    }

    @Test func `no environment is guessed: iOS 6 is refused, and accepted once it is named`()
        async throws
    {
        let folder = try TestFolder()
        let file = try folder.write("ios6.json", Array(Self.ios6.utf8))
        try await withLedger { command, settings in
            let refused = try await command.ingest(exit: 65, "--vouch", file)
            #expect(refused.rejections.map(\.reason) == ["environment-unknown"])
            try await command.expectSoundLog(events: 0)
            let taken = try await command.ingest(
                "--vouch",
                "--assume-environment",
                "PRODUCTION",
                file
            )
            #expect(taken.appended > 0)
            let streams = "SELECT count(DISTINCT environment) FROM ledger.event"
            #expect(try await settings.number(streams) == 1)
            let open = try await command.json(RejectionsDocument.self, "rejections", "--open")
            #expect(open.count == 0, "ingested later")
            #expect(try await command.json(RejectionsDocument.self, "rejections").count == 1)
        }
    }

    static let ios6 = """
        {"status":0,"receipt":{"original_transaction_id":"1","transaction_id":"2",\
        "product_id":"p","bid":"com.example","purchase_date_ms":"1355271005612",\
        "expires_date":"1355271305612","expires_date_formatted":"2012-12-12 00:15:05 Etc/GMT",\
        "item_id":"5","bvrs":"1.0","unique_identifier":"aa","is_trial_period":"false"}}
        """
}
