import CommandSupport
import EventLog
import Foundation
import Postgres
import Subledger
import SubledgerCommand
import TestSupport
import Testing

/// The command line `subledger`, with a database to work in.
///
/// Most calls run within this process: parser, command and error messages are the same, and what
/// would be written to stdout and stderr is collected. What only a process has (signals, stdin, a
/// pager, closed streams, other variables of the environment) needs `runProcess`.
struct Command: Sendable {
    let environment: [String: String]

    /// Against a database.
    init(_ settings: ConnectionSettings) {
        environment = ["DATABASE_URL": settings.fullConnectionString]
    }

    /// With only these variables, and no others that name a database.
    init(environment: [String: String]) { self.environment = environment }

    /// Runs it to its end and expects no particular exit code.
    func run(_ arguments: String..., inputFile: String? = nil) async throws -> Program.Ending {
        try await run(arguments, inputFile: inputFile)
    }

    /// Runs it to its end and expects no particular exit code.
    func run(_ arguments: [String], inputFile: String? = nil) async throws -> Program.Ending {
        guard inputFile == nil, environment.keys.allSatisfy(Command.isInjected) else {
            return try await runProcess(arguments, inputFile: inputFile)
        }
        let streams = CapturedStreams()
        let code = await ProcessEnvironment.$variables.withValue(Program.environment(environment)) {
            await StandardStream.$captured.withValue(streams) {
                await CommandRun.exitCode(arguments)
            }
        }
        return Program.Ending(code: code, output: streams.output, errors: streams.errors)
    }

    // Variables that commands read from `ProcessEnvironment`; PATH and libpq's own are the
    // process's.
    private static func isInjected(_ variable: String) -> Bool {
        variable == "DATABASE_URL" || variable.hasPrefix("SUBLEDGER_")
    }

    /// Runs the built program to its end and expects no particular exit code.
    func runProcess(
        _ arguments: [String],
        inputFile: String? = nil
    ) async throws -> Program.Ending {
        try await Program("subledger").run(
            arguments,
            environment: environment,
            inputFile: inputFile
        )
    }

    /// Runs it and expects an exit code; returns its stdout.
    @discardableResult
    func expect(
        _ code: Int32 = 0,
        _ arguments: String...,
        location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        try await expect(code, arguments, location: location)
    }

    /// Runs it and expects an exit code; returns its stdout.
    @discardableResult
    func expect(
        _ code: Int32 = 0,
        _ arguments: [String],
        location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let ending = try await run(arguments)
        #expect(
            ending.code == code && !ending.wasKilled,
            """
            subledger \(arguments.joined(separator: " ")): exit \(ending.code), \(ending.errors)
            \(ending.output.prefix(500))
            """,
            sourceLocation: location
        )
        return ending.output
    }

    /// Runs it with `--json`, expects an exit code and reads its document.
    func json<Document: Decodable>(
        _ type: Document.Type,
        exit code: Int32 = 0,
        _ arguments: String...,
        location: SourceLocation = #_sourceLocation
    ) async throws -> Document {
        let output = try await expect(code, arguments + ["--json"], location: location)
        return try JSONDecoder().decode(type, from: Data(output.utf8))
    }

    func ingest(
        exit code: Int32 = 0,
        _ arguments: String...,
        location: SourceLocation = #_sourceLocation
    ) async throws -> IngestDocument {
        let output = try await expect(
            code,
            ["ingest", "--json"] + arguments,
            location: location
        )
        return try JSONDecoder().decode(IngestDocument.self, from: Data(output.utf8))
    }

    /// The digest of the rebuilt projections.
    func rebuiltDigest() async throws -> [String] {
        try await json([RebuildLine].self, "rebuild", "--quiet").map(\.digest)
    }

    /// Expects a log that verifies, with dense offsets and this many events.
    func expectSoundLog(
        events: Int64? = nil,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await json(VerifyDocument.self, "verify", location: location)
        #expect(report.ok && report.firstMismatch == nil, sourceLocation: location)
        #expect(
            report.heads.map(\.offset).reduce(0, +) == report.events,
            "offsets are not dense",
            sourceLocation: location
        )
        if let events { #expect(report.events == events, sourceLocation: location) }
    }
}

extension TestTemplate {
    /// An empty ledger of one lane.
    static let migrated = TestTemplate("command_migrated") {
        _ = try await Migrator.migrate($0, .single)
    }
}

/// Lends an empty ledger to a test.
func withLedger(_ body: (Command, ConnectionSettings) async throws -> Void) async throws {
    try await TestServer.shared.withDatabase(from: .migrated) { settings in
        try await body(Command(settings), settings)
    }
}

extension ConnectionSettings {
    /// The text that a query returns.
    func text(_ sql: String) async throws -> String {
        let session = try await PostgresSession.connect(self)
        let rows = try await session.query(sql, [])
        await session.close()
        return try rows.single().text(0)
    }

    /// The number that a query returns.
    func number(_ sql: String) async throws -> Int64 {
        let session = try await PostgresSession.connect(self)
        let rows = try await session.query(sql, [])
        await session.close()
        return try rows.single().int8(0)
    }
}
