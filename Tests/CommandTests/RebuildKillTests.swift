import Foundation
import Postgres
import TestSupport
import Testing

/// Kills commands that write tables at random moments: the live tables stay whole, and the next run
/// finishes.
@Suite(.enabled { await TestServer.isAvailable })
struct RebuildKillTests {
    private static let seed: UInt64 = 20_261_121
    private static let rounds = Acceptance.isRunning ? 30 : 15

    @Test func `rebuild, diff, promote and follow can be killed at any moment`() async throws {
        try await withLedger { command, settings in
            var random = SeededGenerator(seed: Self.seed)
            var kill = try await Kill(command: command, settings: settings, rounds: Self.rounds)
            for round in 0..<Self.rounds {
                try await kill.ingestMore(round)
                let arguments = Self.commands[round % Self.commands.count]
                if arguments.contains("promote") {
                    try await command.expect(0, "tables", "diff", "--quiet")
                }
                let share = Double.random(in: 0...1, using: &random)
                try await kill.run(arguments, killedAfter: share)
                let comment = "seed \(Self.seed), round \(round): \(arguments) killed at \(share)"
                #expect(try await settings.number(Kill.broken) == 0, "\(comment)")
                let check = try await command.run("tables", "check", "--quiet")
                #expect(check.code == 0, "\(comment): \(check.errors)\(check.output)")
            }
            #expect(kill.kills > Self.rounds / 3, "most commands ended before they were killed")
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, "tables", "check", "--quiet")
            #expect(try await settings.number(Kill.schemas) == 1)
            print("kill test, seed \(Self.seed): \(kill.kills) of \(Self.rounds) runs were killed")
        }
    }

    private static let commands = [
        ["rebuild"], ["tables", "diff"], ["tables", "promote"], ["follow", "--once"],
    ]
}

/// A ledger that grows while its tables are written.
private struct Kill {
    let command: Command
    let settings: ConnectionSettings
    let payloads: [Data]
    let rounds: Int
    let folder: TestFolder
    /// Runs that were killed before their end.
    private(set) var kills = 0
    private var durations: [[String]: Duration] = [:]

    /// Tables with another number of rows than the page shows, or views without one.
    static let broken = """
        SELECT \(tables.map(mismatch).joined(separator: " + "))
        """

    static let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname ~ '^projection_[0-9]+$'"

    private static let tables = [
        "active_periods", "renewal_states", "plan_changes", "refunds", "transactions", "movements",
        "customers",
    ]

    private static func mismatch(_ table: String) -> String {
        """
        abs((SELECT count(*) FROM projection.\(table)) - (
            SELECT sum(row_count)::bigint FROM projection.ledger_projection
            WHERE name = '\(table)' AND state = 'live'))
        """
    }

    init(command: Command, settings: ConnectionSettings, rounds: Int) async throws {
        self.command = command
        self.settings = settings
        self.rounds = rounds
        payloads = try await Simulation.shared.allPayloads()
        folder = try TestFolder()
        let begin = ContinuousClock.now
        try await command.expect(0, "rebuild", "--quiet")
        for arguments in [["rebuild"], ["tables", "diff"], ["tables", "promote"]] {
            durations[arguments] = ContinuousClock.now - begin
        }
    }

    func ingestMore(_ round: Int) async throws {
        let part = payloads[
            payloads.count * round / rounds..<payloads.count * (round + 1) / rounds
        ]
        let path = folder.path(of: "\(round).ndjson")
        let text = part.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try await command.expect(0, try await Simulation.shared.arguments + [path])
    }

    /// Runs a command, and kills it after a fraction of the time that the last complete run took.
    mutating func run(_ arguments: [String], killedAfter share: Double) async throws {
        let begin = ContinuousClock.now
        let program = try Program("subledger").start(
            arguments + ["--quiet"],
            environment: command.environment
        )
        let patience = (durations[arguments] ?? .milliseconds(500)) * share
        // Not a task, because the commands of other tests may keep tasks waiting.
        let killing = DispatchWorkItem { kill(program.processId, SIGKILL) }
        DispatchQueue.global().asyncAfter(
            deadline: .now() + patience / .seconds(1),
            execute: killing
        )
        let ending = await program.ending()
        killing.cancel()
        if ending.wasKilled {
            kills += 1
        } else {
            durations[arguments] = ContinuousClock.now - begin
            #expect(ending.code == 0, "\(arguments): \(ending.errors)")
        }
    }
}
