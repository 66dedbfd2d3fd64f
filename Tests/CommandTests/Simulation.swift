import EventLog
import Foundation
import Postgres
import TestSupport
import Testing

/// The payloads of twenty-five simulated subscriptions in a folder; created once for all tests.
struct Simulation: Sendable {
    let folder: TestFolder

    /// The folder with the payloads and `root.der`.
    var payloads: String { folder.path(of: "payloads") }

    /// The certificate to trust.
    var root: String { payloads + "/root.der" }

    /// The options that `ingest` needs.
    var arguments: [String] { ["ingest", "--quiet", "--root-certificate", root] }

    /// The true periods, one JSON object per line.
    var truth: String { folder.path(of: "truth.ndjson") }

    private static let task = Task {
        let simulation = Simulation(folder: try TestFolder())
        try await Command(environment: [:]).expect(
            0,
            "simulate",
            "--quiet",
            "--subscriptions",
            "25",
            "--seed",
            "9",
            "--out",
            simulation.payloads,
            "--truth",
            simulation.truth
        )
        return simulation
    }

    /// The shared one.
    static var shared: Simulation {
        get async throws { try await task.value }
    }

    /// All payloads, file after file.
    func allPayloads() throws -> [Data] {
        try FileManager.default.contentsOfDirectory(atPath: payloads).sorted()
            .filter { $0.hasSuffix(".ndjson") }
            .flatMap { name in
                try Data(contentsOf: URL(fileURLWithPath: "\(payloads)/\(name)"))
                    .split(separator: UInt8(ascii: "\n")).map { Data($0) }
            }
    }
}

extension TestTemplate {
    /// A ledger that holds the shared simulation.
    fileprivate static let simulated = TestTemplate("command_simulated") {
        try await simulate($0)
    }

    /// The same, with its tables.
    fileprivate static let rebuilt = TestTemplate("command_rebuilt") {
        try await simulate($0).expect(0, "rebuild", "--quiet")
    }

    @discardableResult
    private static func simulate(_ settings: ConnectionSettings) async throws -> Command {
        let (simulation, command) = (try await Simulation.shared, Command(settings))
        _ = try await Migrator.migrate(settings, .single)
        // Two runs, because one may put everything in one commit, which is known whole or not at all.
        for files in [["history"], ["notification", "statuses"]] {
            let paths = files.map { "\(simulation.payloads)/\($0).ndjson" }
            try await command.expect(0, simulation.arguments + paths)
        }
        return command
    }
}

/// Runs a body with a ledger that holds the shared simulation.
func withSimulatedLedger(
    rebuilt: Bool = false,
    _ body: (Command) async throws -> Void
) async throws {
    try await withSimulatedLedger(rebuilt: rebuilt) { command, _ in try await body(command) }
}

/// The same, with its connection settings.
func withSimulatedLedger(
    rebuilt: Bool = false,
    _ body: (Command, ConnectionSettings) async throws -> Void
) async throws {
    try await TestServer.shared.withDatabase(from: rebuilt ? .rebuilt : .simulated) { settings in
        try await body(Command(settings), settings)
    }
}

/// Runs a body with a ledger of this many lanes that holds the shared simulation.
func withSimulatedLedger(
    lanes: Int,
    _ body: (Command) async throws -> Void
) async throws {
    guard lanes > 1 else { return try await withSimulatedLedger(body) }
    let simulation = try await Simulation.shared
    try await TestServer.shared.withDatabase { settings in
        let command = Command(settings)
        try await command.expect(0, "migrate", "--lanes", "\(lanes)")
        try await command.expect(0, simulation.arguments + [simulation.payloads])
        try await body(command)
    }
}

/// A ledger of the simulation, with an empty folder and the ids of its production subscriptions.
func withStreams(
    _ body: (Command, TestFolder, [String]) async throws -> Void
) async throws {
    struct Stream: Decodable {
        let originalTransactionId: String
        let environment: String
    }
    let simulation = try await Simulation.shared
    try await withLedger { command, _ in
        try await command.expect(0, simulation.arguments + [simulation.payloads])
        let streams = try await command.json([Stream].self, "streams")
        let ids = streams.filter { $0.environment == "Production" }.map(\.originalTransactionId)
        try await body(command, try TestFolder(), ids)
    }
}
