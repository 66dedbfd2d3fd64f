import Foundation

/// The peak memory of this process, as the kernel measures it.
enum PeakMemory {
    /// Resets the peak, if the kernel supports it (Linux).
    ///
    /// Free heap memory is returned first, because it belongs to another measurement.
    static func reset() {
        trimHeap()
        guard let handle = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return }
        handle.write(Data("5".utf8))
        handle.closeFile()
    }

    // Looked up by name, because malloc.h is not in Swift's module of the C library, and only GNU's
    // has it.
    private static func trimHeap() {
        guard let found = dlsym(nil, "malloc_trim") else { return }
        let trim = unsafeBitCast(found, to: (@convention(c) (Int) -> Int32).self)
        _ = trim(0)
    }

    /// The peak resident memory since; zero if the kernel does not report it.
    static var mebibytes: Int { mebibytes("VmHWM:", of: "self") }

    /// The current resident memory of another process; zero if the kernel does not report it.
    static func residentMebibytes(of process: Int32) -> Int {
        mebibytes("VmRSS:", of: "\(process)")
    }

    private static func mebibytes(_ field: String, of process: String) -> Int {
        guard let status = FileManager.default.contents(atPath: "/proc/\(process)/status") else {
            return 0
        }
        let line = String(decoding: status, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(field) }
        let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return kibibytes / 1024
    }
}
