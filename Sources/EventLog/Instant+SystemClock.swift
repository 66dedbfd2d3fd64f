public import Events

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension Instant {
    /// The time on this machine's clock: the only place in the ledger that reads it.
    ///
    /// Called at the outermost layer and passed on; folds and queries never call it.
    public static func systemClock() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
