import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

@testable import App

/// The README's projection, as a newcomer would add it.
@Suite(.enabled { await TestServer.isAvailable })
struct TrialsTests {
    @Test func `a custom projection is rebuilt and read next to all others`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let filled = try await FilledLedger.open(settings)
            let ledger = Ledger(
                log: filled.log,
                verifier: filled.verifier,
                projections: App.projections
            )
            let trials = try #require(try await ledger.prepare().last)
            #expect(trials.name == "trials")
            let again = try await ledger.projector.rebuild([Trials()])
            #expect(again.map(\.digest) == [trials.digest])
            let session = try await PostgresSession.connect(settings)
            let found = try await session.query(
                """
                SELECT concat_ws(' ', product_identifier, extract(epoch FROM ends_at)::bigint,
                    has_converted, cardinality(positions) > 0)
                FROM projection.trials ORDER BY 1
                """
            ).map { try $0.text(0) }
            #expect(found.count == trials.rows)
            #expect(found == Self.truth)
            #expect(
                found.contains { $0.contains(" t t") } && found.contains { $0.contains(" f t") }
            )
            await session.close()
            await ledger.log.close()
        }
    }

    @Test func `a custom table has the columns that every table has, and cites each event once`()
        throws
    {
        let ddl = Trials().tableSQL
        for column in ProjectionRow.streamColumns + Trials().columns + ["positions"] {
            #expect(ddl.contains("\n    \(column) "), "\(column)")
        }
        let positions = [3, 1, 3].map { Position(lane: .only, offset: $0) }
        let row = ProjectionRow(.null, causedBy: positions)
        #expect(row.positions.map(\.offset) == [1, 3])
        #expect(row.values == [.null])
    }

    // The simulator's truth: what was free for a time by an offer, and whether a payment followed.
    private static var truth: [String] {
        FilledLedger.simulator.lives(FilledLedger.lives).flatMap { life in
            let transactions = life.transactions
            let introductory = Set(life.periods.filter { $0.kind == .trial }.map(\.purchaseDate))
            return transactions.indices.filter { index in
                transactions[index].purchasePriceMilliunits == 0
                    || introductory.contains(transactions[index].startTime)
            }
            .map { index in
                let (trial, next) = (transactions[index], transactions[(index + 1)...].first)
                let end = trial.endTime.milliseconds / 1000
                return "\(trial.productId) \(end) \(next?.isTrialConversion == true ? "t" : "f") t"
            }
        }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
