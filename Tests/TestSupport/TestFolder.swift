import Foundation

/// A folder for the files of one test; it is deleted with the last reference.
package final class TestFolder: Sendable {
    /// Its full path.
    package let path: String

    /// Makes an empty folder.
    package init() throws {
        path = TestServer.temporaryHome()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("the folder \(path) of a test could not be removed: \(error)")
        }
    }

    /// Writes a file, creating folders in its name, and returns its path.
    @discardableResult
    package func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        let url = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: url)
        return url.path
    }

    /// The path of a file in it.
    package func path(of name: String) -> String { "\(path)/\(name)" }
}
