import AppStore
import AppStoreSimulator
import Events
import Projections
import Testing

/// Refunds and changes of product against the simulator's truth, from signed payloads in any order.
@Suite struct SimulatorMoneyTests {
    private static let seed: UInt64 = 20_261_123
    private static let lives = 2000

    @Test func `the refunds and changes of 2000 lives are the true ones`() async throws {
        let simulator = AppStoreSimulator(seed: Self.seed)
        let verifier = try simulator.verifier()
        let catalogues = Self.catalogues
        let differences = try await everyLife(0..<Self.lives) { index in
            let life = simulator.life(index)
            let told = try Told(life.deliveries(), verifier)
            let history = told.ledger(of: life, seed: 1).history(of: life.stream)
            return life.differences(history, catalogues)
        }
        #expect(differences.isEmpty, "\(Told.summary(differences))")
    }

    private static let catalogues = CatalogueHistory([
        ProductCatalogue(
            version: 1,
            effectiveFrom: Instant(milliseconds: 0),
            subscriptions: SimulatedCatalogue.groups.joined().compactMap { product in
                SubscriptionPeriod(product.duration.iso8601).map {
                    ProductCatalogue.Subscription(
                        productId: product.id,
                        subscriptionGroupIdentifier: product.group,
                        level: product.level,
                        duration: $0
                    )
                }
            }
        )
    ])
}

extension SubscriptionLife {
    fileprivate func differences(
        _ history: StreamHistory,
        _ catalogues: CatalogueHistory
    ) -> [String] {
        let timeline = Timeline(history)
        return [
            difference(Refunds(timeline).rows.map(\.line), from: refundCases.map { "\($0)" }),
            difference(
                PlanChanges(timeline, catalogues).rows.map(\.line),
                from: planChanges.map { "\($0)" }
            ),
            difference(
                TransactionRows(timeline, catalogues).rows.map(\.line),
                from: transactions.map { "\($0)" }
            ),
        ].compactMap { $0 }
    }

    private func difference(_ found: [String], from expected: [String]) -> String? {
        guard found != expected else { return nil }
        return """
            life \(identity.index) of seed \(identity.seed), \(originalTransactionId)
            \(events.map { "    \($0.signedAt) \($0.step)" }.joined(separator: "\n"))
            expected:
            \(expected.map { "  \($0)" }.joined(separator: "\n"))
            found:
            \(found.map { "  \($0)" }.joined(separator: "\n"))
            """
    }
}

private func text(_ instant: Instant?) -> String { instant?.description ?? "-" }

private func text(_ number: Int64?) -> String { number.map { String($0) } ?? "-" }

extension RefundCase {
    /// As the simulator prints its truth.
    fileprivate var line: String {
        let instants = [requested, declined, revoked, announced, reversed].map { text($0) }
        let amounts = [percentageMilli, reason, priceMilliunits, refundedMilliunits].map {
            text($0)
        }
        return "\(purchaseDate) \(productId) \(state.rawValue) \(kind?.rawValue ?? "-")"
            + " \(timing?.rawValue ?? "-") \(instants.joined(separator: " "))"
            + " \(reversal?.rawValue ?? "-") \(amounts.joined(separator: " "))"
            + (isNet ? " net" : "")
    }
}

extension PlanChange {
    /// As the simulator prints its truth.
    fileprivate var line: String {
        let instants = [requested, effective, withdrawn].map { text($0) }
        return "\(fromProductId) \(toProductId) \(instants.joined(separator: " "))"
            + " \(state.rawValue) \(timing.rawValue) \(changeClass.rawValue)"
            + " \(hasSameDuration.map { $0 ? "same" : "other" } ?? "-") \(text(offerType))"
    }
}

extension TransactionRow {
    /// As the simulator prints its truth.
    fileprivate var line: String {
        let instants = [
            time.gracePeriodEnd, time.effectiveEnd, fate.refunded, fate.unsubscribeDetected,
            fate.billingIssuesDetected,
        ].map { text($0) }.joined(separator: " ")
        let amounts = [place.gapSeconds, money.grossMilliunits, money.netMilliunits]
            .map { text($0) }.joined(separator: " ")
        return "\(ids.storeTransactionId ?? "") \(product.productId) \(time.start)"
            + " \(time.end?.description ?? "") \(instants)"
            + " number \(place.renewalNumber ?? 0) paid \(place.consecutivePaidPeriods) \(amounts)"
            + (place.isTrialConversion ? " conversion" : "") + (place.isResubscribe ? " again" : "")
            + (place.planChange.map { " \($0.rawValue) from \(place.previousProductId ?? "")" }
                ?? "")
    }
}
