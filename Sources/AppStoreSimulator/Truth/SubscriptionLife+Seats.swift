package import Events

extension SubscriptionLife {
    /// The seats of the subscription at an instant, without those that were refunded; nil if the
    /// newest purchase is for one customer, or nothing was bought yet.
    package func seats(asOf instant: Instant) -> SimulatedSeats? {
        guard let state = state(asOf: instant), let seats = state.newest?.seats else { return nil }
        return SimulatedSeats(
            state.seatCount(ofPeriod: state.purchases.count - 1),
            invitations: seats.invitations
        )
    }
}
