import Foundation
import Postgres
import Projections
import TestSupport
import Testing

/// `follow` from the outside: what it waits for, and how it reports what is left.
@Suite(.enabled { await TestServer.isAvailable })
struct FollowTests {
    @Test(arguments: [1, 4])
    func `follow waits for the positions that ingest prints, and the document gives its position`(
        lanes: Int
    ) async throws {
        try await withHalfFollowedLedger(lanes: lanes) { command, rest in
            let ingested = try await command.ingest(rest.first, "--root-certificate", rest.root)
            #expect(ingested.appended > 0 && ingested.positions.count == lanes)
            let again = try await command.ingest(rest.first, "--root-certificate", rest.root)
            #expect(again.appended == 0 && again.positions == ingested.positions)
            let text = try await command.expect(
                0,
                "ingest",
                rest.first,
                "--root-certificate",
                rest.root
            )
            let printed = try #require(text.split(separator: "\n").last?.split(separator: " ").last)
            #expect(String(printed) == ingested.positions.text(lanes: lanes))
            let early = try await command.json(
                WaitLine.self,
                exit: 75,
                "follow",
                "--wait-for",
                "\(printed)",
                "--timeout",
                "0"
            )
            #expect(!early.isThere && early.waitedFor == ingested.positions)
            #expect(early.positions.values.reduce(0, +) < ingested.positions.values.reduce(0, +))
            let followed = try await command.expect(0, "follow", "--once", "--quiet")
            #expect(followed.contains("hold the log up to \(printed), lag 0"), "\(followed)")
            let late = try await command.json(
                WaitLine.self,
                "follow",
                "--wait-for",
                "\(printed)",
                "--timeout",
                "0"
            )
            #expect(late.isThere && late.positions == ingested.positions)
        }
    }

