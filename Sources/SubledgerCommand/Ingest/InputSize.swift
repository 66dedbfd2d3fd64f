import CommandSupport
import Foundation

/// The total size of the named files and folders, if it is cheap to determine.
enum InputSize {
    /// The most files that are examined: beyond this, computing the sum would delay the work.
    static let filesMax = 200_000

    /// The sum of their sizes; nil if anything is neither a file nor a folder, such as stdin and
    /// pipes, or if there are too many files.
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
