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

extension Purchase {
    /// For each announced refund the first statement about the purchase that was signed with it or
    /// later and has no revocation date.
    ///
    /// Apple's dates have precedence over what it announces (Decisions: a status that Apple signs).
    /// A refund of seats is denied only by a format that can state seats.
    func denials(of notices: [RefundMachine.Event]) -> [RefundMachine.Event] {
        notices.compactMap { notice in
            guard case .refundNotice(let isOfSeats) = notice.word else { return nil }
            let signed = Instant(
                milliseconds: notice.asOf.milliseconds - ServerNotification.signingSpread
            )
            let denial = assertions.sorted.first { assertion in
                assertion.asOf >= signed && assertion.fields.contains(.revocationDate)
                    && (!isOfSeats || assertion.content.format == .signedTransaction)
            }
            return denial.map {
                .init(asOf: max($0.asOf, notice.asOf), word: .noticeDenial, offset: $0.offset)
            }
        }
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
