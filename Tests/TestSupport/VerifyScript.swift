import Foundation
package import Postgres

/// `verify_chain.py`: the verifier that has no code of ours.
package enum VerifyScript {
    /// Its exit code for a ledger: 0 if it is whole, 3 if not.
    ///
    /// - Parameters:
    ///   - settings: The ledger.
    ///   - documents: Files of checkpoints that it must contain.
    /// - Returns: The code.
    /// - Throws: If it cannot be started.
    package static func code(
        _ settings: ConnectionSettings,
        _ documents: String...
    ) async throws -> Int32 {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
        let against = documents.isEmpty ? [] : ["--against"] + documents
        return try await Program(path: "/usr/bin/env").run(
            [
                "python3", "-B", tests.appendingPathComponent("EventLogTests/verify_chain.py").path,
                settings.fullConnectionString,
            ] + against
        ).code
    }
}
