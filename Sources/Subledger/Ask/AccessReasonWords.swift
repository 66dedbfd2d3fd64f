internal import Events
internal import Projections

/// Why there is or is not access, in words for a ticket; made from the same rows as the document.
struct AccessReasonWords {
    private let answer: ExplanationAnswer
    private let at: Instant

    init(_ answer: ExplanationAnswer) {
        self.answer = answer
        at = answer.explanation.at
    }

    /// The reason for an answer, without a full stop.
    ///
    /// - Parameters:
    ///   - known: The answer; nil if nothing was ever known.
    ///   - instant: How much is known; nil for everything.
    /// - Returns: A clause.
    func reason(_ known: KnownAnswer?, knownAt instant: Instant?) -> String {
        guard let known else { return nothing }
        switch known.answer {
        case .access(let row): return access(row, timeline(of: row.stream, instant))
        case .owned(let purchase):
            let start =
                "\(name(purchase.productId)) (\(purchase.kind.words)) was bought on "
                + date(purchase.purchaseDate)
            return start + (purchase.isFamilyShared ? " and is shared by the family" : "")
        case .notOwned(let reason, let purchase): return notOwned(reason, purchase)
        case .none(let reason, let row?):
            return none(reason, row, timeline(of: row.stream, instant))
        case .none(.notYetBought, nil):
            let start = known.firstPurchase.map { " on \(date($0))" } ?? ""
            let verb = known.firstPurchase.map(isAhead) == true ? "begins" : "began"
            return "the first purchase\(product) \(verb) only\(start)"
        case .none(.notKnownYet, nil): return nothing
        case .none(_, nil): return isErased ? nothing : "the ledger has no purchase\(product)"
        }
    }

    /// A date for a ticket: `3 March 2026`, with the time unless it is midnight.
    func date(_ instant: Instant) -> String {
        guard let day = instant.dayWords, let clock = instant.clock.split(separator: " ").last
        else {
            return instant.clock
        }
        let time = clock.hasSuffix(":00") ? clock.dropLast(3) : clock.prefix(8)
        let isSameDay = instant != at && instant.clock.prefix(10) == at.clock.prefix(10)
        return time == "00:00" && !isSameDay ? day : "\(day), \(time) \(QuestionZone.shown.words)"
    }

    private func name(_ productId: String) -> String {
        answer.catalogs.words(ofProduct: productId)
    }

    // Whether an instant is still to come, and so must not be described in the past tense.
    private func isAhead(_ instant: Instant) -> Bool { instant > answer.askedAt }

    private var product: String { answer.product.map { " of \(name($0))" } ?? "" }

    private var isErased: Bool { answer.customer.erasures.contains { $0.tookEverything } }

    private var nothing: String {
        if let erased = answer.customer.erasures.last(where: { $0.tookEverything }) {
            return "what the ledger knew of \(erased.originalTransactionId) was erased on "
                + date(erased.recordedAt)
        }
        return answer.customer.histories.isEmpty
            ? "no subscription belonged to \(answer.customer.id) then"
            : "\(NothingKnown.words) of \(answer.customer.id)"
    }

    private func timeline(of stream: StreamID, _ instant: Instant?) -> Timeline? {
        let history = answer.customer.histories.first { $0.stream == stream }
        return history.map { history in
            Timeline(instant.map { history.known(at: $0) } ?? history.latest)
                .under(answer.explanation.policy)
        }
    }
}

extension AccessReasonWords {
    private func access(_ row: ActivePeriod, _ timeline: Timeline?) -> String {
        let span = "from \(date(row.validFrom)) \(end(of: row))"
        let shared =
            row.kind == .grace ? timeline?.sharing(of: row).map { ", \($0.words)" } ?? "" : ""
        let verb = isAhead(row.validTo) ? "is" : "was"
        let phrase =
            switch row.kind {
            case .grace:
                "the renewal of \(name(row.productId)) could not be charged, and Apple granted a "
                    + "billing grace period \(span)"
            case .trial:
                "\(name(row.productId)) \(verb) in a free trial \(span)"
            case .intro: "\(name(row.productId)) was bought with an introductory offer, \(span)"
            case .offer: "\(name(row.productId)) was bought with an offer, \(span)"
            case .paid: "\(name(row.productId)) was paid for \(span)"
            case .family: "\(name(row.productId)) was shared by the family \(span)"
            case .assigned: "a seat of \(name(row.productId)) was assigned \(span)"
            }
        return phrase + shared + reversal(of: row, timeline)
    }

