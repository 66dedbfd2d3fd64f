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
            let stating = assertions.sorted.filter { assertion in
                assertion.fields.contains(.revocationDate)
                    && (!isOfSeats || assertion.content.format == .signedTransaction)
            }
            guard let index = stating.firstIndex(where: { $0.asOf >= signed }) else { return nil }
            let after = stating[index]
            // If the last one before the announcement says the same, it holds throughout, and what
            // repeats it in between decides nothing.
            if let before = stating[..<index].last,
                before.state(of: .revocationDate) == after.state(of: .revocationDate)
            {
                return .init(asOf: notice.asOf, word: .noticeDenial, offset: before.offset)
            }
            return .init(
                asOf: max(after.asOf, notice.asOf),
                word: .noticeDenial,
                offset: after.offset
            )
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
