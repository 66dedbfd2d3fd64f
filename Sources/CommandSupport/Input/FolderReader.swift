import Foundation

/// Reads the names in a folder: sorted if there are few, in the system's order if there are many.
final class FolderReader {
    /// The folder.
    let path: RawPath
    private var names: [[UInt8]] = []
    private let stream: OpaquePointer

    /// The most entries of a folder that are sorted by name.
    static let sortedEntriesMax = 10_000

    /// Nil if the folder cannot be read.
    init?(_ path: RawPath) {
        guard let stream = path.withSystemPath({ opendir($0) }) else { return nil }
        self.path = path
        self.stream = stream
        while names.count <= FolderReader.sortedEntriesMax, let name = read() {
            names.append(name)
        }
        if names.count <= FolderReader.sortedEntriesMax {
            names.sort { $1.lexicographicallyPrecedes($0) }
        }
    }

    deinit { closedir(stream) }

    /// The next name; nil after the last.
    func next() -> [UInt8]? { names.popLast() ?? read() }

    private func read() -> [UInt8]? {
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { RawPath.bytes(of: $0) }
            }
            if name != Array(".".utf8), name != Array("..".utf8) { return name }
        }
        return nil
    }
}
