import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Projector
import Subledger
import TestSupport
import Testing

/// Kills the ingesting processes and the server during appends, again and again.
///
/// Nothing here depends on time: a kill happens after a number of acknowledgements has been read.
@Suite(.enabled { await TestServer.isAvailable }, .serialized)
struct CrashTests {
    /// Rounds per ledger; there are two ledgers.
    private static let rounds = 26

    @Test(arguments: [1, 4])
    func `every acknowledged fact survives kill -9, exactly once`(lanes: Int) async throws {
        let seed = UInt64(20_261_121 + lanes)
        let server = try await CrashServer()
        var crash = try await CrashLedger(seed: seed, lanes: lanes, server: server)
        for round in 1...Self.rounds {
            let kinds = try await crash.round(round)
            let wrong = try await crash.check()
            #expect(wrong.isEmpty, "seed \(seed), round \(round) (\(kinds)): \(wrong)")
            if !wrong.isEmpty { return }
        }
        print(
            "crash test, seed \(seed): \(crash.acknowledged.count) of \(crash.payloads.count) "
                + "payloads acknowledged in \(Self.rounds) rounds, \(crash.serverKills) kills of "
                + "the server, \(crash.childKills) of an ingesting process"
        )
        #expect(crash.serverKills > 5, "seed \(seed)")
        #expect(crash.childKills > 5, "seed \(seed)")
        try await expectUndisturbed(crash, seed: seed)
        await server.stop()
    }

    /// Kills per run; `SUBLEDGER_KILLS` sets another number.
    private static let kills =
        ProcessInfo.processInfo.environment["SUBLEDGER_KILLS"].flatMap { Int($0) } ?? 50

    @Test
    func `among erasures and checkpoints nothing acknowledged is lost and nothing erased returns`()
        async throws
    {
        let server = try await CrashServer()
        var kills = 0
        var erasures = 0
        var number: UInt64 = 0
        while kills < Self.kills {
            let seed = 20_261_122 + number
            number += 1
            let lanes = number % 2 == 0 ? 4 : 1
            var crash = try await CrashLedger(
                seed: seed,
                lanes: lanes,
                erases: true,
                server: server
            )
            var round = 0
            while kills + crash.kills < Self.kills, crash.hasWork {
                round += 1
                let kinds = try await crash.round(round)
                let wrong = try await crash.check()
                #expect(wrong.isEmpty, "seed \(seed), round \(round) (\(kinds)): \(wrong)")
                if !wrong.isEmpty { return await server.stop() }
            }
            kills += crash.kills
            erasures += crash.erased.count
            print(
                "crash test with erasures, seed \(seed): \(crash.acknowledged.count) payloads, "
                    + "\(crash.erased.count) erasures acknowledged in \(round) rounds; killed: "
                    + "\(crash.serverKills) servers, \(crash.backendKills) backends, "
                    + "\(crash.childKills) writers"
            )
            try await crash.drop()
        }
        #expect(erasures > 0, "no erasure was acknowledged")
        await server.stop()
    }

    /// Ingests everything again: acknowledged payloads are not news, and the result equals a ledger
    /// that was never disturbed.
    private func expectUndisturbed(_ crash: CrashLedger, seed: UInt64) async throws {
        let ledger = try await crash.open(crash.settings)
        let acknowledged = crash.payloads.indices.filter(crash.acknowledged.contains)
        let again = try await ledger.ingest(acknowledged.map { crash.payloads[$0] })
        #expect(again.appended == 0, "seed \(seed): acknowledged facts were lost")
        #expect(again.rejected == 0, "seed \(seed)")
        try await ledger.ingest(crash.payloads)
        #expect(try await ledger.ingest(crash.payloads).appended == 0, "seed \(seed)")
        let events = try await crash.check()
        #expect(events.isEmpty, "seed \(seed): \(events)")

        let undisturbed = try await crash.undisturbedLedger()
        let (mine, theirs) = (
            try await Projector(log: ledger.log, settings: crash.settings).rebuild(),
            try await Projector(log: undisturbed.ledger.log, settings: undisturbed.settings)
                .rebuild()
        )
        #expect(mine.map(\.digest) == theirs.map(\.digest), "seed \(seed)")
        #expect(mine.map(\.rows) == theirs.map(\.rows), "seed \(seed)")
        let streams = try await ledger.log.streams(limit: 10_000).map(\.stream)
        #expect(
            try await undisturbed.ledger.log.streams(limit: 10_000).map(\.stream) == streams,
            "seed \(seed)"
        )
        await undisturbed.ledger.log.close()
        await ledger.log.close()
    }
}
