import Foundation
import Synchronization

/// Ctrl-C, once: finish what is under way and stop.
///
/// Twice: stop at once.
///
/// The log is consistent either way, because a commit is one transaction; the first way also tells
/// what was done.
package enum Interrupt {
    private static let flag = Atomic<Bool>(false)
    private static let isHeeded = Atomic<Bool>(false)
    private static let isOfPager = Atomic<Bool>(false)

    /// Whether somebody asked to stop.
    package static var isRequested: Bool { flag.load(ordering: .relaxed) }

    /// Says that the command asks `isRequested` from now on; without it a signal ends the process.
    package static func heed() { isHeeded.store(true, ordering: .relaxed) }

    /// Leaves Ctrl-C to the pager, which stops a search with it, from now on.
    static func leaveToPager() { isOfPager.store(true, ordering: .relaxed) }

    /// Begins to listen for SIGINT and SIGTERM.
    ///
    /// A broken pipe does not end the process from now on: `StandardStream` and `LineOutput` see
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
