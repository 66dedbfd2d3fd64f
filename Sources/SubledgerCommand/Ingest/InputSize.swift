import CommandSupport
import Foundation

/// How many bytes the named files and folders hold, where that costs little to know.
enum InputSize {
    /// Files up to which they are looked at: beyond it the sum would keep the work waiting.
    static let filesMax = 200_000

    /// The sum of their bytes; nil where something is no file and no folder, as stdin and pipes, or
    /// where there are too many files.
    static func bytes(of paths: [String]) -> Int64? {
        var (sum, files) = (Int64(0), 0)
        for path in paths {
            guard path != "-", let size = bytes(of: path, &files) else { return nil }
            sum += size
        }
        return sum
    }

    private static func bytes(of path: String, _ files: inout Int) -> Int64? {
        guard let status = FileStatus(path) else { return nil }
        if status.kind == .file { return status.byteCount }
        guard status.kind == .folder,
            let found = FileManager.default.enumerator(atPath: path)
        else { return nil }
        var sum: Int64 = 0
        for case let name as String in found {
            files += 1
            guard files <= filesMax else { return nil }
            if let status = FileStatus("\(path)/\(name)"), status.kind == .file {
                sum += status.byteCount
            }
        }
        return sum
    }
}
