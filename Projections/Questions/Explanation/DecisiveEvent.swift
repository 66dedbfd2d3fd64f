package import Events

/// An event that contributed to the answer, with both of its times.
package struct DecisiveEvent: Hashable, Sendable {
    /// The subscription.
    package let stream: StreamID
    /// The event; if a repetition contributed, the event that was repeated.
    package let position: Position
    /// Whether a repetition of the event contributed, such as a reversal that states what the
    /// purchase stated before its refund.
    package let isRepetition: Bool
    /// Its effect.
    package let role: Role
    /// The type of the notification in the same payload; nil if there was none.
    package let notificationType: String?
    /// Its subtype; nil if there is none.
    package let subtype: String?
    /// When its effect began: valid time.
    package let occurredAt: Instant
    /// Apple's date for the statement.
    package let signedAt: Instant
    /// When the log recorded it.
    package let recordedAt: Instant
    /// The period it is about, as it was known from then on; nil if it is about a one-time
    /// purchase.
    package let period: ActivePeriod?
    /// The one-time purchase it is about; nil if it is about a period.
    package let oneTimePurchase: OneTimePurchase?

    /// The product it is about.
    package var productId: String { period?.productId ?? oneTimePurchase?.productId ?? "" }

    /// The effect of an event on access.
    package enum Role: String, CaseIterable, Sendable {
        /// A purchase began.
        case opened
        /// A renewal began at the end of the previous period.
        case renewed
        /// Billing grace began.
        case grace
        /// The end of the period was changed.
        case extended
        /// The access ended.
        case ended
        /// Apple stated that no renewal follows, and why: auto-renewal is off, or an expiration
        /// intent.
        case notRenewed
        /// A revocation was reversed.
        case restored
        /// Another known detail of a period changed.
        case corrected
    }

    /// The delay until the log recorded it, in whole seconds, never negative.
    ///
    /// Counted from when its effect began; for a restoration, whose effect begins in the past, from
    /// Apple's date. A renewal that is charged before it begins is not late.
    package var lagSeconds: Int64 {
        let since = role == .restored ? signedAt : occurredAt
        return max(0, (recordedAt.milliseconds - since.milliseconds) / 1000)
    }
}
