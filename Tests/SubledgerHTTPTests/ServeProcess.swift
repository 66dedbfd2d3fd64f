import AppStoreSimulator
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import TestSupport
import Testing

/// `subledger serve` as a separate process.
struct ServeProcess {
    let program: RunningProgram
    /// The address at which it listens.
    let port: Int

    /// Starts it and waits until it listens.
    static func start(
        _ settings: ConnectionSettings,
        _ arguments: String...,
        under wrapper: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> ServeProcess {
        try await start(settings, arguments, under: wrapper, environment: environment)
    }

    /// The same with a list of arguments.
    static func start(
        _ settings: ConnectionSettings,
        _ arguments: [String],
        under wrapper: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> ServeProcess {
        let root = FileManager.default.temporaryDirectory
            .appendingPathComponent("root-\(UUID().uuidString).der")
        try Data(TestService.simulator.store.pki.rootDER).write(to: root)
        let command = wrapper + [try Program("subledger").path]
        let program = try Program(path: command[0]).start(
            command.dropFirst()
                + ["serve", "--port", "0", "--root-certificate", root.path] + arguments,
            environment: ["DATABASE_URL": settings.fullConnectionString]
                .merging(environment) { $1 }
        )
        for await line in program.errorLines {
            guard let match = line.firstMatch(of: /listening at https?:\/\/.*:(\d+)$/) else {
                continue
            }
            return ServeProcess(program: program, port: try #require(Int(match.1)))
        }
        let ending = await program.ending()
        throw ServeProcessError(description: "serve ended: \(ending.code) \(ending.errors)")
    }

    /// Posts a body; nil if no answer arrived.
    func post(_ body: [UInt8], to path: String) async -> Int? {
        do {
            return try await TestClient.withClient(port: port) { client in
                try await client.execute(
                    TestClient.Request(path, method: .post, body: ByteBuffer(bytes: body))
                ).status.code
            }
        } catch {
            return nil
        }
    }

    /// Sends a GET request; nil if no answer arrived.
    func get(_ path: String) async -> Int? {
        do {
            return try await TestClient.withClient(port: port) { client in
                try await client.get(path).status.code
            }
        } catch {
            return nil
        }
    }
}

/// The service did not start.
struct ServeProcessError: Error, CustomStringConvertible {
    let description: String
}
