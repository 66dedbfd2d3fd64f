import ArgumentParser
import EventLog
import Events
import Subledger

/// Parses the times of a command line.
enum Clock {
    /// The meaning of `--known-at` in every question.
    static let knownAtHelp = ArgumentHelp(
        "Use only what the log knew then: a position or a time.",
        discussion: """
            An offset, lane:offset pairs (0:17,1:4), or a time: \(AskedTime.forms). A number of \
            twelve digits or more is milliseconds, a shorter one an offset. A position inside a \
            commit means the end of that commit: no answer was ever made from part of a commit.
            """,
        valueName: "position-or-time"
    )

    /// The help of an option with a time.
    static func help(_ abstract: String) -> ArgumentHelp {
        ArgumentHelp(abstract, discussion: "Accepts \(AskedTime.forms).", valueName: "time")
    }

    /// Parses a time, which the question's clock and time zone resolve to an instant.
    static func time(_ text: String) throws -> AskedTime {
        guard let time = AskedTime(text) else {
            throw ValidationError("invalid time '\(text)'; expected \(AskedTime.forms)")
        }
        return time
    }

    /// Parses a bound of knowledge.
    static func knowledge(_ text: String) throws -> AskedKnowledge {
        guard let bound = AskedKnowledge(text) else {
            throw ValidationError(
                "'\(text)' is neither a position nor a time; expected \(AskedKnowledge.forms)"
            )
        }
        return bound
    }
}
