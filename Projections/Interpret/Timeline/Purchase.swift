package import Events

/// One paid period of a subscription: everything ever asserted about one purchase.
///
/// A restore gives it new transaction ids, an extension a later expiry, a refund a revocation date;
/// it stays one purchase (Apple's data: traps 4, 7, 8).
///
/// It is immutable. It is a class because every view keeps purchases of the timeline: that costs
/// one reference count for each purchase, and not one for each of its properties.
package final class Purchase: Sendable {
    /// Start of the period, in whole seconds.
    package let purchaseDate: Instant
    /// Natural end of the period, in whole seconds, as last asserted.
    package let expiresDate: Instant
    /// The product as last asserted; empty if no format stated it.
    package let productId: String
    /// Apple's id of the purchase across all devices; empty if no format contained one.
    package let webOrderLineItemId: String
    /// Everything asserted about it.
    package let assertions: Assertions
    /// The offset of the event that decides both dates.
    package let datesOffset: Int64
    /// The changes that Apple made to its end, by as-of; nearly always none (Apple's data: trap 7).
    package let extensions: [Extension]
    /// The later dates that restores of a one-time purchase gave it, ascending
    /// (Apple's data: trap 15).
    package let restoreDates: [Instant]
    /// Its seats, if it is of a multiseat subscription; nil for all others.
    package let seats: Seats?
    /// The bundle or suite that it is part of; nil if it was bought alone.
    package let bundle: BundleMembership?
    /// The transactions that added seats to its period, by start; nearly always none.
    ///
    /// They are not separate purchases: the period goes on as long as one transaction is left.
    package let additions: [Purchase]
    /// The offset of the event that states seats or bundle; nil if none does.
    let extrasOffset: Int64?
    // The fields that most views read.
    private let decisions: Decisions
    private let revocation: (state: Knowledge.State, offset: Int64)?

    private static let decidedFields = FieldSet([
        .subscriptionGroupIdentifier, .inAppOwnershipType, .transactionReason, .quantity,
        .storefront, .currency, .price, .isUpgraded, .offerType, .offerIdentifier,
        .offerDiscountType, .revocationDate, .revocationType, .revocationReason, .appAccountToken,
        .billingPlanType, .commitmentInfo,
    ])

    init(
        purchaseDate: Instant,
        expiresDate: Instant,
        productId: String,
        webOrderLineItemId: String,
        assertions: Assertions,
        datesOffset: Int64,
        extensions: [Extension],
        restoreDates: [Instant] = [],
        additions: [Purchase] = []
    ) {
        self.purchaseDate = purchaseDate
        self.expiresDate = expiresDate
        self.productId = productId
        self.webOrderLineItemId = webOrderLineItemId
        self.assertions = assertions
        self.datesOffset = datesOffset
        self.extensions = extensions
        self.restoreDates = restoreDates
        self.additions = additions
        decisions = Decisions(assertions, of: Purchase.decidedFields)
        revocation =
            Purchase.earliestRevocation(assertions) ?? decisions.decision(on: .revocationDate)
        let extras = Purchase.signedExtras(assertions)
        bundle = extras.flatMap { BundleMembership($0.object) }
        if case .value(.integer(let quantity))? = decisions.decision(on: .quantity)?.state {
            seats = extras.flatMap { Seats($0.object, quantity: quantity) }
        } else {
            seats = extras.flatMap { Seats($0.object, quantity: nil) }
        }
        extrasOffset = seats == nil && bundle == nil ? nil : extras?.offset
    }

    // What the newest signed transaction states beyond the fields that have a place of their own.
    // Older formats cannot state it, so their silence says nothing.
    private static func signedExtras(
        _ assertions: Assertions
    ) -> (object: ExtraObject, offset: Int64)? {
        var last: Assertion?
        for assertion in assertions.sorted where assertion.content.carried.contains(.extra) {
            guard assertion.fields.contains(.extra),
                assertion.content.format == .signedTransaction,
                last.map({ assertion.outranks($0, on: .extra) }) ?? true
            else { continue }
            last = assertion
        }
        return last.flatMap { last in
            last.content.text(.extra).map { (ExtraObject($0), last.offset) }
        }
    }

    /// A change of a purchase's natural end.
    package struct Extension: Hashable, Sendable {
        /// When Apple first stated it.
        package let asOf: Instant
        /// The end stated before.
        package let from: Instant
        /// The end stated from then on; earlier than `from` only if an older format rounds.
        package let to: Instant
        /// The offset of the event that states it.
        package let offset: Int64
    }

    /// The offset of the first event about this purchase.
    ///
    /// An addition of seats may decide the end of the period, but has a first event of its own, also
    /// if a repetition of what it states cites an event of another transaction.
    package var firstOffset: Int64 {
        assertions.sorted.filter(\.isComplete).map(\.offset).min() ?? datesOffset
    }

    /// Every transaction id under which it was seen, by UTF-8 bytes (Apple's data: trap 4).
    package var transactionIds: [String] {
        var ids: [String] = []
        ids.reserveCapacity(assertions.sorted.count)
        for index in assertions.sorted.indices {
            let own = assertions.sorted[index].content.text(.transactionId)
            if let own, !own.isEmpty { ids.append(own) }
            let alias = assertions.sorted[index].alias
            if !alias.isEmpty { ids.append(alias) }
        }
        guard ids.count > 1 else { return ids }
        ids.sort { byBytes($0, $1) ?? false }
        return ids.reduce(into: []) { unique, id in
            if unique.last.map({ byBytes($0, id) != nil }) ?? true { unique.append(id) }
        }
    }

    /// Whether another family member pays for it (Apple's data: trap 33).
    var isFamilyShared: Bool { sharing == .family }

    /// Whether it is known to have been replaced by another one.
    package var isUpgraded: Bool { state(of: .isUpgraded) == .value(.boolean(true)) }

    /// The earliest as-of at which it was marked as upgraded, with the offset of the lowest such
    /// event.
    package var firstUpgradeMark: (asOf: Instant, offset: Int64)? {
        var first: (asOf: Instant, offset: Int64)?
        for assertion in assertions.sorted where assertion.fields.contains(.isUpgraded) {
            guard assertion.state(of: .isUpgraded) == .value(.boolean(true)) else { continue }
            if let first, first.asOf < assertion.asOf { break }
            first = (assertion.asOf, min(first?.offset ?? assertion.offset, assertion.offset))
        }
        return first
    }
}

