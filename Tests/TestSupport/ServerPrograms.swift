import EmbeddedPostgres
import Foundation

extension Program {
    /// Where a program is installed; nil if it is not.
    package static func installed(_ name: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init)
        return (folders + ["/usr/bin", "/usr/sbin", "/opt/homebrew/bin"]).map { "\($0)/\(name)" }
            .first(where: FileManager.default.isExecutableFile)
    }

    /// A program that is installed with the server that embedded servers run, such as `pg_dump`.
    package init(ofServer name: String) throws {
        self.init(path: try "\(EmbeddedServer.binaries())/\(name)")
    }
}
