import AppStoreSimulator
import EventLog
import Events
import Foundation
import Projections
import Subledger
import TestSupport
import Testing

/// A reader of the feed knows what the log knows.
@Suite(.enabled { await TestServer.isAvailable })
struct FeedFoldTests {
    @Test(arguments: [false, true])
    func `folding the feed gives the rows that folding the log gives`(
        hasExtras: Bool
    ) async throws {
        let seed: UInt64 = 20_261_128
        let lives = Acceptance.isRunning ? 1_000 : 120
        let simulator = AppStoreSimulator(seed: seed, extras: hasExtras ? .all : [])
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try simulator.verifier()
            )
            try await ledger.ingest(simulator.sampleHistory(count: lives).disordered(seed: seed))

            var fed: [StreamID: StreamHistory] = [:]
            var lines: [UInt8] = []
            var feed = try await ledger.log.feed(after: .beginning)
            while let page = try await feed.nextPage() {
                var writer = FeedLine(page)
                for line in page.lines() { writer.append(line, to: &lines) }
                for one in page.events {
                    let stream = one.event.fact.stream
                    fed[stream, default: Self.empty(stream)].events.append(one.event)
                }
                for one in page.confirmations {
                    fed[one.stream, default: Self.empty(one.stream)].confirmations
                        .append(one.confirmation)
                }
            }

            var revoked: Set<String> = []
            var changedCount = 0
            for (stream, history) in fed {
                let known = try await ledger.log.history(of: stream)
                #expect(history.events == known.events)
                var bare = history
                bare.confirmations = []
                revoked.formUnion(try Self.revoked(known))
                for projection in allProjections {
                    let expected = try Self.rows(projection, of: known)
                    let found = try Self.rows(projection, of: history)
                    #expect(
                        found == expected,
                        "seed \(seed): \(projection.name) of \(stream.originalTransactionId)"
                    )
                    if try Self.rows(projection, of: bare) != expected { changedCount += 1 }
                }
            }
            #expect(changedCount > 0, "no confirmation changed a row; seed \(seed)")
            await ledger.log.close()
            // The script does not know refunds of seats, which only notifications state.
            if hasExtras { return }
            let folded = try await Self.foldedInPython(lines)
            let difference = folded.symmetricDifference(revoked).sorted()
            #expect(difference.isEmpty && !revoked.isEmpty, "seed \(seed): \(difference)")
        }
    }

    // What fold_feed.py prints for these lines.
    private static func foldedInPython(_ lines: [UInt8]) async throws -> Set<String> {
        let folder = try TestFolder()
        let feed = try folder.write("feed.ndjson", lines)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("fold_feed.py").path
        let folded = try await Program(path: "/usr/bin/env").run(
            ["python3", "-B", script],
            inputFile: feed
        )
        #expect(folded.code == 0, "\(folded.errors)")
        return Set(folded.output.split(separator: "\n").map(String.init))
    }

    // The purchases that Apple has taken back, in the same form.
    private static func revoked(_ history: StreamHistory) throws -> [String] {
        let projection = try #require(allProjections.first { $0.name == "transactions" })
        let context = FoldContext(catalogs: .simulated)
        return try projection.rows(of: Timeline(history), in: context).compactMap { row in
            let values = Dictionary(uniqueKeysWithValues: zip(projection.columns, row.values))
            guard values["refunded_at"] != .null,
                case .integer(let date) = values["purchase_date_ms"],
                case .text(let product) = values["product_identifier"]
            else { return nil }
            let stream = history.stream
            return
                "\(stream.environment.word)\t\(stream.originalTransactionId)\t\(date)\t\(product)"
        }
    }

    private static func empty(_ stream: StreamID) -> StreamHistory {
        StreamHistory(stream: stream, events: [], confirmations: [])
    }

    // Values by column.
    private static func rows(
        _ projection: any Projection,
        of history: StreamHistory
    ) throws -> [String] {
        let context = FoldContext(catalogs: .simulated)
        return try projection.rows(of: Timeline(history), in: context).map { row in
            zip(projection.columns, row.values).map { "\($0)=\($1)" }.joined(separator: " ")
        }
    }
}
