public import Events

/// An event that made the answer what it is, with both of its clocks.
public struct DecisiveEvent: Hashable, Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The event; where a repetition made the answer, the event that was repeated.
    public let position: Position
    /// What it did.
    public let role: Role
    /// Apple's word for the notification that came in the same payload; nil where none did.
    public let notificationType: String?
    /// Its subtype; nil where there is none.
    public let subtype: String?
    /// When what it did took effect: valid time.
    public let occurredAt: Instant
    /// When Apple said so.
    public let signedAt: Instant
    /// When the log learnt it.
    public let recordedAt: Instant
    /// The period it is about, as it was known from then on; nil where it is about a one-time
    /// purchase.
    public let period: ActivePeriod?
    /// The one-time purchase it is about; nil where it is about a period.
    public let oneTimePurchase: OneTimePurchase?

    /// The product it is about.
    public var productId: String { period?.productId ?? oneTimePurchase?.productId ?? "" }

    /// What an event did to the access.
    public enum Role: String, CaseIterable, Sendable {
        /// A purchase began.
        case opened
        /// A renewal began where the period before ended.
        case renewed
        /// Billing grace began.
        case grace
        /// The end of the period was moved.
        case extended
        /// The access ended.
        case ended
        /// Apple said that no renewal follows, and why: auto-renewal is off, or an expiration intent.
        case notRenewed
        /// What had been taken back was given back.
        case restored
        /// Something else that is known about a period changed.
        case corrected
    }

    /// How late the log learnt it, in whole seconds, never negative.
    ///
    /// Counted from when it took effect; a restoration, which takes effect in the past, from when
    /// Apple said so. A renewal that is charged before it begins is not late.
    public var lagSeconds: Int64 {
        let since = role == .restored ? signedAt : occurredAt
        return max(0, (recordedAt.milliseconds - since.milliseconds) / 1000)
    }
}
