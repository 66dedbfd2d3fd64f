public import Events

/// One row of truth: a change of product, wanted or done, as `plan_changes` must tell it.
public struct SimulatedPlanChange: Hashable, Sendable {
    /// What became of it.
    public enum State: String, CaseIterable, Hashable, Sendable {
        /// Wanted, and still possible.
        case requested
        /// Done.
        case effective
        /// Given up by the customer.
        case withdrawn
        /// Given up as the subscription ended.
        case lapsed
    }

    /// When such a change begins.
    public enum Timing: String, CaseIterable, Hashable, Sendable {
        /// At once; the rest of the old period is given back.
        case now
        /// With the next renewal.
        case nextRenewal = "next_renewal"
        /// After everything had ended.
        case resubscribe
    }

    /// What it is by the levels of the catalog (Apple's data: trap 23).
    public enum Class: String, CaseIterable, Hashable, Sendable {
        /// To a higher level.
        case upgrade
        /// To a lower level.
        case downgrade
        /// To another product of the same level.
        case crossgrade
    }

    /// The product before.
    public let fromProductId: String
    /// The product after.
    public let toProductId: String
    /// When Apple first signed that it was wanted; nil where it was never announced.
    public let requested: Instant?
    /// When it began; nil where it did not.
    public let effective: Instant?
    /// When Apple first signed that it was no longer wanted.
    public let withdrawn: Instant?
    /// What became of it.
    public let state: State
    /// When such a change begins.
    public let timing: Timing
    /// What it is by level.
    public let `class`: Class
    /// Whether both products run equally long.
    public let isSameDuration: Bool
    /// The offer it comes with; nil for none.
    public let offer: SimulatedOffer.Category?

    /// Whether the rest of the old period is given back.
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

    /// The rows for somebody who knows what had happened by an instant, as in `periods(asOf:)`.
    public func planChanges(asOf instant: Instant) -> [SimulatedPlanChange] {
        known(asOf: instant)?.planChanges ?? []
    }
}
