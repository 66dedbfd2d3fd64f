/// Apple's names of events in Sales and Trends (Apple's data: report events).
///
/// Spelled as in the Subscription Event report 1_3; nil if Apple is not known to have a name.
enum AppleEvent {
    /// A charge was refunded.
    static let refund = "Refund"

    /// How a purchase relates to what was before.
    enum Start {
        /// The first one of the subscription.
        case new
        /// After a lapse.
        case resubscribed
        /// It continues the subscription, from that status; `isFirst` if its predecessor is not
        /// known.
        case continuing(isFirst: Bool, after: SubscriptionStatus?)
    }

    /// The name for a purchase.
    static func acquisition(
        offerType: Int64?,
        previousOfferType: Int64?,
        change: PlanChangeClass?,
        start: Start,
        isSameOffer: Bool
    ) -> String? {
        switch start {
        case .new: return offerType.map { started($0) } ?? "Subscribe"
        case .resubscribed: return reactivated(offerType, change)
        case .continuing(let isFirst, let status):
            if let offerType {
                guard offerType == introductory else { return nil }
                if status == .billingRetry {
                    return "Introductory Offer from Billing Retry" + with(change)
                }
                return isSameOffer ? "Introductory Offer from Introductory Offer" : nil
            }
            if let previousOfferType { return converted(previousOfferType, change) }
            return renewed(change, isFirst ? nil : status)
        }
    }

    /// The name for a failed charge.
    static func billingIssue(isGrace: Bool, offerType: Int64?) -> String? {
        let issue = isGrace ? "Grace Period" : "Billing Retry"
        guard let offerType else { return "\(issue) from Paid Subscription" }
        return offer(offerType).map { "\(issue) from \($0)" }
    }

    /// The name for an end.
    static func churn(from status: SubscriptionStatus, isAfterExtension: Bool) -> String {
        switch status {
        case .billingRetry: "Canceled from Billing Retry"
        case .gracePeriod: "Canceled from Billing Grace Period"
        default: isAfterExtension ? "Canceled After Renewal Extension" : "Cancel"
        }
    }

    private static let introductory: Int64 = 1
    private static let winBack: Int64 = 4

    private static func offer(_ offerType: Int64) -> String? {
        switch offerType {
        case introductory: "Introductory Offer"
        case 2: "Promotional Offer"
        case 3: "Offer Code"
        case winBack: "Win-Back Offer"
        default: nil
        }
    }

    // A win-back is for former subscribers, so no name for a start is known.
    private static func started(_ offerType: Int64) -> String? {
        offerType == winBack ? nil : offer(offerType).map { "Start \($0)" }
    }

    private static func reactivated(_ offerType: Int64?, _ change: PlanChangeClass?) -> String? {
        guard let offerType else { return "Reactivate" + with(change) }
        switch offerType {
        case introductory: return "Reactivate to Introductory Offer" + with(change)
        case winBack: return nil
        default: return offer(offerType).map { "Reactivation to \($0)" + with(change) }
        }
    }

    private static func converted(_ previous: Int64, _ change: PlanChangeClass?) -> String? {
        guard let offer = offer(previous) else { return nil }
        let paid = "Paid Subscription from \(offer)"
        guard let change else { return paid }
        guard let name = name(change) else { return nil }
        switch previous {
        case introductory: return "\(name) From \(offer)"
        case winBack: return "\(paid) with \(name)"
        default: return "\(name) from \(offer)"
        }
    }

    private static func renewed(
        _ change: PlanChangeClass?,
        _ status: SubscriptionStatus?
    ) -> String? {
        guard let change else {
            switch status {
            case .billingRetry: return "Renewal from Billing Retry"
            case .gracePeriod: return "Renewals from Grace Period"
            default: return "Renew"
            }
        }
        guard let name = name(change) else { return nil }
        switch status {
        case .billingRetry: return "\(name) from Billing Retry"
        case .gracePeriod: return "\(name) from Grace Period"
        default: return name
        }
    }

    // Without a catalog, Apple has no name for a change.
    private static func name(_ change: PlanChangeClass) -> String? {
        switch change {
        case .upgrade: "Upgrade"
        case .downgrade: "Downgrade"
        case .crossgrade: "Crossgrade"
        case .planChange: nil
        }
    }

    private static func with(_ change: PlanChangeClass?) -> String {
        change.flatMap(name).map { " with \($0)" } ?? ""
    }
}
