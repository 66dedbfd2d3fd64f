internal import Events

extension Purchase {
    /// Whether any statement, later ones aside, had it revoked.
    var wasEverRevoked: Bool {
        assertions.sorted.contains { assertion in
            assertion.fields.contains(.revocationDate)
                && assertion.content.carried.contains(.revocationDate)
        }
    }

    /// What was said about its revocation, one event an as-of.
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
