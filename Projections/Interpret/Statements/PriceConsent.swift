/// The customer's answer to a price increase (app-store.md §G-34).
public enum PriceConsent: String, CaseIterable, Sendable {
    /// Asked, and not answered.
    case pending
    /// Given, or not needed.
    case accepted
}
