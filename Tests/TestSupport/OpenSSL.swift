import Foundation

/// The `openssl` program, for keys and signatures that share no code with ours.
package enum OpenSSL {
    private static let path = ["/usr/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Whether it is installed.
    package static var isInstalled: Bool { path != nil }

    /// Runs it; throws if it is not installed.
    package static func run(_ arguments: [String]) async throws -> Program.Ending {
        guard let path else { throw CocoaError(.fileNoSuchFile) }
        return try await Program(path: path).run(arguments)
    }

    /// Creates a P-256 key that only its owner may read, and returns its path.
    package static func makeKey(_ name: String, in folder: TestFolder) async throws -> String {
        let path = folder.path(of: name)
        _ = try await run([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path,
        ])
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }
}
