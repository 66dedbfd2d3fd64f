/// The customer's answer to a price increase (Apple's data: trap 34).
public enum PriceConsent: String, CaseIterable, Codable, Sendable {
    /// Asked, and not answered.
    case pending
    /// Given, or not needed.
    case accepted
}
