import Foundation
import SubledgerCommand
import TestSupport
import Testing

/// Inputs that do not end by themselves.
@Suite(.enabled { await TestServer.isAvailable })
struct IngestInputTests {
    @Test(arguments: ["/dev/zero", "/dev/urandom", "/dev/null"])
    func `a device is refused before any connection is opened`(path: String) async throws {
        let nowhere = Command(environment: ["DATABASE_URL": "host=/nowhere/at/all"])
        let ending = try await nowhere.run("ingest", path)
        #expect(ending.code == 66)
        #expect(ending.output.isEmpty)
        #expect(ending.errors.contains("\(path) is a device"), "\(ending.errors)")
        #expect(ending.errors.contains("- to read stdin"))
    }

    @Test func `a line without an end ends at its limit, and what preceded it is in`() async throws
    {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let payload = try folder.write("a.json", try simulation.allPayloads()[0])
        let script = "cat '\(payload)'; echo; cat /dev/zero"
        try await withLedger { command, _ in
            let ending = try await Program(path: "/bin/sh").run(
                [
                    "-c",
                    "{ \(script); } | '\(try Program("subledger").path)' "
                        + (simulation.arguments + ["--json", "-"]).joined(separator: " "),
                ],
                environment: command.environment
            )
            #expect(ending.code == 65, "\(ending.errors)")
            #expect(ending.output.contains("payload-too-large"), "\(ending.output)")
            #expect(!ending.output.contains("\"appended\":0"), "\(ending.output)")
        }
    }

    @Test func `a pipe without a writer is named, and one signal ends the wait`() async throws {
        let folder = try TestFolder()
        let pipe = folder.path(of: "pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        try await withLedger { command, _ in
            let running = try Program("subledger").start(
                ["ingest", pipe],
                environment: command.environment
            )
            for await line in running.errorLines where line.contains("reading the pipe \(pipe)") {
                break
            }
            running.signal(SIGTERM)
            let ending = await running.ending()
            #expect(ending.code == 130 && !ending.wasKilled, "\(ending.errors)")
        }
    }
}
