internal import Foundation

/// The memory of this process.
enum ProcessMemory {
    /// The bytes of it that are in memory; nil where the system does not say.
    static func residentBytes() -> Int64? {
        #if os(Linux)
        guard let file = FileHandle(forReadingAtPath: "/proc/self/statm") else { return nil }
        // Pages: of the program, and resident.
        let words = String(decoding: file.availableData, as: UTF8.self).split(separator: " ")
        guard words.count > 1, let pages = Int64(words[1]) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
        #else
        return nil
        #endif
    }
}
