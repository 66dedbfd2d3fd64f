import AppStoreSimulator
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
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

    /// The answer to a command.
    func post(_ path: String, _ body: String) async throws -> Data {
        var request = URLRequest(url: try #require(URL(string: url + path)))
        request.httpMethod = "POST"
        request.httpBody = Data(body.utf8)
        return try await URLSession.shared.data(for: request).0
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
        try await wait { $0.arrived + $0.lost == $0.signed }
    }

    /// Waits until enough was sent.
    func wait(until isEnough: (TestStore.Sent) -> Bool) async throws {
        try await eventually("the store has sent enough") { isEnough(try sent()) }
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
