import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// Kills the ingesting processes and the server during appends, again and again.
///
/// Nothing here depends on time: a kill happens after a number of acknowledgements has been read.
@Suite(.enabled { await TestServer.isAvailable }, .serialized)
struct CrashTests {
    /// Rounds per ledger; there are two ledgers.
    private static let rounds = Acceptance.count("SUBLEDGER_ROUNDS", test: 9, acceptance: 26)

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
        #expect(crash.serverKills > Self.rounds / 5, "seed \(seed)")
        #expect(crash.childKills > Self.rounds / 5, "seed \(seed)")
        try await crash.expectUndisturbed()
        await server.stop()
    }

    /// Kills per run; `SUBLEDGER_KILLS` sets another number.
    private static let kills = Acceptance.count("SUBLEDGER_KILLS", test: 20, acceptance: 1000)

    @Test
    func
        `among erasures, repairs and checkpoints nothing acknowledged is lost and nothing erased returns`()
        async throws
    {
        let server = try await CrashServer()
        var kills = 0
        var (erasures, repairs) = (0, 0)
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
            repairs += crash.repairs
            print(
                "crash test with erasures, seed \(seed): \(crash.acknowledged.count) payloads, "
                    + "\(crash.erased.count) erasures and \(crash.repairs) repairs acknowledged in "
                    + "\(round) rounds; killed: "
                    + "\(crash.serverKills) servers, \(crash.backendKills) backends, "
                    + "\(crash.childKills) writers"
            )
            try await crash.drop()
        }
        #expect(erasures > 0, "no erasure was acknowledged")
        #expect(repairs > 0, "no repair was acknowledged")
        await server.stop()
    }

    /// Failovers per run; `SUBLEDGER_FAILOVERS` sets another number.
    private static let failovers =
        Acceptance.count("SUBLEDGER_FAILOVERS", test: 2, acceptance: 10)

    @Test(.enabled(if: Acceptance.isRunning, "make acceptance runs it"), arguments: [1, 4])
    func `a failover to a synchronous standby loses nothing that was acknowledged`(
        lanes: Int
    ) async throws {
        let seed = UInt64(20_261_125 + lanes)
        let server = try await ReplicatedServer(isSynchronous: true)
        var crash = try await CrashLedger(seed: seed, lanes: lanes, server: server)
        var options = VerificationOptions()
        var round = 0
        while crash.serverKills < Self.failovers {
            round += 1
            let kinds = try await crash.round(round)
            let wrong = try await crash.check()
            #expect(wrong.isEmpty, "seed \(seed), round \(round) (\(kinds)): \(wrong)")
            if !wrong.isEmpty { return await server.stop() }
            // What was recorded of a standby is still there after later failovers.
            var standby = await server.standby
            standby.database = crash.settings.database
            let copy = try await EventLog.open(standby)
            options.kept.append(KeptHeads(try await copy.checkpoint(), source: "\(round)"))
            await copy.close()
            let log = try await EventLog.open(crash.settings)
            let report = try await log.verify(options)
            await log.close()
            #expect(report.isOK, "seed \(seed): \(String(describing: report.firstMismatch))")
        }
        try await crash.expectUndisturbed()
        await server.stop()
    }
}
