import Foundation
import SimulatedStoreService
import TestSupport

/// A store of its own process, with what it wrote.
struct ServedProcess {
    let program: RunningProgram
    let url: String
    let folder: TestFolder

    static func start(_ arguments: String...) async throws -> ServedProcess {
        let folder = try TestFolder()
        let program = try Program("subledger").start(
            ["simulate", "--serve", "0", "--out", folder.path] + arguments
        )
        let url = try await firstMatch(of: /listening at (http:[^,]+),/, in: program)
        return ServedProcess(program: program, url: url, folder: folder)
    }

    /// What `poll` must be told.
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

    /// The first capture of a pattern in what a program writes on stderr.
    static func firstMatch(
        of pattern: Regex<(Substring, Substring)>,
        in program: RunningProgram
    ) async throws -> String {
        for await line in program.errorLines {
            if let match = line.firstMatch(of: pattern) { return String(match.1) }
        }
        throw POSIXError(.ESRCH)
    }
}
