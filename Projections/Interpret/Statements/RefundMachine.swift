internal import Events

/// Processes Apple's statements about refunds of one purchase, by as-of, and opens, updates and
/// closes cases.
///
/// A function of the set of events: they are ordered by as-of, then by kind, never by arrival.
struct RefundMachine {
    /// The cases, in the order in which they began.
    private(set) var drafts: [Draft] = []

    // The case that a refund updates or a reversal closes; never a closed one.
    private var open: Int?

    /// A case under construction.
    struct Draft {
        var state: RefundCase.State
        var requested: Instant?
        var declined: Instant?
        var announced: Instant?
        var reversed: Instant?
        var reversal: RefundCase.Reversal?
        var revocation = Revocation()
        /// The refunds that Apple states for single items; nil if it states none.
        var items: ItemRefunds?
        /// How many seats were taken back, if not the whole purchase was.
        var seats: Int64?
        /// How many seats had been taken back before this case.
        var seatsBefore: Int64 = 0
        /// Whether no statement about the purchase has the refund, only the notification REFUND.
        var isOnlyAnnounced = false
        /// Whether that notification was about seats.
        var isAnnouncedForSeats = false
        var citations = Citations()

        /// Whether money was refunded in it, or must have been.
        var holdsRefund: Bool { state == .refunded || state == .reversed }
    }

    /// Apple's details of a refund, as last stated in its case.
    struct Revocation {
        /// The earliest date stated in it: a later one does not restore days that were refunded.
        var date: Instant?
        var type: String?
        var percentage: Int64?
        var reason: Int64?
    }

    /// A statement about refunds of one purchase.
    struct Event {
        let asOf: Instant
        let word: Word
        let offset: Int64
    }

    /// The kind of statement; at the same as-of, in this order.
    enum Word {
        case request
        case refund(Sweep)
        case denial
        case itemRefund(ItemRefunds)
        /// How many seats are taken back by then.
        case seats(Int64)
        case refundNotice(ofSeats: Bool)
        case refusal
        case itemDenial
        /// The purchase is stated without the refund that was announced by then.
        case noticeDenial
        case reversalNotice

        fileprivate var rank: Int {
            switch self {
            case .request: 0
            case .refund: 1
            // A statement that denies a full refund may list refunds of items.
            case .denial: 2
            case .itemRefund: 3
            case .seats: 4
            case .refundNotice: 5
            case .refusal: 6
            case .itemDenial: 7
            case .noticeDenial: 8
            case .reversalNotice: 9
            }
        }

        // Whether it states the refund itself, which has more detail than an announcement.
        fileprivate var isRefundStatement: Bool {
            switch self {
            case .refund, .itemRefund: true
            case .seats(let quantity): quantity > 0
            default: false
            }
        }
    }

    /// The cases that result from these events, given in any order.
    init(_ events: [Event]) {
        let ordered = events.enumerated().sorted { left, right in
            (left.element.asOf, left.element.word.rank, left.offset)
                < (right.element.asOf, right.element.word.rank, right.offset)
        }.map(\.element)
        // REFUND without any statement of the refund is a case all the same, because Apple refunded
        // something. Next to one, it adds nothing.
        let isStated = ordered.contains { $0.word.isRefundStatement }
        for event in ordered {
            if case .refundNotice = event.word, isStated { continue }
            take(event)
        }
        findAnnouncements(among: ordered)
    }

    private mutating func take(_ event: Event) {
        switch event.word {
        case .request:
            if open == nil { begin(.requested, event) { $0.requested = event.asOf } }
            cite(event.offset)
        case .refund(let sweep):
            takeRefund(event, sweep)
        case .itemRefund(let items):
            guard !isReversed(items) else { return }
            turnToRefund(event)
            take(items, event)
        case .seats(let quantity):
            takeSeats(quantity, event)
        case .refundNotice(let isOfSeats):
            turnToRefund(event)
            if let open {
                drafts[open].isOnlyAnnounced = true
                drafts[open].isAnnouncedForSeats = isOfSeats
            }
            cite(event.offset)
        case .refusal:
            takeRefusal(event)
        case .denial:
            // Silence about a request, and every statement before a refund, denies nothing; and a
            // purchase that remains valid does not deny the refund of an item.
            guard let open, drafts[open].state == .refunded, drafts[open].revocation.date != nil
            else { return }
            close(open, event, .inferred)
        case .itemDenial:
            guard let open, drafts[open].state == .refunded, drafts[open].revocation.date == nil
            else { return }
            close(open, event, .inferred)
        case .noticeDenial:
            guard let open, drafts[open].state == .refunded, drafts[open].isOnlyAnnounced
            else { return }
            close(open, event, .inferred)
        case .reversalNotice:
            takeReversalNotice(event)
        }
    }

