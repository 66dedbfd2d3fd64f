import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Subledger
import TestSupport
import Testing

/// The way of a payload through PostgreSQL.
@Suite(.enabled { await TestServer.isAvailable })
struct TruthInDatabaseTests {
    @Test(arguments: [FilledLedger.plain, FilledLedger.divided])
    func `a ledger in PostgreSQL contains the whole truth`(template: TestTemplate) async throws {
        try await TestServer.shared.withDatabase(from: template) { settings in
            let ledger = try await FilledLedger.open(settings)
            for life in FilledLedger.simulator.lives(FilledLedger.lives) {
                let found = try await ledger.periods(of: life.stream)
                let difference = life.difference(found, by: "PostgreSQL")
                #expect(difference == nil, "\(difference ?? "")")
            }
            #expect(try await ledger.log.verify().isOK)
            await ledger.log.close()
        }
    }

    @Test func `ingesting everything again, reversed and by other channels, adds nothing`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let simulator = FilledLedger.simulator
            let heads = try await ledger.log.heads()
            let again = simulator.sampleHistory(count: FilledLedger.lives).reversed()
            #expect(try await ledger.ingest(again).appended == 0)
            #expect(try await ledger.log.heads() == heads)
            for life in simulator.lives(FilledLedger.lives) {
                // A poll repeats its instant's notification: its transactions and renewal snapshots
                // are not news, but it has no notification.
                let instant = try #require(life.horizon)
                try await ledger.ingest([life.statuses(asOf: instant)])
                let found = try await ledger.periods(of: life.stream)
                let difference = life.difference(found, by: "PostgreSQL and a poll")
                #expect(difference == nil, "\(difference ?? "")")
            }
            #expect(try await ledger.log.heads().mapValues(\.offset) == heads.mapValues(\.offset))
            #expect(try await ledger.log.verify().isOK)
            await ledger.log.close()
        }
    }

    @Test func `an earlier position gives the earlier truth`() async throws {
        let simulator = AppStoreSimulator(seed: 5)
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = Ledger(
                log: try await EventLog.open(settings, FilledLedger.options),
                verifier: try simulator.verifier()
            )
            for life in simulator.lives(12) {
                var known: [(Instant, Int64)] = []
                let sent = (life.notifications() + life.silentPolls()).sorted {
                    $0.signedAt < $1.signedAt
                }
                for delivery in sent {
                    try await ledger.ingest([delivery])
                    guard delivery.channel == .notification else { continue }
                    known.append((delivery.signedAt, try await ledger.log.heads()[0]?.offset ?? 0))
                }
                for (instant, offset) in known {
                    let found = try await ledger.periods(
                        of: life.stream,
                        knownAt: .offsets([0: offset])
                    )
                    let difference = life.difference(
                        found,
                        from: life.periods(asOf: instant),
                        by: "notifications up to \(instant)"
                    )
                    #expect(difference == nil, "\(difference ?? "")")
                }
            }
            await ledger.log.close()
        }
    }
}

extension TestTemplate {
    /// An empty ledger of one lane.
    static let migrated = TestTemplate("migrated") {
        _ = try await Migrator.migrate($0, .single)
    }
}
