internal import Events

extension Purchase {
    /// Whether any statement, even if later ones differ, had it revoked.
    var wasEverRevoked: Bool { assertions.stateRevocation }

    /// The statements about its revocation, one event for each as-of.
    var revocationEvents: [RefundMachine.Event] {
        guard wasEverRevoked else { return [] }
        var events: [RefundMachine.Event] = []
        var sweep = Sweep(assertions)
        while sweep.advance() {
            guard let asOf = sweep.asOf, let offset = sweep.decider(of: .revocationDate) else {
                continue
            }
            switch sweep.fresh(.revocationDate) {
            case .value: events.append(.init(asOf: asOf, word: .refund(sweep), offset: offset))
            case .none: events.append(.init(asOf: asOf, word: .denial, offset: offset))
            case .unknown: break
            }
        }
        return events
    }
}

extension Assertions {
    /// Whether any of them states a revocation.
    var stateRevocation: Bool {
        sorted.contains { assertion in
            assertion.fields.contains(.revocationDate)
                && assertion.content.carried.contains(.revocationDate)
        }
    }
}
