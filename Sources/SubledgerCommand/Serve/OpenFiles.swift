import Foundation

/// How many files and connections this process may have open.
enum OpenFiles {
    /// The number reserved for the database, the log and certificates.
    private static let kept = 64

    /// Raises the limit as far as the system allows, because shells set it low.
    ///
    /// - Parameters:
    ///   - connections: The number of connections wanted.
    ///   - notice: Receives a sentence for the operator if not all of them fit.
    /// - Returns: How many of them fit, at least 1.
    static func room(for connections: Int, _ notice: (String) -> Void) -> Int {
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return connections }
        let wanted = rlim_t(connections + kept)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = min(wanted, limit.rlim_max)
            if setrlimit(files, &raised) == 0 { limit = raised }
        }
        guard limit.rlim_cur < wanted else { return connections }
        let room = max(1, Int(limit.rlim_cur) - kept)
        notice(
            "accepts at most \(room) connections at once, because the limit of open files "
                + "is \(limit.rlim_cur) (ulimit -Hn)"
        )
        return room
    }
}
