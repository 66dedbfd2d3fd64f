import AppStore
import AppStoreSimulator
import Events
import Projections
import Subledger

extension AppStoreSimulator {
    /// A verifier that trusts this store.
    func verifier() throws -> AppStoreVerifier {
        AppStoreVerifier(
            policy: VerificationPolicy(
                roots: [try RootCertificate(der: store.pki.rootDER)],
                environments: [.production, .sandbox, store.environment],
                assumedEnvironment: store.environment
            )
        )
    }
}

extension SubscriptionLife {
    var stream: StreamID {
        StreamID(environment: store.environment, originalTransactionId: originalTransactionId)
    }

    /// What is wrong with a ledger's periods of this life; nil if nothing is.
    ///
    /// - Parameters:
    ///   - told: The ledger's periods.
    ///   - expected: The expected periods, if they are not the whole truth.
    ///   - channel: The channel of the payloads, for the message.
    /// - Returns: Expected and found, as text.
    func difference(
        _ told: ActivePeriods,
        from expected: [SimulatedPeriod]? = nil,
        by channel: String
    ) -> String? {
        let expected = expected ?? periods
        let found = told.rows.map(SimulatedPeriod.init)
        let active = told.active.map { AccessInterval(from: $0.lowerBound, to: $0.upperBound) }
        guard found != expected || active != AccessInterval.covered(by: expected) else {
            return nil
        }
        return """
            life \(identity.index) of seed \(identity.seed), \(originalTransactionId), by \
            \(channel); \(kinds.map(\.rawValue).sorted().joined(separator: ", "))
            expected:
            \(expected.map { "  \($0)" }.joined(separator: "\n"))
            found:
            \(found.map { "  \($0)" }.joined(separator: "\n"))
            access found: \(active)
            """
    }
}

extension SimulatedPeriod {
    /// A ledger's row in the simulator's terms.
    init(_ row: ActivePeriod) {
        guard let kind = Kind(rawValue: row.kind.rawValue),
            let endReason = EndReason(rawValue: row.endReason.rawValue)
        else { preconditionFailure("the simulator has no word for \(row)") }
        self.init(
            productId: row.productId,
            purchaseDate: row.purchaseDate,
            expiresDate: row.expiresDate,
            validFrom: row.validFrom,
            validTo: row.validTo,
            kind: kind,
            endReason: endReason
        )
    }
}

extension AccessInterval {
    /// The spans covered by any of the rows, computed differently from the simulator and the fold:
    /// by walking over all ends.
    static func covered(by periods: [SimulatedPeriod]) -> [AccessInterval] {
        let ends = Set(periods.flatMap { [$0.validFrom, $0.validTo] }).sorted()
        var spans: [AccessInterval] = []
        for (from, to) in zip(ends, ends.dropFirst())
        where periods.contains(where: { $0.validFrom <= from && to <= $0.validTo }) {
            if let last = spans.last, last.to == from {
                spans[spans.count - 1] = AccessInterval(from: last.from, to: to)
            } else {
                spans.append(AccessInterval(from: from, to: to))
            }
        }
        return spans
    }
}