extension Purchase {
    /// Whether it is a one-time purchase rather than a subscription (Apple's data: trap 35).
    var neverExpires: Bool { expiresDate == Instant(milliseconds: 0) }

    /// What any receipt stated for that member of `Continuation`, because one that lacks a row says
    /// nothing: the least id, whatever arrived first.
    func continuation(_ name: String) -> String? {
        assertions.sorted.lazy.compactMap { $0.continuation(name) }.min { byBytes($0, $1) ?? false }
    }

    /// The state of a field after all assertions.
    func state(of field: Field) -> Knowledge.State { decision(on: field)?.state ?? .unknown }

    /// The decision on a field after all assertions: the last one counts.
    ///
    /// Of several revocation dates the earliest counts, because a later one does not restore days
    /// that were refunded; only a statement without a revocation does (Apple's data: traps 10, 30).
    func decision(on field: Field) -> (state: Knowledge.State, offset: Int64)? {
        if field == .revocationDate { return revocation }
        return Purchase.decidedFields.contains(field)
            ? decisions.decision(on: field) : assertions.decision(on: field)
    }

    // Nil if it is not revoked.
    fileprivate static func earliestRevocation(
        _ assertions: Assertions
    ) -> (state: Knowledge.State, offset: Int64)? {
        guard assertions.stateRevocation else { return nil }
        var earliest: (date: Instant, offset: Int64)?
        var sweep = Sweep(assertions)
        while sweep.advance() {
            switch sweep.fresh(.revocationDate) {
            case .value(.instant(let date)):
                guard earliest.map({ date < $0.date }) ?? true,
                    let offset = sweep.decider(of: .revocationDate)
                else { continue }
                earliest = (date, offset)
            case .none: earliest = nil
            default: continue
            }
        }
        return earliest.map { (.value(.instant($0.date)), $0.offset) }
    }

    /// The text of a field as last asserted, citing the event that decides it.
    func text(_ field: Field, citing citations: inout Citations) -> String? {
        if case .text(let text)? = value(field, &citations) { text } else { nil }
    }

    /// The integer of a field as last asserted, citing the event that decides it.
    func integer(_ field: Field, citing citations: inout Citations) -> Int64? {
        if case .integer(let number)? = value(field, &citations) { number } else { nil }
    }

    /// The instant of a field as last asserted, citing the event that decides it.
    func instant(_ field: Field, citing citations: inout Citations) -> Instant? {
        if case .instant(let instant)? = value(field, &citations) { instant } else { nil }
    }

    /// The flag of a field as last asserted, citing the event that decides it.
    func boolean(_ field: Field, citing citations: inout Citations) -> Bool? {
        if case .boolean(let flag)? = value(field, &citations) { flag } else { nil }
    }

    private func value(_ field: Field, _ citations: inout Citations) -> FieldValue? {
        guard let decision = decision(on: field) else { return nil }
        citations.cite(decision.offset)
        if case .value(let value) = decision.state { return value }
        return nil
    }
}
