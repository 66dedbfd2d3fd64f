public import Events

/// A change of the answers about one subscription: the difference that one commit made.
///
/// It states what is known now and what was known before. A fact that arrives late changes what was
/// known: the change is then a correction, and has both, or only what is withdrawn.
public struct EffectChange: Sendable {
    /// What happened.
    public let kind: Kind
    /// What it is about, before and after.
    public let subject: Subject

    /// What happened; the raw value is the word in documents.
    public enum Kind: String, CaseIterable, Codable, Sendable {
        /// There is a grant of access that is not over, and there was none: until `until`.
        case accessBegan = "access_began"
        /// The end of the access is later.
        case accessExtended = "access_extended"
        /// The end of the access is earlier, but still after Apple's last statement.
        case accessShortened = "access_shortened"
        /// The access has ended, or never was.
        case accessEnded = "access_ended"
        /// Something else became known about a grant: about one that is over, or about the start of
        /// one that is not. If the subscription has several, it may change whether there is access.
        case accessCorrected = "access_corrected"
        /// A first purchase, one after a lapse, or one that never expires.
        case purchased
        /// The next period was paid.
        case renewed
        /// Another product, billing plan or number of seats was requested for later.
        case planChangeRequested = "plan_change_requested"
        /// That took effect.
        case planChanged = "plan_changed"
        /// That request was withdrawn by the customer.
        case planChangeWithdrawn = "plan_change_withdrawn"
        /// That request came to nothing.
        case planChangeLapsed = "plan_change_lapsed"
        /// Seats were added, or another number of them took effect.
        case seatsChanged = "seats_changed"
        /// Auto-renewal was turned on other than by a purchase.
        case renewalTurnedOn = "renewal_turned_on"
        /// Auto-renewal was turned off.
        case renewalTurnedOff = "renewal_turned_off"
        /// A charge failed, or the grace after it ended.
        case billingIssueEntered = "billing_issue_entered"
        /// The charge succeeded after all.
        case billingIssueRecovered = "billing_issue_recovered"
        /// The subscription ended, as a later statement of Apple confirms.
        case expired
        /// Money was refunded.
        case refunded
        /// A refund was reversed.
        case refundReversed = "refund_reversed"
        /// A refund was requested.
        case refundRequested = "refund_requested"
        /// A refund was declined.
        case refundDeclined = "refund_declined"
        /// Another party no longer shares it, or the assignment of the seat ended.
        case sharingEnded = "sharing_ended"
        /// Apple moved the end of a period.
        case periodExtended = "period_extended"
        /// A link gave the subscription to a customer.
        case linked
        /// No link is in force any more.
        case unlinked
        /// A part of what the log contained was erased; earlier effects may contain it.
        case erased
    }

    /// What a change is about: nil before for what is new, nil after for what is withdrawn.
    public enum Subject: Sendable {
        /// A time with access.
        case access(before: AccessGrant?, after: AccessGrant?)
        /// Something that happened once.
        case movement(before: Movement?, after: Movement?)
        /// A change of plan.
        case planChange(before: PlanChange?, after: PlanChange?)
        /// The customer by a link.
        case customer(before: String?, after: String?)
        /// What was erased.
        case erasure(Erasure.Scope)
    }

    /// Whether it corrects or withdraws what an earlier effect said, because a fact came late.
    public var isCorrection: Bool {
        switch subject {
        case .access: kind == .accessCorrected
        case .movement(let before, _): before != nil
        case .planChange(let before, let after):
            after == nil || before.map { $0.state == after?.state } ?? false
        case .customer, .erasure: false
        }
    }

    private init(_ kind: Kind, _ subject: Subject) {
        (self.kind, self.subject) = (kind, subject)
    }
}

extension EffectChange {
    /// The changes from earlier answers of a subscription to later ones: its customer, then what
    /// happened, then access, so that access which ended comes before access that began.
    ///
    /// Empty if nothing changed but the events that answers cite.
    package static func between(_ old: EffectState, _ new: EffectState) -> [EffectChange] {
        var changes = new.erasures.dropFirst(old.erasures.count).map { scope in
            EffectChange(.erased, .erasure(scope))
        }
        let isSameCustomer =
            switch (old.customer, new.customer) {
            case (let before?, let after?): byBytes(before, after) == nil
            default: old.customer == nil && new.customer == nil
            }
        if !isSameCustomer {
            changes.append(
                EffectChange(
                    new.customer == nil ? .unlinked : .linked,
                    .customer(before: old.customer, after: new.customer)
                )
            )
        }
        let moved = old.movements.differences(to: new.movements, by: movementIdentities)
        for (before, after) in moved {
            guard let kind = (after ?? before).flatMap(Kind.init) else { continue }
            changes.append(EffectChange(kind, .movement(before: before, after: after)))
        }
        let planned = old.planChanges.differences(to: new.planChanges, by: planIdentities)
        for (before, after) in planned {
            guard let kind = (after ?? before).map(Kind.init) else { continue }
            changes.append(EffectChange(kind, .planChange(before: before, after: after)))
        }
        return changes + accessChanges(from: old.access, to: new.access)
    }

