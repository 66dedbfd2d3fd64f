internal import Events
internal import Projections

/// The answer of `charges` in a few sentences, ready to paste into a ticket.
struct ChargesSummary {
    /// The charges that were not free.
    let charges: [ChargesDocument.Charge]
    let totals: [ChargesDocument.Total]
    let known: Known
    /// The environment that was asked about.
    let asked: StoreEnvironment
    let instant: Instant?
    // The periods that another purchase replaced before they began, by subscription.
    private let overtaken: [(id: String, period: ActivePeriod)]

    init(
        charges: [ChargesDocument.Charge],
        totals: [ChargesDocument.Total],
        known: Known,
        asked: StoreEnvironment,
        instant: Instant?
    ) {
        (self.charges, self.totals, self.known) = (charges, totals, known)
        (self.asked, self.instant) = (asked, instant)
        overtaken = known.timelines.flatMap { timeline in
            ActivePeriods(timeline).rows.filter(\.neverTookEffect).map {
                (timeline.stream.originalTransactionId, $0)
            }
        }
    }

    /// All sentences, in one line.
    var text: String { (place + [sums] + overlap + renewal + zone).joined(separator: " ") }

    // What a tester bought is not money of a customer.
    private var place: [String] {
        guard known.environment != .production else { return [] }
        let words = known.environment.placeWords
        return (asked == known.environment ? [] : ["No charge in production is known."]) + [
            StoreEnvironment.named.contains(known.environment)
                ? "These are test purchases in \(words): no money was charged, and the amounts are "
                    + "list prices."
                : "These are purchases in \(words)."
        ]
    }

    private var zone: [String] {
        charges.isEmpty && instant == nil ? [] : ["Dates are in \(QuestionZone.shown.words)."]
    }

    private var sums: String {
        guard let first = charges.first, let last = charges.last else {
            return "No charge is known\(until)."
        }
        let sums = totals.filter { $0.chargedMilliunits != 0 }.map { total in
            Amount.text(total.chargedMilliunits, total.currency)
                + (total.refundedMilliunits == 0
                    ? ""
                    : ", of which \(Amount.text(total.refundedMilliunits, total.currency)) was "
                        + "refunded")
        }
        let unknown = totals.map(\.unknownCount).reduce(0, +)
        let notes = unknown == 0 ? [] : ["\(unknown) of the amounts are not known"]
        let list = ([sums.joined(separator: " and ")].filter { !$0.isEmpty } + notes)
            .joined(separator: "; ")
        guard charges.count > 1 else {
            return
                "One charge\(until), on \(day(first.purchaseDate)) for \(name(first)): \(list)."
        }
        return "\(charges.count) charges\(until), from \(day(first.purchaseDate)) to "
            + "\(day(last.purchaseDate)): \(list)."
    }

    private var until: String { instant.map { " up to \(day($0))" } ?? "" }

    // The newest charge for a time that another charge had paid for already.
    private var overlap: [String] {
        let kept = charges.filter { charge in
            charge.expiresDate != nil && charge.reason != "seats" && !isOvertaken(charge)
                && !charge.refunds.contains { $0.state == .refunded }
        }
        for (index, charge) in kept.enumerated().reversed() {
            let other = kept[..<index].last { earlier in
                earlier.sellsTheSame(as: charge)
                    && (earlier.expiresDate ?? .epoch) > charge.purchaseDate
            }
            guard let other, let end = other.expiresDate else { continue }
            let again =
                "On \(day(charge.purchaseDate)), \(name(charge)) was charged although "
                + "\(name(other)) was paid until \(day(end))"
            guard !areSameBytes(charge.originalTransactionId, other.originalTransactionId) else {
                let isChange = charge.reason == "plan_change"
                return [
                    again
                        + (isChange
                            ? ": a change of plan at once, for which Apple gives back the unused "
                                + "part of \(name(other))."
                            : ": a new purchase of the same subscription, which replaced the rest.")
                ]
            }
            return [
                again + ": these are two subscriptions, \(other.originalTransactionId) and "
                    + "\(charge.originalTransactionId), which Apple charges separately."
            ]
        }
        return []
    }

    // How renewal was switched around the last charge for a subscription.
    private var renewal: [String] {
        let last = charges.last { $0.expiresDate != nil && !isOvertaken($0) }
        guard let last else { return [] }
        let told = cancellation(before: last)
        return told + renewalOff(after: last, isNamed: !told.isEmpty)
    }

    // Whether it was a renewal charged ahead, which another purchase replaced before it began.
    private func isOvertaken(_ charge: ChargesDocument.Charge) -> Bool {
        overtaken.contains { id, period in
            period.purchaseDate == charge.purchaseDate && period.expiresDate == charge.expiresDate
                && areSameBytes(period.productId, charge.productId)
                && areSameBytes(id, charge.originalTransactionId)
        }
    }

    private func timeline(of charge: ChargesDocument.Charge) -> Timeline? {
        known.timelines.first {
            areSameBytes($0.stream.originalTransactionId, charge.originalTransactionId)
        }
    }

