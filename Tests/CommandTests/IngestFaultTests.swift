import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// `ingest` with a database that goes away during the run.
@Suite(.enabled { await TestServer.isAvailable })
struct IngestFaultTests {
    /// The pipe stays open and silent: only the log's refusal can end the program.
    @Test func `a failed append ends ingest from a pipe at once, and missing payloads are counted`()
        async throws
    {
        let simulation = try await Simulation.shared
        let payloads = try simulation.allPayloads()
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: .init(lifetime: .process, settings: ["fsync": "off"])
        )
        let settings = try await server.start()
        let command = Command(
            environment: Command(settings).environment.merging(
                ["SUBLEDGER_APPEND_SECONDS_MAX": "1"]
            ) { $1 }
        )
        try await command.expect(0, "migrate")
        let folder = try TestFolder()
        let path = folder.path(of: "pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let pipe = open(path, O_RDWR)
        defer { close(pipe) }
        let running = try Program("subledger").start(
            simulation.arguments + ["-"],
            environment: command.environment,
            inputFile: path
        )
        try Self.write(payloads[0], to: pipe)
        while try await settings.number("SELECT count(*) FROM ledger.commit") == 0 {
            try #require(running.isRunning)
        }
        try await server.stop()
        try Self.write(payloads[9], to: pipe)
        let ending = await running.ending()
        #expect(ending.code == 69, "\(ending.errors)")
        #expect(ending.errors.contains("1 payload is finished; 1 more was read but not finished"))
        #expect(ending.errors.contains("[database-unavailable]"), "\(ending.errors)")
        #expect(ending.output.isEmpty)
    }

    @Test func `one Ctrl-C ends ingest while an append waits for a stopped backend`() async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let all = try simulation.allPayloads().joined(separator: [0x0a]) + [0x0a]
        let lines = try folder.write(
            "lines.ndjson",
            Array(repeating: Array(all), count: 20).flatMap { $0 }
        )
        try await withLedger { command, settings in
            let running = try Program("subledger").start(
                simulation.arguments + [lines],
                environment: command.environment.merging(
                    ["SUBLEDGER_APPEND_SECONDS_MAX": "3600"]
                ) { $1 }
            )
            while try await settings.number("SELECT count(*) FROM ledger.commit") == 0 {
                try #require(running.isRunning)
            }
            let ending = try await Backends.stopped(of: settings) {
                running.signal(SIGINT)
                return await running.ending()
            }
            #expect(ending.code == 130 && !ending.wasKilled, "\(ending.errors)")
            #expect(ending.errors.contains("more were read but not finished"), "\(ending.errors)")
            try await command.expectSoundLog()
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            try await command.expectSoundLog()
        }
    }

    @Test(arguments: ["0", "soon", "86401", "nan"])
    func `an invalid append timeout exits with 64`(seconds: String) async throws {
        let command = Command(
            environment: [
                "DATABASE_URL": "host=/nowhere", "SUBLEDGER_APPEND_SECONDS_MAX": seconds,
            ]
        )
        let ending = try await command.run("verify")
        #expect(ending.code == 64, "\(ending.errors)")
        #expect(ending.errors.contains("SUBLEDGER_APPEND_SECONDS_MAX is '\(seconds)'"))
    }

    private static func write(_ payload: Data, to pipe: Int32) throws {
        let line = payload + [0x0a]
        let written = line.withUnsafeBytes { Foundation.write(pipe, $0.baseAddress, $0.count) }
        #expect(written == line.count)
    }
}