    private mutating func takeRefusal(_ event: Event) {
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
    }

    private mutating func close(
        _ index: Int,
        _ event: Event,
        _ reversal: RefundCase.Reversal
    ) {
        drafts[index].state = .reversed
        drafts[index].reversed = event.asOf
        drafts[index].reversal = reversal
        drafts[index].citations.cite(event.offset)
        open = nil
    }

    private mutating func turnToRefund(_ event: Event) {
        if open == nil { begin(.refunded, event) { _ in } }
        guard let open else { return }
        if drafts[open].announced == nil { drafts[open].announced = event.asOf }
        drafts[open].state = .refunded
    }

    // After it announced a reversal, Apple may continue to list the refunds of items: the same list
    // again, with the same dates, is not a new refund.
    private func isReversed(_ items: ItemRefunds) -> Bool {
        guard let last = drafts.last(where: \.holdsRefund) else { return false }
        return last.state == .reversed && last.reversal == .announced && last.items == items
    }

    private mutating func take(_ items: ItemRefunds, _ event: Event) {
        guard let open, drafts[open].items != items else { return }
        drafts[open].items = items
        drafts[open].citations.cite(event.offset)
    }

    // Each refund of seats is a case of its own, because each has a date and an amount. A reversal
    // undoes the last ones first; of a case that it undoes in part, the rest is a new one.
    private mutating func takeSeats(_ quantity: Int64, _ event: Event) {
        // The whole purchase is revoked until a statement denies it.
        if let open, drafts[open].state == .refunded, drafts[open].revocation.date != nil { return }
        let before = open
        defer { open = before.flatMap { drafts[$0].seats == nil ? $0 : nil } }
        var index = drafts.endIndex
        while seatsInForce > quantity, index > drafts.startIndex {
            index -= 1
            guard drafts[index].seats != nil, drafts[index].state == .refunded else { continue }
            close(index, event, .inferred)
        }
        let more = quantity - seatsInForce
        guard more > 0 else { return }
        open = before.flatMap { drafts[$0].state == .requested ? $0 : nil }
        let taken = seatsInForce
        turnToRefund(event)
        if let open { (drafts[open].seats, drafts[open].seatsBefore) = (more, taken) }
        cite(event.offset)
    }

    private var seatsInForce: Int64 {
        drafts.reduce(0) { $0 + ($1.state == .refunded ? $1.seats ?? 0 : 0) }
    }

    private mutating func takeRefund(_ event: Event, _ sweep: Sweep) {
        turnToRefund(event)
        guard let open else { return }
        if drafts[open].revocation.date == nil { drafts[open].seatsBefore = seatsInForce }
        if drafts[open].revocation.take(sweep) { drafts[open].citations.cite(event.offset) }
    }

    // A refund that Apple reports as reversed, but that never reached us.
    private mutating func takeReversalNotice(_ event: Event) {
        // No statement about the purchase can deny a refund that none of them has.
        if let open, drafts[open].state == .refunded, drafts[open].revocation.date == nil {
            close(open, event, .announced)
            return
        }
        guard !drafts.contains(where: \.holdsRefund) else { return }
        if open == nil { begin(.reversed, event) { _ in } }
        if let open { close(open, event, .announced) }
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
    // Only statements at this very as-of count: those of an earlier case are not about this one.
    // Returns true if anything changed.
    fileprivate mutating func take(_ sweep: Sweep) -> Bool {
        let before = self
        if case .value(.instant(let date)) = sweep.fresh(.revocationDate) {
            self.date = min(self.date ?? date, date)
        }
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
