import EventLog
import Events
import Foundation
import TestSupport
import Testing

/// Every help text, and what every question prints about one fixed ledger.
@Suite(.enabled { await TestServer.isAvailable })
struct GoldenTests {
    @Test func `help texts are those kept`() async throws {
        let texts = try await CommandHelp.endings.value.map { help, ending in
            ((["subledger"] + help.path).joined(separator: " "), ending.output)
        }
        try Golden.compare(texts, with: "Goldens/help.txt")
    }

    /// One after the other, because some write what the next ones read.
    @Test func `what commands print about one ledger is what is kept`() async throws {
        try await withLedger { command, settings in
            try await settings.meddle(String(contentsOf: Self.file("ledger.sql"), encoding: .utf8))
            let folder = try TestFolder()
            let places = [
                "{folder}": folder.path, "{catalog}": Self.file("catalog.storekit").path,
                "{rates}": try folder.write("rates.csv", Data(Self.rates.utf8)),
                "{links}": try folder.write("links.csv", Data(Self.links.utf8)),
            ]
            let start = Instant.systemClock()
            var (texts, documents): ([(String, String)], [(String, String)]) = ([], [])
            for line in Self.lines {
                let words = line.split(separator: " ").map { word in
                    places.reduce(String(word)) { $0.replacing($1.key, with: $1.value) }
                }
                let mask = OutputMask(
                    places: places,
                    start: start,
                    hidesAges: line == "report gaps"
                )
                let ending = try await command.run(words)
                texts.append(
                    (
                        line,
                        mask.text("exit \(ending.code)\n\(ending.output)\(errors(ending.errors))")
                    )
                )
                guard !Self.writing.contains(where: line.hasPrefix), line != "feed" else {
                    continue
                }
                let document = try await command.run(words + ["--json"])
                documents.append(
                    (line, mask.json("exit \(document.code)\n\(document.output)"))
                )
            }
            try Golden.compare(texts, with: "Goldens/answers.txt")
            try Golden.compare(documents, with: "Goldens/documents.txt")
        }
    }

    private static func file(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Goldens/\(name)")
    }

    private func errors(_ text: String) -> String {
        text.isEmpty ? "" : "-------- stderr\n\(text)"
    }

    private static let rates = """
        date,currency,base_currency,rate
        2025-01-01,JPY,EUR,0.0061
        2025-01-01,USD,EUR,0.96

        """

    private static let links = """
        customer,id
        ann,307000000000000
        ann,307000000003000
        bob,307000000005000

        """

    /// Commands that would write twice, or have no `--json`.
    private static let writing = [
        "catalog import", "rates import", "customers import", "customers link",
        "customers unlink", "tokens", "erase", "migrate", "rebuild", "follow", "tables promote",
        "tables discard", "repair", "evidence move", "export", "checkpoint",
    ]

    // With --at where an answer depends on the time at which it is asked.
    private static let lines = """
        access 307000000000000 --at 2025-02-01
        access 307000000000000 --at 2025-03-01
        access 307000000001000 --at 2025-08-20
        access 307000000001010 --at 2025-08-20
        access 307000000002000 --at 2025-12-01
        access 307000000004000 --at 2025-05-01
        access nobody --at 2025-03-01
        explain 307000000000000 --at 2025-02-01
        explain 307000000000000 --at 2025-03-01
        explain 307000000001000 --at 2025-08-20
        explain 307000000001000 --at 2025-08-20 --known-at 40
        explain 307000000002000 --at 2025-12-01
        explain 307000000004000 --at 2025-05-10
        explain nobody --at 2025-03-01
        periods 307000000000000
        periods 307000000001000
        periods 307000000004000
        periods 307000000005000
        state 307000000000000 --at 2025-02-01
        state 307000000001000 --at 2025-08-20
        changes 307000000000000
        charges 307000000000000
        changes 307000000001000
        refunds 307000000000000
        refunds 307000000004000
        eligibility 307000000005000 --at 2025-03-01
        history 307000000000000
        history 307000000004000
        diff 307000000001000 --known 1..141 --at 2025-08-20
        replay 307000000000000
        blame 307000000001000 --at 2025-08-20
        event 7
        event 63
        due --within 30d --at 2025-02-05
        streams
        catalog list
        catalog import {catalog}
        catalog list
        catalog show
        rates import {rates}
        rates list
        customers import {links} --reason import --by ops
        customers list
        customers show ann
        customers claims
        access ann --at 2025-03-01
        eligibility ann --at 2025-03-01
        changes 307000000000000
        charges 307000000000000
        customers unlink ann 307000000003000 --reason support --by ops
        rejections
        tables list
        rebuild
        follow --once
        tables list
        tables check
        tables diff
        tables promote
        tables discard
        verify
        report list
        report ask retention --from 2024-06-01 --to 2025-03-31
        report ask cancelled-in-period --from 2024-06-01 --to 2025-03-31
        report ask payments --from 2025-01-01 --to 2025-12-31
        report ask renewals --from 2025-01-01 --to 2025-12-31
        report ask switches --from 2025-01-01 --to 2025-12-31
        report ask active --from 2025-01-01 --to 2025-12-31
        report ask churn --from 2025-01-01 --to 2025-12-31 --by month
        report ask trial-conversion --from 2024-01-01 --to 2025-12-31
        report ask initial-conversion --from 2024-01-01 --to 2025-12-31
        report ask recovery --from 2025-01-01 --to 2025-12-31
        report ask seats --from 2025-01-01 --to 2025-12-31
        report ask mrr --from 2025-01-01 --to 2025-06-30
        report ask revenue --from 2025-01-01 --to 2025-12-31 --currency EUR
        report ask revenue --from 2025-01-01 --to 2025-03-31 --commission standard --by product
        report ask revenue --from 2025-01-01 --to 2025-12-31 --changed-since 60
        report ask refund-rate --from 2025-01-01 --to 2025-12-31
        report ask ltv --from 2024-06-01 --to 2025-12-31
        report ask cohorts --from 2025-01-01 --to 2025-03-31
        report anomalies
        report wrong-answers
        report gaps
        report drift
        report ingest-quality
        feed
        effects
        migrate status
        migrate up
        checkpoint
        tokens create ops --role support
        tokens list
        tokens revoke ops
        export transactions --out {folder}/export
        repair --reason test --by ops
        erase returned
        erase subscription 307000000000000 --reason request --by ops
        access 307000000000000 --at 2025-02-01
        history 307000000000000
        """.split(separator: "\n").map(String.init)
}
