internal import Events

extension WrongAnswers {
    /// What the ledger learned too late; the raw value is the word for JSON.
    package enum Cause: String, CaseIterable, Codable, Sendable {
        /// Nothing about the subscription was known.
        case notYetKnown
        /// The purchase or renewal that gives access was not known.
        case lateNotification
        /// The purchase counted as revoked, but was not in the end (Apple's data: trap 30).
        case refundReversedLater
        /// A change of the period's end was not known (Apple's data: trap 7).
        case extensionKnownLater
        /// The billing grace was not known (Apple's data: trap 20).
        case graceKnownLater
        /// A refund of the purchase was not known (Apple's data: trap 10).
        case refundedLater
        /// The end of family sharing was not known (Apple's data: trap 33).
        case revokedLater
        /// The purchase that had replaced it was not known (Apple's data: trap 26).
        case upgradeKnownLater
        /// The end of the seat's assignment was not known (Apple's data: seats).
        case assignmentEndedLater
        /// The end of the billing grace was not known (Apple's data: trap 22).
        case graceEndedLater
        /// Another known detail of the purchase was corrected.
        case correctedLater
    }
}

extension WrongAnswers.Cause {
    /// The cause that changed one answer into the other.
    init(
        from before: AccessAnswer,
        to after: AccessAnswer,
        rowsBefore: [ActivePeriod],
        rowsAfter: [ActivePeriod]
    ) {
        switch (before, after) {
        case (_, .access(let granted)) where !before.hasAccess:
            self =
                before.reason == .notKnownYet
                ? .notYetKnown : WrongAnswers.Cause(granting: granted, rowsBefore: rowsBefore)
        case (.access(let granted), _) where !after.hasAccess:
            self = WrongAnswers.Cause(ending: granted, rowsAfter: rowsAfter)
        case (.notOwned(.refunded, _), .owned), (.notOwned(.revoked, _), .owned),
            (.notOwned(.assignmentEnded, _), .owned):
            self = .refundReversedLater
        case (_, .owned) where !before.hasAccess:
            self = before.reason == .notKnownYet ? .notYetKnown : .lateNotification
        case (.owned(let purchase), _) where !after.hasAccess:
            self = purchase.isFamilyShared ? .revokedLater : .refundedLater
        default:
            self = .correctedLater
        }
    }

    private init(granting row: ActivePeriod, rowsBefore: [ActivePeriod]) {
        if row.isGrace {
            self = .graceKnownLater
            return
        }
        guard let known = rowsBefore.first(where: { !$0.isGrace && $0.isOfSamePurchase(as: row) })
        else {
            self = .lateNotification
            return
        }
        switch known.endReason {
        case .refunded, .revoked, .assignmentEnded: self = .refundReversedLater
        case _ where known.expiresDate < row.expiresDate: self = .extensionKnownLater
        default: self = .correctedLater
        }
    }

    private init(ending row: ActivePeriod, rowsAfter: [ActivePeriod]) {
        if row.isGrace {
            self = .graceEndedLater
            return
        }
        let known = rowsAfter.first { !$0.isGrace && $0.isOfSamePurchase(as: row) }
        switch known?.endReason {
        case .refunded: self = .refundedLater
        case .revoked: self = .revokedLater
        case .assignmentEnded: self = .assignmentEndedLater
        case .upgraded, .replaced: self = .upgradeKnownLater
        default: self = .correctedLater
        }
    }
}
