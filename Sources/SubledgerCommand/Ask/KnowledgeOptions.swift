import ArgumentParser
import CommandSupport
import EventLog
import Events
import Subledger

/// The time zone in which the times of a question are written.
struct ZoneOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The time zone for output, and for times given without a zone. Default: UTC.",
            discussion: "Europe/Berlin, +05:30, or local for this machine's time zone.",
            valueName: "zone"
        ),
        transform: ZoneOption.zone
    )
    var tz: QuestionZone = .utc

    private static func zone(_ name: String) throws -> QuestionZone {
        guard let zone = QuestionZone(name) else {
            throw ValidationError(
                "unknown time zone '\(name)'; expected UTC, Europe/Berlin, +05:30 or local"
            )
        }
        return zone
    }

    /// The instant that a time means; prints it on stderr if the zone decided it.
    ///
    /// - Parameters:
    ///   - time: The time; nil if the option was left out.
    ///   - option: The option, as typed.
    ///   - now: The instant of the question.
    ///   - isQuiet: Whether nothing is printed.
    /// - Returns: The instant; nil if the option was left out.
    func instant(
        _ time: AskedTime?,
        _ option: String,
        now: Instant,
        isQuiet: Bool = false
    ) -> Instant? {
        guard let time else { return nil }
        let instant = time.instant(now: now, in: tz)
        if !isQuiet { note(time, option, instant) }
        return instant
    }

    /// The bound of knowledge that is meant; prints its instant if the zone decided it.
    ///
    /// - Parameters:
    ///   - bound: The bound.
    ///   - option: The option, as typed.
    ///   - now: The instant of the question.
    ///   - isQuiet: Whether nothing is printed.
    /// - Returns: The bound for the ledger.
    func knownAt(
        _ bound: AskedKnowledge,
        _ option: String,
        now: Instant,
        isQuiet: Bool = false
    ) -> KnownAt {
        let knownAt = bound.knownAt(now: now, in: tz)
        if case .time(let time) = bound, case .time(let instant) = knownAt, !isQuiet {
            note(time, option, instant)
        }
        return knownAt
    }

    private func note(_ time: AskedTime, _ option: String, _ instant: Instant) {
        guard time.needsZone else { return }
        let change =
            switch time.clockChange(in: tz) {
            case .skipped: "; clocks there skip this time, so a later time is used"
            case .shownTwice: "; clocks there show this time twice; the first is used"
            case nil: ""
            }
        Terminal.write(
            "\(option) \(time.text) is \(instant.clock(in: .utc)) UTC "
                + "(time zone \(tz.name))\(change)"
        )
    }
}

/// A command whose times are read and written in a time zone of its own.
protocol ZonedCommand {
    var zone: ZoneOption { get }
}

/// A question about what was known at a time.
protocol KnowledgeCommand: ZonedCommand {
    var knowledge: KnowledgeOptions { get }
}

extension KnowledgeCommand {
    var zone: ZoneOption { knowledge.zone }
}

/// How much of the log a question may use, and the time zone of its times.
struct KnowledgeOptions: ParsableArguments {
    @Option(help: Clock.knownAtHelp, transform: Clock.knowledge)
    var knownAt: AskedKnowledge?

    @OptionGroup var zone: ZoneOption

    /// The two times of a question: those typed, resolved with the clock of this machine.
    ///
    /// - Parameters:
    ///   - at: The instant asked about, as typed; nil if it was left out.
    ///   - isQuiet: Whether the instants that the zone decided are not printed.
    /// - Returns: Both times.
    func clocks(at: AskedTime? = nil, isQuiet: Bool = false) -> QuestionClocks {
        let now = Instant.systemClock()
        let instant = zone.instant(at, "--at", now: now, isQuiet: isQuiet)
        if let instant, instant > now, !isQuiet {
            Terminal.write(
                "\(instant.clock(in: .utc)) UTC is in the future: the answer is based on what is known "
                    + "now, and may change"
            )
        }
        let known = knownAt.map { zone.knownAt($0, "--known-at", now: now, isQuiet: isQuiet) }
        if case .time(let bound)? = known, bound > now, !isQuiet {
            Terminal.write(
                "--known-at \(bound.clock(in: .utc)) UTC is in the future: facts that the ledger "
                    + "learns until then may change this answer"
            )
        }
        return QuestionClocks(now: now, at: instant, knownAt: known ?? .latest)
    }
}

/// The two times of a question, resolved once.
struct QuestionClocks {
    /// When it was asked.
    let now: Instant
    /// The instant asked about; nil if none was given.
    let at: Instant?
    /// How much of the log is used.
    let knownAt: KnownAt

    /// The instant asked about; now if none was given.
    var instant: Instant { at ?? now }
}
