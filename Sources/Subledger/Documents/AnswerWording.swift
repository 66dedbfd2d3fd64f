internal import AppStore
package import EventLog
package import Events
package import Projections

// The words of answers for people, where documents have words of the machine.

/// What answers print where the ledger knew nothing: the same words in all of them.
package enum NothingKnown {
    /// For people.
    package static let words = "nothing was known"
}

extension NoAccessReason {
    /// For people.
    package var words: String {
        switch self {
        case .notKnownYet: NothingKnown.words
        case .neverBought: "never bought"
        case .notYetBought: "not bought yet"
        case .expired: "expired"
        case .refunded: "refunded"
        case .revoked: "family sharing ended"
        case .upgraded: "another product took its place"
        case .notJudged: "one-time purchase, not judged"
        }
    }
}

extension WrongAnswers.Cause {
    /// For people.
    package var words: String {
        switch self {
        case .notYetKnown: "nothing was known of the subscription yet"
        case .lateNotification: "the purchase became known late"
        case .refundReversedLater: "the refund was reversed later"
        case .extensionKnownLater: "the extension became known late"
        case .graceKnownLater: "the grace became known late"
        case .refundedLater: "the refund became known late"
        case .revokedLater: "the end of family sharing became known late"
        case .upgradeKnownLater: "the change of product became known late"
        case .graceEndedLater: "the end of the grace became known late"
        case .correctedLater: "what was known was corrected later"
        }
    }
}

extension OneTimePurchase.Kind {
    /// For people.
    package var words: String {
        switch self {
        case .nonConsumable: "non-consumable"
        case .consumable: "consumable"
        case .nonRenewing: "non-renewing subscription"
        case .unknown: "type not stated"
        }
    }
}

extension ActivePeriod {
    /// Why it ended, of one that did.
    fileprivate var endWords: String {
        endReason == .open ? "no renewal known" : endReason.rawValue
    }
}

extension PeriodChange {
    /// In a few words, with a sign in front: `+` opened, `=` renewed, `~` grace, `−` ended, `↩`
    /// restored, `>` extended, `*` corrected.
    var words: String {
        if let oneTimePurchase { return words(of: oneTimePurchase) }
        let row = after ?? before
        let product = row?.productId ?? ""
        let end = row?.validTo.clock ?? ""
        return switch role {
        case .opened: "+ opened \(row?.kind.rawValue ?? "") \(product) → \(end)"
        case .renewed: "= renewed \(product) → \(end)"
        case .grace: "~ grace → \(end)"
        case .ended: "− ended at \(end) (\(after?.endWords ?? "gone"))"
        case .notRenewed: "− not renewed at \(end)"
        case .restored: "↩ restored \(product) → \(end)"
        case .extended: "> extended → \(end)"
        case .corrected: "* corrected \(product) → \(end)"
        }
    }

    private func words(of purchase: OneTimePurchase) -> String {
        switch role {
        case .ended:
            "− \((purchase.isFamilyShared ? NoAccessReason.revoked : .refunded).words)"
                + (purchase.revocationDate.map { " at \($0.clock)" } ?? "")
        case .restored: "↩ restored \(purchase.productId)"
        case .opened, .renewed, .grace, .extended, .corrected, .notRenewed:
            "+ bought \(purchase.productId)"
        }
    }
}

extension Fact {
    /// Whether its as-of is only a lower bound: neither its form nor the payload it came in has a
    /// date of its own, as no version 1 notification has.
    package func isUndated(in payload: EvidenceSummary?) -> Bool {
        content.format.isUndated
            || payload?.evidenceKind == PayloadKind.statusUpdateNotification.rawValue
                && content.format != .receiptTransaction
    }
}

extension Instant {
    /// Since when a link holds, for people.
    package var startWords: String {
        self <= .epoch ? "from the first purchase on" : "as of \(clock) UTC"
    }

    /// The same after the words of who has something.
    package var sinceWords: String {
        self <= .epoch ? "since the first purchase" : "since \(self)"
    }
}

extension Duration {
    /// Seconds in the units of people: `6 d 4 h 5 m`, `4 s`.
    package static func words(_ seconds: Int64) -> String {
        guard seconds >= 60 else { return "\(seconds) s" }
        let parts = [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m")]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }
}

/// How a case of a refund, or a purchase, stands, in words.
package enum RefundWords {
    /// The state and the kind of the refund, as documents have them.
    package static func text(_ state: String, _ kind: String?) -> String {
        switch kind {
        case nil: state
        case RefundCase.Kind.untyped.rawValue: "\(state) (type not stated)"
        case RefundCase.Kind.replaced.rawValue: "\(state) by upgrade"
        case let kind?: "\(state) \(kind)"
        }
    }
}