    // A cancellation before the last charge that did not prevent it: it was taken back in time, or
    // the charge was for a new purchase.
    private func cancellation(before last: ChargesDocument.Charge) -> [String] {
        let previous = charges.last { $0.isPaidBefore(last) && !isOvertaken($0) }
        // What was switched after an early charge was not switched before it.
        let states = states(of: previous ?? last).filter { row in
            previous.map { $0.purchaseDate <= row.validFrom } ?? true
                && row.validFrom < last.purchaseDate && row.charge != .succeeded
        }
        let off = states.reversed().drop { $0.isAutoRenewOn != false }
            .prefix { $0.isAutoRenewOn == false }.last
            .flatMap { $0.isSwitchedOff ? $0.validFrom : nil }
        let on = off.flatMap { off in
            states.first { off < $0.validFrom && $0.isAutoRenewOn == true }?.validFrom
        }
        let charged = "the last charge for \(name(last))"
        let isRenewal =
            last.reason == "renewal"
            && (previous?.expiresDate ?? last.purchaseDate) <= last.purchaseDate
        if isRenewal, let off, let on {
            return [
                "Renewal was switched off on \(day(off)) and on again on \(day(on)), before "
                    + "\(charged) on \(day(last.purchaseDate)), which was a renewal."
            ]
        }
        let isNew = last.reason == "first" && previous != nil
        guard isNew || last.reason == "resubscribe" else { return [] }
        // Of a period that was not renewed, only the end may have been stated.
        let preposition = off == previous?.expiresDate ? "by" : "on"
        let cancelled = on == nil ? off : nil
        return [
            "\(charged.capitalizedFirst), on "
                + "\(day(last.purchaseDate)), was for a new purchase and not a renewal: "
                + (cancelled.map {
                    "renewal had been switched off \(preposition) \(day($0)), and "
                } ?? "")
                + "the subscription had ended."
        ]
    }

    // The states of the subscription of a charge, as far as they are asked about.
    private func states(of charge: ChargesDocument.Charge) -> [RenewalState] {
        timeline(of: charge).map { RenewalStates($0).rows }?
            .filter { row in instant.map { row.validFrom <= $0 } ?? true } ?? []
    }

    // When renewal was switched off for good, before or after the last charge, which a sentence
    // before this one may have named.
    private func renewalOff(
        after last: ChargesDocument.Charge,
        isNamed: Bool
    ) -> [String] {
        let states = states(of: last).reversed().prefix { $0.isAutoRenewOn == false }
        guard let row = states.last, let end = last.expiresDate else { return [] }
        let off = row.validFrom
        let charge =
            isNamed
            ? "" : "The last charge for \(name(last)) was on \(day(last.purchaseDate)); "
        func sentence(_ words: String) -> [String] { [(charge + words).capitalizedFirst] }
        let refund = last.refunds.last { $0.state == .refunded }
        // Apple switches renewal off when it refunds.
        if let refund, let date = refund.refunded, date <= off, refund.isOfWhole {
            let ended = refund.timing == .current ? ", which ended the subscription" : ""
            let it = isNamed ? "that charge" : "it"
            return sentence("\(it) was refunded on \(day(date))\(ended).")
        }
        // Only the end of a subscription that could not be charged, or was not, was stated.
        guard off < end else {
            let paid = "paid until \(day(end)), and nothing was charged after that."
            return sentence(isNamed ? "that charge " + paid : paid)
        }
        let order =
            off >= last.purchaseDate
            ? "after it" : row.charge == .succeeded ? "after Apple had charged for it" : "before it"
        let fate = refund == nil ? "paid until \(day(end))" : "that charge was refunded"
        return sentence("renewal was switched off on \(day(off)), \(order); \(fate).")
    }

    private func day(_ instant: Instant) -> String { instant.dayWords ?? instant.clock }

    private func name(_ charge: ChargesDocument.Charge) -> String {
        known.catalogs.words(ofProduct: charge.productId)
    }
}

extension RenewalState {
    // Whether the customer switched renewal off, and it did not end with a failed charge or a
    // refund.
    fileprivate var isSwitchedOff: Bool {
        isAutoRenewOn == false
            && (expirationReason == .customer || status != .expired && status != .revoked)
    }
}

extension ChargesDocument.Charge {
    // Whether it paid for the time before another charge: a period of the same subscription, or of
    // one that sold the same and had ended.
    fileprivate func isPaidBefore(_ other: Self) -> Bool {
        guard let expiresDate, reason != "seats", purchaseDate < other.purchaseDate else {
            return false
        }
        return areSameBytes(originalTransactionId, other.originalTransactionId)
            || other.reason == "first" && sellsTheSame(as: other)
                && expiresDate <= other.purchaseDate
    }

    // Whether both are for one group, so that one of them would have been enough. The products of
    // one subscription are of one group, also where Apple did not name it.
    fileprivate func sellsTheSame(as other: Self) -> Bool {
        if areSameBytes(originalTransactionId, other.originalTransactionId) {
            return true
        }
        guard let mine = subscriptionGroupIdentifier, let theirs = other.subscriptionGroupIdentifier
        else { return areSameBytes(productId, other.productId) }
        return areSameBytes(mine, theirs)
    }
}

extension RefundCase {
    // Whether it took the purchase back, and not only some of its items or seats.
    fileprivate var isOfWhole: Bool { kind != .items && kind != .seats }
}

extension String {
    // With a capital letter, as at the beginning of a sentence.
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
