import Foundation

/// How the C library keeps memory that was freed.
enum Allocator {
    // Of <malloc.h> in glibc, which Swift does not import.
    private static let trimThreshold: Int32 = -1
    private static let mapThreshold: Int32 = -3
    private static let arenasMax: Int32 = -8

    /// Blocks from which on each is mapped, and returned to the system when it is freed: bodies of
    /// requests, not what every request allocates.
    private static let mappedBytesMin: Int32 = 256 << 10
    /// Freed bytes at the end of an arena from which on they are returned.
    private static let trimmedBytesMin: Int32 = 1 << 20

    /// Bounds what is kept after many or large requests.
    ///
    /// By default glibc keeps up to eight arenas a processor, and after the first large block that
    /// is freed it takes blocks of that size from them: a flood of large bodies then leaves
    /// hundreds of megabytes behind. Without glibc, this does nothing.
    static func boundFreeMemory() {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "mallopt") else { return }
        typealias Option = @convention(c) (Int32, Int32) -> Int32
        let set = unsafeBitCast(symbol, to: Option.self)
        _ = set(mapThreshold, mappedBytesMin)
        _ = set(trimThreshold, trimmedBytesMin)
        _ = set(arenasMax, 2)
    }
}
