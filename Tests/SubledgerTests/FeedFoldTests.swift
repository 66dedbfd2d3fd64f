import AppStoreSimulator
import EventLog
import Events
import Projections
import Subledger
import TestSupport
import Testing

/// A reader of the feed knows what the log knows.
@Suite(.enabled { await TestServer.isAvailable })
struct FeedFoldTests {
    @Test func `folding the feed gives the rows that folding the log gives`() async throws {
        let seed: UInt64 = 20_261_128
        let lives = Acceptance.isRunning ? 1_000 : 200
        let simulator = AppStoreSimulator(seed: seed, extras: .all)
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try simulator.verifier()
            )
            try await ledger.ingest(simulator.sampleHistory(count: lives).disordered(seed: seed))

            var fed: [StreamID: StreamHistory] = [:]
            var feed = try await ledger.log.feed(after: .beginning)
            while let page = try await feed.nextPage() {
                for one in page.events {
                    let stream = one.event.fact.stream
                    fed[stream, default: Self.empty(stream)].events.append(one.event)
                }
                for one in page.confirmations {
                    fed[one.stream, default: Self.empty(one.stream)].confirmations
                        .append(one.confirmation)
                }
            }

            var changedCount = 0
            for (stream, history) in fed {
                let known = try await ledger.log.history(of: stream)
                #expect(history.events == known.events)
                var bare = history
                bare.confirmations = []
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
