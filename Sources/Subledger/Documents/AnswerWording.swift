internal import AppStore
package import EventLog
package import Events
package import Projections

// Words for people, where documents have machine-readable words.

/// What every answer prints if the ledger knew nothing.
package enum NothingKnown {
    /// The text.
    package static let words = "nothing was known"
}

extension NoAccessReason {
    /// The value as text.
    package var words: String {
        switch self {
        case .notKnownYet: NothingKnown.words
        case .neverBought: "never bought"
        case .notYetBought: "not bought yet"
        case .expired: "expired"
        case .refunded: "refunded"
        case .revoked: "family sharing ended"
        case .assignmentEnded: "assignment ended"
        case .upgraded: "another purchase replaced it"
        case .notJudged: "one-time purchase, not judged"
        }
    }
}

extension WrongAnswers.Cause {
    /// The value as text.
    package var words: String {
        switch self {
        case .notYetKnown: "nothing was known of the subscription yet"
        case .lateNotification: "the purchase became known late"
        case .refundReversedLater: "the refund was reversed later"
        case .extensionKnownLater: "the extension became known late"
        case .graceKnownLater: "the grace became known late"
        case .refundedLater: "the refund became known late"
        case .revokedLater: "the end of family sharing became known late"
        case .assignmentEndedLater: "the end of the assignment became known late"
        case .upgradeKnownLater: "the change of product became known late"
        case .graceEndedLater: "the end of the grace became known late"
        case .correctedLater: "what was known was corrected later"
        }
    }
}

extension OneTimePurchase.Kind {
    /// The value as text.
    package var words: String {
        switch self {
        case .nonConsumable: "non-consumable"
        case .consumable: "consumable"
        case .nonRenewing: "non-renewing subscription"
        case .unknown: "type not stated"
        }
    }
}

extension Sharing {
    /// The value as text, to follow what is shared.
    package var words: String {
        switch self {
        case .family: "shared by the family"
        case .assigned: "an assigned seat"
        }
    }
}

extension ActivePeriod {
    /// Why it ended; only for a period that ended.
    fileprivate var endWords: String {
        endReason == .open ? "no renewal known" : endReason.rawValue
    }
}

extension PeriodChange {
    /// A short text with a leading sign: `+` opened, `=` renewed, `~` grace, `−` ended, `↩`
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
    /// Whether its as-of is only a lower bound: neither its format nor the payload it arrived in
    /// has a date of its own, as with version 1 notifications.
    package func isUndated(in payload: EvidenceSummary?) -> Bool {
        content.format.isUndated
            || payload?.evidenceKind == PayloadKind.statusUpdateNotification.rawValue
                && content.format != .receiptTransaction
    }
}

extension Instant {
    /// When a link begins, as text.
    package var startWords: String {
        self <= .epoch ? "from the first purchase on" : "as of \(zonedClock)"
    }

    /// The same text, to follow the name of the owner.
    package var sinceWords: String {
        self <= .epoch ? "since the first purchase" : "since \(self)"
    }
}

extension Duration {
    /// Seconds in readable units: `6 d 4 h 5 m`, `4 s`.
    package static func words(_ seconds: Int64) -> String {
        guard seconds >= 60 else { return "\(seconds) s" }
        let parts = [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m")]
        return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }
}

/// The state of a refund case, or of a purchase, as text.
package enum RefundWords {
    /// The text for a state and a kind of refund, given as in documents.
    package static func text(_ state: String, _ kind: String?) -> String {
        switch kind {
        case nil: state
        case RefundCase.Kind.untyped.rawValue: "\(state) (type not stated)"
        case RefundCase.Kind.replaced.rawValue: "\(state) for a replaced period"
        case RefundCase.Kind.familyRevoke.rawValue where isWithoutMoney(state):
            NoAccessReason.revoked.words
        case RefundCase.Kind.assignmentEnded.rawValue where isWithoutMoney(state):
            NoAccessReason.assignmentEnded.words
        case RefundCase.Kind.bundled.rawValue where isWithoutMoney(state): "moved to a bundle"
        case let kind?: "\(state) \(kind)"
        }
    }

    private static func isWithoutMoney(_ state: String) -> Bool {
        state == RefundCase.State.revoked.rawValue
    }
}

extension RefundCase {
    /// What was given back, as text; nil if Apple did not state what was paid, or which part of it.
    var amountWords: String? {
        if state == .refunded, priceMilliunits == 0 { return "nothing was paid" }
        return refundedMilliunits.map { Amount.text($0, currency) }
    }
}

/// The kinds of offers, as text.
package enum OfferWords {
    /// The text for Apple's `offerType`; nil for the standard price.
    package static func text(_ type: Int64?) -> String? {
        type.map { names[$0] ?? "type \($0)" }
    }

    private static let names: [Int64: String] = [
        1: "introductory", 2: "promotional", 3: "code", 4: "win-back", 5: "retention",
    ]
}

/// A number with the noun it counts: `1 payload`, `2 payloads`.
package func counted(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)" + (count == 1 ? "" : "s")
}

extension [CustomerStream] {
    /// How many they are: `1 subscription and 2 one-time purchases`.
    package var words: String {
        let oneTime = count { $0.isOneTimePurchase }
        guard oneTime > 0 else { return counted(count, "subscription") }
        let others = oneTime == count ? "" : counted(count - oneTime, "subscription") + " and "
        return others + counted(oneTime, "one-time purchase")
    }
}

/// Subscription groups, as text.
enum GroupWords {
    /// The name in the catalog, if there is one, with what identifies the group.
    static func text(_ name: String?, _ id: String) -> String {
        name.map { "\($0) (\(id))" } ?? id
    }
}

extension StoreEnvironment {
    /// The environment within a sentence, after "in".
    var placeWords: String {
        switch self {
        case .production: "production"
        case .sandbox: "the sandbox"
        default: word
        }
    }
}

extension SubscriptionGroup {
    /// Apple's identifier; nil if no format named it.
    var identifier: String? {
        switch self {
        case .identified(let identifier): identifier
        case .ofStream: nil
        }
    }
}

extension [String] {
    /// The strings without duplicates, in the order of their bytes.
    var uniqueByBytes: [String] {
        sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.reduce(into: []) { unique, id in
            if unique.last.map({ !$0.utf8.elementsEqual(id.utf8) }) ?? true { unique.append(id) }
        }
    }
}
