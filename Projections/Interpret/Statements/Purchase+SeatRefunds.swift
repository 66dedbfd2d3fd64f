internal import Events

extension Purchase {
    /// Whether any statement, even if later ones differ, has seats taken back.
    var wasASeatRefunded: Bool { !seatRefundEvents.isEmpty }

    /// The statements about how many of its seats are taken back, one event for each as-of from the
    /// first refund on.
    ///
    /// A statement by which the whole purchase is revoked is about all of them
    /// (https://developer.apple.com/documentation/appstoreserverapi/revokedseatquantity).
    var seatRefundEvents: [RefundMachine.Event] {
        // Only the purchaser's transaction states them.
        guard sharing == nil else { return [] }
        var stated: [Instant: Assertion] = [:]
        for assertion in assertions.sorted where assertion.statesSeats {
            let other = stated[assertion.asOf]
            if other.map({ assertion.outranks($0, on: .extra) }) ?? true {
                stated[assertion.asOf] = assertion
            }
        }
        guard !stated.isEmpty else { return [] }
        var events: [RefundMachine.Event] = []
        var sweep = Sweep(assertions)
        while sweep.advance() {
            guard let asOf = sweep.asOf, let assertion = stated[asOf],
                let seats = assertion.content.text(.extra)
                    .flatMap({ Seats(ExtraObject($0), quantity: nil) })
            else { continue }
            if case .value = sweep.fresh(.revocationDate) { continue }
            guard !events.isEmpty || seats.revokedQuantity > 0 else { continue }
            events.append(
                .init(asOf: asOf, word: .seats(seats.revokedQuantity), offset: assertion.offset)
            )
        }
        return events
    }
}
