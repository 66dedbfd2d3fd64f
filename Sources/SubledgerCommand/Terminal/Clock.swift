import AppStore
import ArgumentParser
import EventLog
import Events
import Foundation
import Postgres
import Subledger

/// Reads the two clocks of a question.
enum Clock {
    /// What `--known-at` means in every question.
    static let knownAtHelp = ArgumentHelp(
        "Use only what the log knew then: an offset, lane:offset pairs, or an instant.",
        discussion: """
            A position inside a commit counts to the commit's end: nothing was ever answered from \
            a part of one.
            """
    )

    static func knownAt(_ text: String) throws -> KnownAt {
        guard let value = KnownAt(text) else {
            throw ValidationError(
                "'\(text)' is neither an offset (1391877), nor lane:offset pairs (0:17,1:4), nor "
                    + "an instant (2026-03-03T09:00:00Z)"
            )
        }
        return value
    }

    static func instant(_ text: String) throws -> Instant {
        guard let value = Instant(text) else {
            throw ValidationError(
                "'\(text)' is no instant; expected 2026-03-03T09:00:00Z, or 2026-03-03 for "
                    + "midnight UTC"
            )
        }
        return value
    }
}
