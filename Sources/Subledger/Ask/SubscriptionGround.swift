internal import Events
internal import Projections

/// Why a subscription counts in an answer about a customer.
public struct SubscriptionGround: Codable, Hashable, Sendable {
    /// Its id.
    public let originalTransactionId: String
    /// The app it belongs to; nil if nothing names it.
    public let bundleId: String?
    /// What makes it the customer's: `named`, `link`, `linkAtOtherTime` (Apple joins it to a
    /// subscription that a link gives the customer at another time), or what it shares with another
    /// subscription (`appAccountToken`, `appTransactionId`, `appReceipt`, `transactionId`,
    /// `webOrderLineItemId`, `previousOriginalTransactionId`).
    public let because: String
    /// The customer of the link, or what is shared; nil for `named`.
    public let value: String?
    /// The other subscription that shares it; nil for `named` and `link`.
    public let with: String?

    init(
        _ stream: StreamID,
        bundleId: String?,
        _ ground: CustomerGround,
        isOfOtherTime: Bool = false
    ) {
        originalTransactionId = stream.originalTransactionId
        self.bundleId = bundleId
        switch ground {
        case .named: (because, value, with) = ("named", nil, nil)
        case .link(let customer):
            (because, value, with) = (isOfOtherTime ? "linkAtOtherTime" : "link", customer, nil)
        case .bond(let bond, let other):
            (because, value, with) = (bond.kind, bond.value, other.originalTransactionId)
        }
    }
}

extension SubscriptionGround {
    /// The number of hexadecimal digits shown of a digest: enough to find it again.
    private static let digestDigits = 12

    /// The reason as text; nil if there is nothing to explain.
    var words: String? {
        guard let value else { return nil }
        if because == "linkAtOtherTime" {
            return
                "its Apple account belongs to customer \(value), by a link that is valid at "
                + "another time"
        }
        guard let with else { return "a link assigns it to customer \(value)" }
        switch because {
        case "appReceipt":
            let digits = value.prefix(SubscriptionGround.digestDigits)
            return "one app receipt (SHA-256 \(digits)…) contains it and \(with)"
        case "previousOriginalTransactionId":
            return "Apple migrated it \(value.utf8.elementsEqual(with.utf8) ? "from" : "to") "
                + "\(with) (previousOriginalTransactionId)"
        default: return "it has \(because) \(value), as \(with) has"
        }
    }
}
