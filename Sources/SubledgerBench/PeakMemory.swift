import Foundation

/// The greatest memory this process has had, as the kernel counts it.
enum PeakMemory {
    /// Begins to count anew, where the kernel can (Linux).
    ///
    /// What is free in the heap is given back first, because it is another measurement's.
    static func reset() {
        trimHeap()
        guard let handle = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return }
        handle.write(Data("5".utf8))
        handle.closeFile()
    }

    // By its name, because malloc.h is not in Swift's module of the C library; only GNU's has it.
    private static func trimHeap() {
        guard let found = dlsym(nil, "malloc_trim") else { return }
        let trim = unsafeBitCast(found, to: (@convention(c) (Int) -> Int32).self)
        _ = trim(0)
    }

    /// The greatest resident memory since; zero where the kernel does not tell.
    static var mebibytes: Int { mebibytes("VmHWM:", of: "self") }

    /// The resident memory of another process at present; zero where the kernel does not tell.
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
