/// The rows of all tables except `active_periods`, once everything was delivered.
public struct LifeTables: Sendable {
    /// The rows of `renewal_states`.
    public let states: [SimulatedRenewalState]
    /// The rows of `plan_changes`.
    public let planChanges: [SimulatedPlanChange]
    /// The rows of `refunds`.
    public let refundCases: [SimulatedRefund]
    /// The rows of `transactions`.
    public let transactions: [SimulatedTransaction]
    /// The rows of `movements`.
    public let movements: [SimulatedMovement]
}
