import AppStore
import AppStoreSimulator
import CommandSupport
import Foundation

extension DatabaseOptions {
    /// The database of the measurements, which is recreated for them.
    func scratch() async throws -> ScratchDatabase {
        ScratchDatabase(server: try await settings(createIfAbsent: true), name: "subledger_bench")
    }
}

extension OutputOptions {
    /// Prints what is done next, unless only errors are wanted.
    func note(_ text: String) {
        if !quiet { Terminal.write(text) }
    }

    /// Prints the results: a table, or the document for scripts.
    func print(_ table: String, json document: some Encodable) throws {
        if json { try Terminal.print(json: document) } else { Terminal.print(table) }
    }
}

extension SimulatedPKI {
    /// A policy that trusts this simulated store.
    func policy() throws -> VerificationPolicy {
        VerificationPolicy(roots: [try RootCertificate(der: rootDER)])
    }
}

extension URL {
    /// A new folder for files of a measurement.
    static func benchFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("subledger-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
