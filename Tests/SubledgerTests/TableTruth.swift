import AppStoreSimulator
import Events
import Projections

/// One table of a life: its true rows and the rows of the fold, as text.
///
/// If the simulator does not know a column (cited positions, the catalog's version), the column is
/// left out on both sides.
struct TableTruth {
    let table: String
    let expected: [String]
    let found: [String]

    /// All tables whose truth the simulator knows, except `active_periods`.
    static func all(
        _ life: SubscriptionLife,
        from source: DeliverySource,
        _ timeline: Timeline
    ) -> [TableTruth] {
        let truth = life.tables(from: source)
        return [
            TableTruth(
                table: "renewal_states",
                expected: truth.states.map(\.description),
                found: RenewalStates(timeline).rows.map(\.truthLine)
            ),
            TableTruth(
                table: "plan_changes",
                expected: truth.planChanges.filter(life.knows).map(\.description),
                found: PlanChanges(timeline, .simulated).rows.filter(life.knows).map(\.truthLine)
            ),
            TableTruth(
                table: "refunds",
                expected: truth.refundCases.map(\.description),
                found: Refunds(timeline).rows.map(\.truthLine)
            ),
            TableTruth(
                table: "transactions",
                expected: truth.transactions.map(\.description),
                found: TransactionRows(timeline, .simulated).rows.map(\.truthLine)
            ),
            TableTruth(
                table: "movements",
                expected: truth.movements.filter { life.knows($0.kind.rawValue) }
                    .map(\.description),
                found: Movements(timeline, .simulated).rows.filter {
                    life.knows($0.kind.rawValue)
                }.map(\.truthLine)
            ),
        ]
    }

    /// The differences in the tables of a life, one text per table, starting with its name.
    static func differences(
        _ life: SubscriptionLife,
        from source: DeliverySource,
        _ timeline: Timeline
    ) -> [String] {
        all(life, from: source, timeline).filter { $0.expected != $0.found }.map { truth in
            let missing = truth.expected.filter { !truth.found.contains($0) }
            let surplus = truth.found.filter { !truth.expected.contains($0) }
            return """
                \(truth.table) by \(source): \(truth.expected.count) expected, \(truth.found.count) found
                life \(life.identity.index) of seed \(life.identity.seed): \
                \(life.kinds.map(\.rawValue).sorted().joined(separator: ", "))
                \(life.events.map { "    \($0.signedAt) \($0.step)" }.joined(separator: "\n"))
                \(missing.map { "  missing \($0)" }.joined(separator: "\n"))
                \(surplus.map { "  surplus \($0)" }.joined(separator: "\n"))
                """
        }
    }

    /// The differences in `refunds` and in the changes that took effect; nil if there are none.
    static func difference(
        ofTransactionsAlone life: SubscriptionLife,
        _ timeline: Timeline
    ) -> String? {
        let truth = life.tables(from: .polls)
        let expected =
            truth.refundCases.map(\.description)
            + truth.planChanges.compactMap { change in
                change.effective.map {
                    "\(change.fromProductId) \(change.toProductId) \($0) \(change.timing)"
                }
            }.sorted()
        let found =
            Refunds(timeline).rows.map(\.truthLine)
            + PlanChanges(timeline, .simulated).rows.compactMap { change in
                change.effective.map {
                    "\(change.fromProductId) \(change.toProductId) \($0) \(change.timing)"
                }
            }.sorted()
        guard expected != found else { return nil }
        return """
            life \(life.identity.index) of seed \(life.identity.seed) by history
            \(life.events.map { "    \($0.signedAt) \($0.step)" }.joined(separator: "\n"))
            expected:
            \(expected.joined(separator: "\n"))
            found:
            \(found.joined(separator: "\n"))
            """
    }
}

/// Which changes the simulator knows: a number of seats is not a change of plan there, and requests
/// for another number replace those for another product. So of lives with seats, only changes of
/// product that took effect without a request are compared.
extension SubscriptionLife {
    private var isOfSeats: Bool { kinds.contains(.seatsBought) }

    fileprivate func knows(_ change: SimulatedPlanChange) -> Bool {
        !isOfSeats || change.effective != nil && change.requested == nil
    }

    fileprivate func knows(_ change: PlanChange) -> Bool {
        !isOfSeats
            || change.effective != nil && change.requested == nil
                && change.fromProductId != change.toProductId
    }

    fileprivate func knows(_ movement: String) -> Bool {
        !isOfSeats || !movement.hasPrefix("plan_change_")
    }
}

