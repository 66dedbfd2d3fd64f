package import Events
package import Projections

/// One expected row of `plan_changes`: a requested or completed change of product.
package struct SimulatedPlanChange: Hashable, Sendable {
    /// The outcome of the change.
    package typealias State = PlanChange.State

    /// When such a change takes effect.
    package typealias Timing = PlanChange.Timing

    /// The class of the change by the levels of the catalog (Apple's data: trap 23).
    package typealias Class = PlanChangeClass

    /// The previous product.
    package let fromProductId: String
    /// The new product.
    package let toProductId: String
    /// When Apple first signed the request; nil if it was never announced.
    package internal(set) var requested: Instant?
    /// When the change took effect; nil if it did not.
    package internal(set) var effective: Instant?
    /// When Apple first signed that the request was withdrawn.
    package internal(set) var withdrawn: Instant?
    /// The outcome.
    package internal(set) var state: State
    /// When such a change takes effect.
    package let timing: Timing
    /// The class by level.
    package let `class`: Class
    /// Whether both products have the same duration.
    package let isSameDuration: Bool
    /// The offer it comes with; nil for none.
    package let offer: SimulatedOffer.Category?
    /// Whether the rest of the old period is refunded.
    package internal(set) var refundsPrevious = false

    /// A change between two products of a group.
    init(
        from old: SimulatedProduct,
        to new: SimulatedProduct,
        _ state: State,
        _ timing: Timing,
        _ offer: SimulatedOffer.Category?,
        requested: Instant? = nil
    ) {
        (fromProductId, toProductId) = (old.id, new.id)
        (self.state, self.timing, self.offer) = (state, timing, offer)
        self.requested = requested
        `class` = new.change(from: old)
        isSameDuration = old.duration == new.duration
    }
}

extension SimulatedPlanChange: CustomStringConvertible {
    /// One line: products, the three instants, state, timing, class, length, offer.
    package var description: String {
        let instants = [requested, effective, withdrawn].map { $0?.description ?? "-" }
        return "\(fromProductId) \(toProductId) \(instants.joined(separator: " "))"
            + " \(state.rawValue) \(timing.rawValue) \(`class`.rawValue)"
            + " \(isSameDuration ? "same" : "other")"
            + " \(offer.map { String($0.rawValue) } ?? "-")"
    }
}
