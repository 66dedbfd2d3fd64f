/// The status of a subscription; the raw values are Apple's `status` (Apple's data: status values).
public enum SubscriptionStatus: Int64, CaseIterable, Hashable, Sendable {
    /// Paid for, or free through an offer.
    case active = 1
    /// Ended, and not renewed.
    case expired = 2
    /// The charge for the renewal failed and is retried, without access.
    case billingRetry = 3
    /// The charge for the renewal failed; access continues for a while.
    case gracePeriod = 4
    /// Refunded, or no longer shared by the family.
    case revoked = 5

    /// Whether it gives access.
    public var isEntitled: Bool { self == .active || self == .gracePeriod }
}

extension SubscriptionStatus: Codable {
    /// Reads the word.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let word = try container.decode(String.self)
        guard let status = SubscriptionStatus.allCases.first(where: { $0.description == word })
        else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "'\(word)' is not a status"
            )
        }
        self = status
    }

    /// Writes the word.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension SubscriptionStatus: CustomStringConvertible {
    /// The word for tables and JSON.
    public var description: String {
        switch self {
        case .active: "active"
        case .expired: "expired"
        case .billingRetry: "billing_retry"
        case .gracePeriod: "grace_period"
        case .revoked: "revoked"
        }
    }
}