    private static let movementIdentities = identities(of: MovementsProjection())
    private static let planIdentities = identities(of: PlanChangesProjection())

    private static func identities(of table: some Projection) -> [[RowKey.Part]] {
        let columns = table.columns
        return table.comparison.identities.map { $0.compactMap { RowKey.Part($0, in: columns) } }
    }
}

extension EffectChange {
    // Open grants are paired first: of one that is extended backwards over another, the end counts.
    private static func accessChanges(
        from old: [AccessGrant],
        to new: [AccessGrant]
    ) -> [EffectChange] {
        var (before, after) = (old, new)
        let same = zip(old, new).prefix { $0 == $1 }.count
        before.removeFirst(same)
        after.removeFirst(same)
        for grant in after {
            guard let index = before.firstIndex(of: grant), let place = after.firstIndex(of: grant)
            else { continue }
            before.remove(at: index)
            after.remove(at: place)
        }

        var pairs: [(before: AccessGrant?, after: AccessGrant?)] = []
        for isAmongOpen in [true, false] {
            after.removeAll { grant in
                let index = before.firstIndex {
                    $0.meets(grant) && (!isAmongOpen || $0.isOpen && grant.isOpen)
                }
                guard let index else { return false }
                pairs.append((before.remove(at: index), grant))
                return true
            }
        }
        pairs += before.map { ($0, nil) } + after.map { (nil, $0) }
        return pairs.map { pair in
            EffectChange(
                kind(from: pair.before, to: pair.after),
                .access(before: pair.before, after: pair.after)
            )
        }.ordered { $0.accessRank < $1.accessRank }
    }

    // Only what is open is access that a reader may still give; the rest is the past.
    private static func kind(from before: AccessGrant?, to after: AccessGrant?) -> Kind {
        switch (before?.isOpen ?? false, after?.isOpen ?? false) {
        case (false, true): return .accessBegan
        case (true, false): return .accessEnded
        case (false, false): return .accessCorrected
        case (true, true): break
        }
        let (old, new) = (before?.until, after?.until)
        guard let old, let new, old != new else { return .accessCorrected }
        return old < new ? .accessExtended : .accessShortened
    }

    private var accessRank: Int {
        switch kind {
        case .accessCorrected: 0
        case .accessEnded: 1
        default: 2
        }
    }
}

extension EffectChange.Kind {
    /// What a movement means for readers of effects; nil for a change of plan, which is a row of its
    /// own.
    init?(_ movement: Movement) {
        switch movement.kind {
        // An offer may be that of a renewal.
        case .offerStart where !movement.isInitial && !movement.isResubscribe: self = .renewed
        case .offerStart, .paidStart, .oneTimePurchase: self = .purchased
        case .offerRenewal, .conversion, .renewal: self = .renewed
        case .seatsAdded: self = .seatsChanged
        case .billingIssueEntered: self = .billingIssueEntered
        case .billingIssueRecovered: self = .billingIssueRecovered
        case .churnVoluntary, .churnInvoluntary, .churnPriceIncrease, .churnProductUnavailable,
            .churnUnknown:
            self = .expired
        case .exitRefund: self = .refunded
        case .familyRevoke, .assignmentEnded: self = .sharingEnded
        case .refundReversed: self = .refundReversed
        case .refundRequested: self = .refundRequested
        case .refundDeclined: self = .refundDeclined
        case .extension: self = .periodExtended
        case .autoRenewOff: self = .renewalTurnedOff
        case .autoRenewOn: self = .renewalTurnedOn
        case .exitPlanChange, .planChangeScheduled, .planChangeCancelled: return nil
        }
    }

    fileprivate init(_ change: PlanChange) {
        switch change.state {
        case .requested: self = .planChangeRequested
        case .withdrawn: self = .planChangeWithdrawn
        case .lapsed: self = .planChangeLapsed
        case .effective:
            let isOfSeats =
                byBytes(change.fromProductId, change.toProductId) == nil
                && change.fromSeatQuantity != change.toSeatQuantity
            self = isOfSeats ? .seatsChanged : .planChanged
        }
    }
}
