import AppStoreSimulator
import Foundation
import Postgres
import SimulatedStoreService
import TestSupport
import Testing

/// `subledger simulate --serve` as a process of its own, with what it wrote.
struct StoreProcess {
    let program: RunningProgram
    let url: String
    let folder: TestFolder

    static func start(_ arguments: [String]) async throws -> StoreProcess {
        let folder = try TestFolder()
        let program = try Program("subledger").start(
            ["simulate", "--serve", "0", "--out", folder.path] + arguments
        )
        let url = try await program.firstMatch(of: /listening at (http:[^,]+),/)
        return StoreProcess(program: program, url: url, folder: folder)
    }

    /// What whoever asks it must be told.
    var flags: [String] {
        [
            "--api-url", url, "--key", folder.path(of: "AuthKey.p8"), "--key-id",
            SimulatedStoreServer.keyId, "--issuer-id", SimulatedStoreServer.issuerId,
            "--bundle-id", SimulatedStoreServer.bundleId, "--root-certificate",
            folder.path(of: "root.der"),
        ]
    }

    func end() async {
        program.signal(SIGTERM)
        _ = await program.ending()
    }

    func get(_ path: String) throws -> Data {
        try Data(contentsOf: try #require(URL(string: url + path)))
    }

    /// How many notifications were signed, and what became of them.
    func sent() throws -> TestStore.Sent {
        try JSONDecoder().decode(TestStore.Sent.self, from: try get("/control/notifications"))
    }

    /// Requests to endpoints of Apple's so far.
    func requests() throws -> Int {
        try JSONDecoder()
            .decode([String: [String: Int]].self, from: try get("/control/requests"))
            .values.reduce(0) { $0 + ($1["requests"] ?? 0) }
    }

    /// Waits until everything that was signed was sent.
    func waitUntilSent() async throws {
        for _ in 0..<3000 {
            let sent = try sent()
            if sent.arrived + sent.lost == sent.signed { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        Issue.record("the store did not send all notifications")
    }
}

extension RunningProgram {
    /// What a line on stderr has, which is the first to match.
    func firstMatch(of pattern: Regex<(Substring, Substring)>) async throws -> String {
        for await line in errorLines {
            if let match = line.firstMatch(of: pattern) { return String(match.1) }
        }
        throw POSIXError(.ESRCH)
    }
}

/// Runs a command on a database.
func subledger(
    _ arguments: [String],
    _ settings: ConnectionSettings,
    _ environment: [String: String] = [:]
) async throws -> Program.Ending {
    try await Program("subledger").run(
        arguments,
        environment: ["DATABASE_URL": settings.fullConnectionString].merging(environment) { $1 }
    )
}

/// Where a root certificate of simulated stores lies, before the first one starts.
func rootFile(seed: UInt64, in folder: TestFolder) throws -> String {
    try folder.write("root.der", Data(AppStoreSimulator(seed: seed).store.pki.rootDER))
}
