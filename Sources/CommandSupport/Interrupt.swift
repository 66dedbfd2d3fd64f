import Foundation
import Synchronization

/// Ctrl-C, once: finish the work in progress and stop.
///
/// Twice: stop at once.
///
/// The log is consistent either way, because a commit is one transaction; the first way also
/// reports what was done.
package enum Interrupt {
    private static let flag = Atomic<Bool>(false)
    private static let isHeeded = Atomic<Bool>(false)
    private static let isOfPager = Atomic<Bool>(false)

    /// Whether a stop was requested.
    package static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Declares that the command checks `isRequested` from now on; without it, a signal ends the
    /// process.
    package static func heed() { isHeeded.store(true, ordering: .relaxed) }

    /// From now on leaves Ctrl-C to the pager, which uses it to stop a search.
    static func leaveToPager() { isOfPager.store(true, ordering: .relaxed) }

    /// Begins to listen for SIGINT and SIGTERM.
    ///
    /// From now on a broken pipe does not end the process: `StandardStream` and `LineOutput` handle
    /// it.
    package static func install() {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                // Only atomics and _exit are allowed in a signal handler.
                if number == SIGINT, Interrupt.isOfPager.load(ordering: .relaxed) { return }
                let isFirst = !Interrupt.flag.exchange(true, ordering: .relaxed)
                if isFirst, Interrupt.isHeeded.load(ordering: .relaxed) { return }
                _exit(128 + number)
            }
        }
    }
}