    private func end(of row: ActivePeriod) -> String {
        if isTenureEnd(row) { return "until another customer got it on \(date(row.validTo))" }
        return switch row.endReason {
        case .expired, .open: "to \(date(row.validTo))"
        case .upgraded:
            isAhead(row.validTo)
                ? "until another product replaces it on \(date(row.validTo))"
                : "until another product replaced it on \(date(row.validTo))"
        case .replaced:
            isAhead(row.validTo)
                ? "until a new purchase replaces it on \(date(row.validTo))"
                : "until a new purchase replaced it on \(date(row.validTo))"
        case .refunded: "until it was refunded on \(date(row.validTo))"
        case .revoked: "until family sharing ended on \(date(row.validTo))"
        case .assignmentEnded: "until the assignment ended on \(date(row.validTo))"
        }
    }

    private func reversal(of row: ActivePeriod, _ timeline: Timeline?) -> String {
        guard let refund = refund(of: row, timeline), refund.state == .reversed,
            let reversed = refund.reversed
        else { return "" }
        return ", and its refund was reversed on \(date(reversed))"
    }

    private func refund(of row: ActivePeriod, _ timeline: Timeline?) -> RefundCase? {
        timeline.map { Refunds($0).rows }?.last {
            $0.isNet && $0.purchaseDate == row.purchaseDate
                && $0.productId.utf8.elementsEqual(row.productId.utf8)
        }
    }

    // Whether the period ends for this customer because the subscription moved to another customer.
    private func isTenureEnd(_ row: ActivePeriod) -> Bool {
        answer.customer.tenures[row.stream]?.upperBound == row.validTo
    }

    private func notOwned(_ reason: NoAccessReason, _ purchase: OneTimePurchase) -> String {
        let what = "\(name(purchase.productId)) (\(purchase.kind.words))"
        let on = purchase.revocationDate.map { " on \(date($0))" } ?? ""
        return switch reason {
        case .revoked: "family sharing of \(what) ended\(on)"
        case .notJudged:
            "\(what) was bought on \(date(purchase.purchaseDate)), and only the app knows how much "
                + "of it is left"
        default: "\(what), bought on \(date(purchase.purchaseDate)), was refunded\(on)"
        }
    }

    private func none(
        _ reason: NoAccessReason,
        _ row: ActivePeriod,
        _ timeline: Timeline?
    ) -> String {
        let end = date(row.validTo)
        if isTenureEnd(row) {
            return "\(row.stream.originalTransactionId) moved to another customer on \(end)"
        }
        switch reason {
        case .refunded:
            let on = refund(of: row, timeline)?.refunded ?? row.validTo
            return "Apple refunded \(name(row.productId)), bought on \(date(row.purchaseDate)), on "
                + date(on)
        case .revoked: return "family sharing of \(name(row.productId)) ended on \(end)"
        case .assignmentEnded: return "the assignment of \(name(row.productId)) ended on \(end)"
        case .upgraded:
            let what = row.endReason == .replaced ? "a new purchase" : "another product"
            return "\(what) replaced \(name(row.productId)) on \(end)"
        default: return expired(row, timeline)
        }
    }

    private func expired(_ row: ActivePeriod, _ timeline: Timeline?) -> String {
        let what = row.kind == .grace ? "the billing grace period" : "the period"
        let verb = isAhead(row.validTo) ? "ends" : "ended"
        let ended = "\(what) of \(name(row.productId)) \(verb) on \(date(row.validTo))"
        let states = timeline.map { RenewalStates($0) }
        let after = states?.rows.first { $0.validFrom >= row.validTo && $0.expirationReason != nil }
        let isRetried = states?.state(at: at)?.status == .billingRetry
        let why = row.expirationReason ?? after?.expirationReason
        if row.kind == .grace || isRetried || why == .billing {
            return "the renewal could not be charged and \(ended)"
                + (isRetried ? ", while Apple was still trying to charge" : "")
        }
        switch why {
        case .priceIncrease:
            return "the customer did not agree to a price increase and \(ended)"
        case .unbundled:
            return "the customer left the bundle of \(name(row.productId)) and \(ended)"
        case .productUnavailable:
            return "the product was not available for renewal and \(ended)"
        default:
            if let off = turnedOff(before: row.validTo, states?.rows ?? [], row.stream) {
                return "\(off) and \(ended)"
            }
            if why == .customer { return "renewal was turned off and \(ended)" }
            return row.endReason == .open
                ? "\(ended), and Apple has reported no renewal" : ended
        }
    }

    // When renewal was last turned off before an end: the date of Apple's notification, or without
    // one the date of the first statement that it is off.
    private func turnedOff(
        before end: Instant,
        _ states: [RenewalState],
        _ stream: StreamID
    ) -> String? {
        let before = states.filter { $0.validFrom < end }
        let off = before.reversed().prefix { $0.isAutoRenewOn == false }
        guard let first = off.last else { return nil }
        let history = answer.customer.histories.first { $0.stream == stream }
        let isDated = history?.events.contains { event in
            event.fact.asOf == first.validFrom && event.fact.kind == .notification
                && event.fact.content.text(.subtype) == "AUTO_RENEW_DISABLED"
        }
        return "renewal was turned off \(isDated == true ? "on" : "by") \(date(first.validFrom))"
    }
}
