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

    /// The ground of a customer's subscription at an instant; nil for all of time.
    init(_ stream: CustomerStream, of customer: Customer, at instant: Instant? = nil) {
        originalTransactionId = stream.stream.originalTransactionId
        bundleId = stream.bundleId
        switch customer.ground(of: stream.stream) ?? .named {
        case .named: (because, value, with) = ("named", nil, nil)
        case .link(let name):
            let isInForce = instant.map { stream.isLinked(at: $0) } ?? true
            (because, value, with) = (isInForce ? "link" : "linkAtOtherTime", name, nil)
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
