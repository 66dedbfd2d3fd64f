internal import Events

/// Goes through what Apple said about refunds of one purchase, by as-of, and opens, turns and
/// closes cases.
///
/// A function of the set of events: they are ordered by as-of, then by kind, never by arrival.
struct RefundMachine {
    /// The cases, in the order in which they began.
    private(set) var drafts: [Draft] = []

    // The case that a refund turns or a reversal closes; never one that is closed.
    private var open: Int?

    /// A case while it is decided.
    struct Draft {
        var state: RefundCase.State
        var requested: Instant?
        var declined: Instant?
        var announced: Instant?
        var reversed: Instant?
        var reversal: RefundCase.Reversal?
        var revocation = Revocation()
        var citations = Citations()

        /// Whether money was given back in it, or must have been.
        var holdsRefund: Bool { state == .refunded || state == .reversed }
    }

    /// What Apple says of a refund, as said last in its case.
    struct Revocation {
        var date: Instant?
        var type: String?
        var percentage: Int64?
        var reason: Int64?
    }

    /// Something said about refunds of one purchase.
    struct Event {
        let asOf: Instant
        let word: Word
        let offset: Int64
    }

    /// What was said; of one as-of in this order.
    enum Word {
        case request
        case refund(Sweep)
        case refusal
        case denial
        case reversalNotice

        fileprivate var rank: Int {
            switch self {
            case .request: 0
            case .refund: 1
            case .refusal: 2
            case .denial: 3
            case .reversalNotice: 4
            }
        }
    }

    /// The cases that these events make, in whatever order they come.
    init(_ events: [Event]) {
        let ordered = events.enumerated().sorted { left, right in
            (left.element.asOf, left.element.word.rank, left.offset)
                < (right.element.asOf, right.element.word.rank, right.offset)
        }.map(\.element)
        for event in ordered { take(event) }
        findAnnouncements(among: ordered)
    }

    private mutating func take(_ event: Event) {
        switch event.word {
        case .request:
            if open == nil { begin(.requested, event) { $0.requested = event.asOf } }
            cite(event.offset)
        case .refund(let sweep):
            takeRefund(event, sweep)
        case .refusal:
            if let open, drafts[open].state == .requested {
                drafts[open].state = .declined
                drafts[open].declined = event.asOf
                drafts[open].citations.cite(event.offset)
                self.open = nil
            } else {
                var draft = Draft(state: .declined, declined: event.asOf)
                draft.citations.cite(event.offset)
                drafts.append(draft)
            }
        case .denial:
            // Silence about a request, and every statement before a refund, denies nothing.
            guard let open, drafts[open].state == .refunded else { return }
            drafts[open].state = .reversed
            drafts[open].reversed = event.asOf
            drafts[open].reversal = .inferred
            drafts[open].citations.cite(event.offset)
            self.open = nil
        case .reversalNotice:
            takeReversalNotice(event)
        }
    }

    private mutating func takeRefund(_ event: Event, _ sweep: Sweep) {
        if open == nil { begin(.refunded, event) { _ in } }
        guard let open else { return }
        if drafts[open].announced == nil { drafts[open].announced = event.asOf }
        drafts[open].state = .refunded
        if drafts[open].revocation.take(sweep) { drafts[open].citations.cite(event.offset) }
    }

    // A refund that Apple says it undid, and that never reached us.
    private mutating func takeReversalNotice(_ event: Event) {
        guard !drafts.contains(where: \.holdsRefund) else { return }
        if open == nil { begin(.reversed, event) { _ in } }
        guard let open else { return }
        drafts[open].state = .reversed
        drafts[open].reversed = event.asOf
        drafts[open].reversal = .announced
        drafts[open].citations.cite(event.offset)
        self.open = nil
    }

    private mutating func begin(
        _ state: RefundCase.State,
        _ event: Event,
        _ fill: (inout Draft) -> Void
    ) {
        var draft = Draft(state: state)
        fill(&draft)
        open = drafts.endIndex
        drafts.append(draft)
    }

    private mutating func cite(_ offset: Int64) {
        if let open { drafts[open].citations.cite(offset) }
    }

    // The announcement of a reversal comes after its refund and before the next one; it may be
    // signed a moment before or after the statement that no longer has the refund.
    private mutating func findAnnouncements(among ordered: [Event]) {
        var next: Instant?
        for index in drafts.indices.reversed() where drafts[index].holdsRefund {
            let (announced, before) = (drafts[index].announced, next)
            next = announced ?? drafts[index].reversed
            guard let announced else { continue }
            for event in ordered {
                guard case .reversalNotice = event.word, event.asOf > announced,
                    before.map({ event.asOf < $0 }) ?? true
                else { continue }
                drafts[index].citations.cite(event.offset)
                if drafts[index].reversal == .inferred { drafts[index].reversal = .announced }
                break
            }
        }
    }
}

extension RefundMachine.Revocation {
    // Only what is said at this very as-of: what an earlier case said is not about this one. True
    // where anything changed.
    fileprivate mutating func take(_ sweep: Sweep) -> Bool {
        let before = self
        if case .value(.instant(let date)) = sweep.fresh(.revocationDate) { self.date = date }
        switch sweep.fresh(.revocationType) {
        case .value(.text(let text)): type = text
        case .none: type = nil
        default: break
        }
        RefundMachine.Revocation.take(sweep.fresh(.revocationPercentage), into: &percentage)
        RefundMachine.Revocation.take(sweep.fresh(.revocationReason), into: &reason)
        let isSameType = byBytes(before.type ?? "", type ?? "") == nil
        return before.date != date || !isSameType || before.percentage != percentage
            || before.reason != reason
    }

    private static func take(_ state: Knowledge.State, into number: inout Int64?) {
        switch state {
        case .value(.integer(let value)): number = value
        case .none: number = nil
        default: break
        }
    }
}