extension CatalogHistory {
    /// What the simulated app sells, in one version for all times.
    static let simulated = CatalogHistory([
        ProductCatalog(
            version: 1,
            effectiveFrom: Instant(milliseconds: 0),
            subscriptions: SimulatedCatalog.groups.flatMap { $0 }.compactMap { product in
                SubscriptionPeriod(product.duration.iso8601).map {
                    ProductCatalog.Subscription(
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

extension RenewalState {
    fileprivate var truthLine: String {
        let renewal = isAutoRenewOn.map { $0 ? "on" : "off" } ?? "unknown"
        return "\(validFrom) … \(validTo.map(\.description) ?? "") \(status) \(charge.rawValue)"
            + " \(renewal) \(autoRenewProductId ?? "-") \(priceConsent?.rawValue ?? "-")"
            + (expirationReason.map { " because \($0.intent)" } ?? "")
            + ((terms?.totalMilliunits ?? terms?.priceMilliunits).map { " \($0)" } ?? "")
            + (terms?.seatQuantity.map { " \($0) seats" } ?? "")
            + (terms?.willUnbundle == true ? " unbundles" : "")
            + (terms?.offer.map { " offer \($0.type ?? 0) \($0.identifier ?? "-")" } ?? "")
            + (terms?.billingPlanType.map { " \($0)" } ?? "")
            + (terms?.commitment.map { " \($0.truthLine)" } ?? "")
    }
}

extension RenewalTerms.Commitment {
    fileprivate var truthLine: String {
        let renewal = isAutoRenewOn.map { $0 ? "on" : "off" } ?? "unknown"
        return "commitment \(renewalDate?.description ?? "-") \(renewal)"
            + " \(autoRenewProductId ?? "-")" + (priceMilliunits.map { " \($0)" } ?? "")
            + (billingPlanType.map { " \($0)" } ?? "")
    }
}

extension ExpirationReason {
    // Apple's number.
    fileprivate var intent: Int64 {
        switch self {
        case .customer: 1
        case .billing: 2
        case .priceIncrease: 3
        case .productUnavailable: 4
        case .other: 5
        case .unbundled: 6
        }
    }
}

extension PlanChange {
    fileprivate var truthLine: String {
        let instants = [requested, effective, withdrawn].map { $0?.description ?? "-" }
        return "\(fromProductId) \(toProductId) \(instants.joined(separator: " "))"
            + " \(state.rawValue) \(timing.rawValue) \(changeClass.rawValue)"
            + " \(hasSameDuration.map { $0 ? "same" : "other" } ?? "unknown")"
            + " \(offerType.map { String($0) } ?? "-")"
    }
}

extension RefundCase {
    fileprivate var truthLine: String {
        let instants = [requested, declined, revoked, announced, reversed]
            .map { $0?.description ?? "-" }
        let amounts = [percentageMilli, reason, priceMilliunits, refundedMilliunits]
            .map { $0.map { String($0) } ?? "-" }
        return "\(purchaseDate) \(productId) \(state.rawValue) \(kind?.rawValue ?? "-")"
            + " \(timing?.rawValue ?? "-") \(instants.joined(separator: " "))"
            + " \(reversal?.rawValue ?? "-") \(amounts.joined(separator: " "))"
            + (isNet ? " net" : "") + (seatQuantity.map { " \($0) seats" } ?? "")
    }
}

extension TransactionRow {
    fileprivate var truthLine: String {
        let instants = [
            time.gracePeriodEnd, time.effectiveEnd, fate.refunded, fate.unsubscribeDetected,
            fate.billingIssuesDetected,
        ].map { $0?.description ?? "-" }.joined(separator: " ")
        let amounts = [place.gapSeconds, money.grossMilliunits, money.netMilliunits]
            .map { $0.map { String($0) } ?? "-" }.joined(separator: " ")
        return "\(ids.storeTransactionId ?? "-") \(product.productId) \(time.start)"
            + " \(time.end?.description ?? "-") \(instants)"
            + " number \(place.renewalNumber.map { String($0) } ?? "-")"
            + " paid \(place.consecutivePaidPeriods) \(amounts)"
            + (place.isTrialConversion ? " conversion" : "")
            + (place.isResubscribe ? " again" : "")
            + (place.planChange.map {
                " \($0.rawValue) from \(place.previousProductId ?? "")"
            } ?? "") + seatLine
    }
}

extension TransactionRow {
    // A member's row repeats the purchaser's seats.
    private var seatLine: String {
        guard let seats, let quantity = terms.quantity else { return "" }
        return " seats \(quantity) revoked \(seats.revokedQuantity)"
    }
}

extension Movement {
    fileprivate var truthLine: String {
        "\(occurred) \(kind.rawValue) \(productId) \(previousProductId ?? "-")"
            + " \(purchaseDate) \(amountMilliunits.map { String($0) } ?? "-")"
            + (isResubscribe ? " again" : "")
    }
}