    @Test func `every command that takes a position refuses one that the ledger does not have`()
        async throws
    {
        for lanes in [1, 4] {
            try await withSimulatedLedger(lanes: lanes) { command in
                try await command.expect(0, "rebuild", "--quiet")
                let stream = try #require(
                    try await command.json([StreamLine].self, "streams").first
                )
                let known = [
                    "periods", stream.originalTransactionId, "--environment", stream.environment,
                    "--known-at",
                ]
                let commands = [
                    ["follow", "--timeout", "0", "--wait-for"],
                    ["rebuild", "--quiet", "--into", "then", "--to"], known,
                ]
                let ends = (0..<lanes).map { "\($0):9999999" }.joined(separator: ",")
                for (position, words) in [
                    (ends, "ends at"),
                    ("\(lanes):5", "does not exist"),
                    ("-5", "ends at"),
                ] {
                    for command in commands where position != "-5" || lanes == 1 {
                        try await refuse(command, position, words)
                    }
                }
                if lanes > 1 {
                    try await refuse(commands[0], "5", "without its lane")
                    try await refuse(commands[1], "5", "names no offset of lane 1")
                    try await refuse(commands[1], "0:5", "name all 4, or an instant")
                }
                let tables = try await command.json([TableLine].self, "tables")
                #expect(Set(tables.map(\.state)) == ["live"])
                try await command.expect(
                    0,
                    ["rebuild", "--quiet", "--into", "then", "--to", "2030-01-01T00:00:00Z"]
                )

                func refuse(_ arguments: [String], _ position: String, _ words: String) async throws
                {
                    let (last, options) = (arguments[arguments.count - 1], arguments.dropLast())
                    let ending = try await command.run(options + ["\(last)=\(position)"])
                    let comment = "\(arguments) \(position): \(ending.errors)"
                    #expect(ending.code == 64 && ending.output.isEmpty, "\(comment)")
                    #expect(ending.errors.contains(words), "\(comment)")
                }
            }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted follow --once exits with 130 and reports what is left`(
        signal: Int32
    ) async throws {
        try await withHalfFollowedLedger { command, rest, settings in
            _ = try await command.ingest(rest.first, "--root-certificate", rest.root)
            // Another process holds the lane, so that the command waits.
            let folds = (allProjections + projectionsOnRequest)
                .map { "\($0.name) \($0.version)" }.sorted().joined(separator: ", ")
            try await settings.meddle(
                """
                INSERT INTO operation.lease (lane, folds, holder, expires_at)
                VALUES (0, '\(folds)', 'another', now() + interval '1 hour')
                """
            )
            // The server shows a session for a moment after its program has ended.
            while try await settings.number(FollowTests.waiting) > 0 {}
            let program = try Program("subledger").start(
                ["follow", "--once", "--json", "--quiet"],
                environment: command.environment
            )
            while try await settings.number(FollowTests.waiting) == 0, program.isRunning {}
            program.signal(signal)
            let ending = await program.ending()
            #expect(ending.code == 130 && !ending.wasKilled, "\(ending.code): \(ending.errors)")
            #expect(ending.errors.contains("interrupted"), "\(ending.errors)")
            let left = try JSONDecoder().decode(FollowLine.self, from: Data(ending.output.utf8))
            #expect(left.lag > 0 && left.events == 0)
            try await settings.meddle("DELETE FROM operation.lease")
            let rest = try await command.json(FollowLine.self, "follow", "--once", "--quiet")
            #expect(rest.lag == 0 && rest.events == left.lag)
        }
    }

    // The follower's own statement: the one above may be seen for a moment longer than its session.
    private static let waiting = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND application_name = 'subledger' AND query LIKE '%INTO operation.lease%VALUES ($1%'
            AND query NOT LIKE '%pg_stat_activity%'
        """

    @Test func `live tables of other folds are counted and named as left behind`()
        async throws
    {
        try await withHalfFollowedLedger { command, rest, settings in
            try await settings.meddle(
                "UPDATE projection.ledger_projection SET version = 0 WHERE name = 'refunds'"
            )
            let ingested = try await command.ingest(rest.first, "--root-certificate", rest.root)
            let end = try #require(ingested.positions["0"])
            let done = try await command.json(
                FollowLine.self,
                exit: 3,
                "follow",
                "--once",
                "--quiet"
            )
            #expect(done.notFollowed == ["refunds"])
            #expect(done.events > 0 && done.lag == done.events)
            let wait = ["follow", "--wait-for", "\(end)", "--timeout", "0"]
            let waited = try await command.run(wait)
            #expect(waited.code == 75 && waited.errors.contains("refunds, which other folds"))
            try await command.expect(0, "rebuild", "--quiet")
            try await command.expect(0, wait)
        }
    }

    @Test func `messages about several lanes write every position with its lane`() async throws {
        try await withSimulatedLedger(lanes: 4) { command in
            let streams = try await command.json([StreamLine].self, "streams")
            let first = try #require(streams.first { $0.lane == 0 })
            let question = [first.originalTransactionId, "--environment", first.environment]
            for name in ["periods", "history", "state", "blame", "explain", "replay"] {
                let text = try await command.expect(0, [name] + question)
                #expect(text.contains("#0:"), "\(name): \(text)")
                #expect(!text.contains(#/#[0-9]+(?![0-9:])/#), "\(name): \(text)")
            }
        }
    }
}

/// A ledger whose tables hold the first half, and what is left to ingest.
private struct Rest {
    let first: String
    let root: String
}

private func withHalfFollowedLedger(
    lanes: Int = 1,
    _ body: (Command, Rest, ConnectionSettings) async throws -> Void
) async throws {
    let simulation = try await Simulation.shared
    let folder = try TestFolder()
    let payloads = try simulation.allPayloads()
    let half = payloads.count / 2
    let begin = try folder.write("begin.ndjson", Array(payloads[..<half].joined(separator: [0x0a])))
    let rest = try folder.write("rest.ndjson", Array(payloads[half...].joined(separator: [0x0a])))
    try await TestServer.shared.withDatabase { settings in
        let command = Command(settings)
        try await command.expect(0, "migrate", "--lanes", "\(lanes)")
        try await command.expect(0, simulation.arguments + [begin])
        try await command.expect(0, "rebuild", "--quiet")
        try await body(command, Rest(first: rest, root: simulation.root), settings)
    }
}

private func withHalfFollowedLedger(
    lanes: Int,
    _ body: (Command, Rest) async throws -> Void
) async throws {
    try await withHalfFollowedLedger(lanes: lanes) { command, rest, _ in
        try await body(command, rest)
    }
}

extension [String: Int64] {
    /// The positions as the command line writes them.
    fileprivate func text(lanes: Int) -> String {
        sorted { $0.key < $1.key }.map { lanes == 1 ? "\($0.value)" : "\($0.key):\($0.value)" }
            .joined(separator: ",")
    }
}

/// The JSON of `follow --wait-for`.
private struct WaitLine: Decodable {
    let waitedFor: [String: Int64]
    let isThere: Bool
    let positions: [String: Int64]
}

/// The JSON of `follow`.
private struct FollowLine: Decodable {
    let events: Int64
    let lag: Int64
    let notFollowed: [String]
}
