internal import EventLog
internal import Events
internal import Subledger
internal import Synchronization

/// Which customers a poller asks Apple about.
public enum PollSelection: Sendable {
    /// Customers who may have been charged, or have lost access, without a notification:
    /// subscriptions that end soon, those whose charge failed, for sixty days, and those whose
    /// period ended without further notice.
    case due(withinMilliseconds: Int64)
    /// Every customer in the ledger: first those never asked about, then the longest ago.
    case all
    /// These customers, by any of their transaction ids, whenever they were last asked about.
    case ids([String])
}

/// A subscription to ask about, and why.
struct PollSubject: Hashable, Sendable {
    let stream: StreamID
    let reason: Reason
    /// The end of the last access; nil if nothing is certain.
    let accessEnd: Instant?
    /// The length of the newest period; nil if nothing is certain.
    let periodMilliseconds: Int64?

    /// The reason for asking; the most urgent first.
    enum Reason: String, CaseIterable, Sendable {
        /// One of its events cannot be read: Apple's answer may be all that is known.
        case unreadable
        /// The period has ended and Apple has reported nothing since: a customer may be locked out.
        case overdue
        /// The period ends soon.
        case endsSoon = "ends_soon"
        /// The charge failed, and may succeed any day.
        case failed
        /// Nothing is due.
        case asked

        var urgency: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }
    }

    /// Seconds since its access ended; 0 before that, or if the end is unknown.
    func secondsSinceDue(at now: Instant) -> Double {
        guard let accessEnd else { return 0 }
        return Double(max(0, now.milliseconds - accessEnd.milliseconds)) / 1000
    }

    /// Whether it comes before another one: among overdue and failed charges the latest end first,
    /// because Apple retries those soonest; among those that end soon the next end.
    func isBefore(_ other: PollSubject) -> Bool {
        if reason != other.reason { return reason.urgency < other.reason.urgency }
        let ends = (accessEnd?.milliseconds ?? .max, other.accessEnd?.milliseconds ?? .max)
        if ends.0 != ends.1 { return reason == .endsSoon ? ends.0 < ends.1 : ends.0 > ends.1 }
        return stream < other.stream
    }
}

/// The most urgent subjects of a ledger, however many there are.
final class UrgentSubjects: Sendable {
    private let state = Mutex<(kept: [PollSubject], left: Int, reasons: [String: Int])>(
        ([], 0, [:])
    )
    private let countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    func add(_ subject: PollSubject) {
        state.withLock { state in
            state.kept.append(subject)
            state.reasons[subject.reason.rawValue, default: 0] += 1
            if state.kept.count >= 2 * countMax { trim(&state.kept, &state.left) }
        }
    }

    /// The subjects that are kept, the most urgent first, and how many are left for the next round.
    func finish() -> (subjects: [PollSubject], left: Int, reasons: [String: Int]) {
        state.withLock { state in
            trim(&state.kept, &state.left)
            return (state.kept, state.left, state.reasons)
        }
    }

    private func trim(_ kept: inout [PollSubject], _ left: inout Int) {
        kept.sort { $0.isBefore($1) }
        left += max(0, kept.count - countMax)
        kept.removeLast(max(0, kept.count - countMax))
    }
}

extension [PollSubject] {
    /// Subjects of equal urgency ordered by Apple's last answer about them, never answered ones
    /// first: so a round that cannot cover all does not ask about the same ones each time.
    func inTurn(_ answeredAt: [StreamID: Instant]) -> [PollSubject] {
        sorted { left, right in
            if left.reason != right.reason { return left.isBefore(right) }
            let answered = (
                answeredAt[left.stream] ?? .epoch, answeredAt[right.stream] ?? .epoch
            )
            if answered.0 != answered.1 { return answered.0 < answered.1 }
            return left.isBefore(right)
        }
    }
}
