public import Events

/// One expected row of `plan_changes`: a requested or completed change of product.
public struct SimulatedPlanChange: Hashable, Sendable {
    /// The outcome of the change.
    public enum State: String, CaseIterable, Hashable, Sendable {
        /// Requested, and still possible.
        case requested
        /// Completed.
        case effective
        /// Withdrawn by the customer.
        case withdrawn
        /// Dropped because the subscription ended.
        case lapsed
    }

    /// When such a change takes effect.
    public enum Timing: String, CaseIterable, Hashable, Sendable {
        /// At once; the rest of the old period is refunded.
        case now
        /// With the next renewal.
        case nextRenewal = "next_renewal"
        /// After everything had ended.
        case resubscribe
    }

    /// The class of the change by the levels of the catalog (Apple's data: trap 23).
    public enum Class: String, CaseIterable, Hashable, Sendable {
        /// To a higher level.
        case upgrade
        /// To a lower level.
        case downgrade
        /// To another product of the same level.
        case crossgrade
    }

    /// The previous product.
    public let fromProductId: String
    /// The new product.
    public let toProductId: String
    /// When Apple first signed the request; nil if it was never announced.
    public let requested: Instant?
    /// When the change took effect; nil if it did not.
    public let effective: Instant?
    /// When Apple first signed that the request was withdrawn.
    public let withdrawn: Instant?
    /// The outcome.
    public let state: State
    /// When such a change takes effect.
    public let timing: Timing
    /// The class by level.
    public let `class`: Class
    /// Whether both products have the same duration.
    public let isSameDuration: Bool
    /// The offer it comes with; nil for none.
    public let offer: SimulatedOffer.Category?

    /// Whether the rest of the old period is refunded.
    public let refundsPrevious: Bool
}

extension SimulatedPlanChange: CustomStringConvertible {
    /// One line: products, the three instants, state, timing, class, length, offer.
    public var description: String {
        let instants = [requested, effective, withdrawn].map { $0?.description ?? "-" }
        return "\(fromProductId) \(toProductId) \(instants.joined(separator: " "))"
            + " \(state.rawValue) \(timing.rawValue) \(`class`.rawValue)"
            + " \(isSameDuration ? "same" : "other")"
            + " \(offer.map { String($0.rawValue) } ?? "-")"
    }
}

extension SubscriptionLife {
    /// The rows that `plan_changes` must have once everything was delivered.
    public var planChanges: [SimulatedPlanChange] { known?.planChanges ?? [] }

    /// The rows for a reader who knows what had happened by an instant, as in `periods(asOf:)`.
    public func planChanges(asOf instant: Instant) -> [SimulatedPlanChange] {
        known(asOf: instant)?.planChanges ?? []
    }
}
