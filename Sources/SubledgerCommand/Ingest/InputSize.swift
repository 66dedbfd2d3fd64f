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
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        if status.st_mode & S_IFMT == S_IFREG { return Int64(status.st_size) }
        guard status.st_mode & S_IFMT == S_IFDIR,
            let found = FileManager.default.enumerator(atPath: path)
        else { return nil }
        var sum: Int64 = 0
        for case let name as String in found {
            files += 1
            guard files <= filesMax else { return nil }
            guard stat("\(path)/\(name)", &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFREG { sum += Int64(status.st_size) }
        }
        return sum
    }
}
