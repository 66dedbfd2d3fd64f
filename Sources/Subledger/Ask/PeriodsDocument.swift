public import EventLog
public import Events
internal import Projections

/// When a subscription gave access, and why it stopped.
public struct PeriodsDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// Whether any event of the subscription was known by then; where none was, the answer is
    /// empty because of that.
    public let isKnown: Bool
    /// Its periods by their start, those without access included.
    public let periods: [Period]
    /// The times with access, merged.
    public let active: [IntervalValue]
    /// What stands here in place of a subscription; nil of a subscription.
    public let oneTimePurchase: OneTimePurchaseDocument?
    /// Links to the customer that was asked for that give them the subscription only later.
    public let linksNotInForce: [LinkNotInForce]
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil where they are too many to be counted.
    public let otherSubscriptions: Int?

    /// A period of access, or one that ended before it began.
    public struct Period: Codable, Hashable, Sendable {
        /// What was bought.
        public let productId: String
        /// Apple's `purchaseDate`.
        public let purchaseDate: Instant
        /// Apple's `expiresDate`.
        public let expiresDate: Instant
        /// The first instant with access.
        public let validFrom: Instant
        /// The end of the access, which is not part of it.
        public let validTo: Instant
        /// `trial`, `intro`, `offer`, `paid` or `grace`.
        public let kind: String
        /// `expired`, `upgraded`, `refunded`, `revoked`; `open` where it had not ended when Apple
        /// last spoke, for a fold knows no clock.
        public let endReason: String
        /// What the change that ended it was by the levels of the catalog: `upgrade`, `downgrade`,
        /// `crossgrade`, or `plan_change` where the catalog does not know; nil where it did not end
        /// as `upgraded`.
        public let planChange: String?
        /// Why it was not renewed, where Apple says so.
        public let expirationReason: String?
        /// Apple's `billingPlanType`; nil where it names none.
        public let billingPlanType: String?
        /// What was committed to; nil without a commitment.
        public let commitment: Commitment?
        /// The items of an Advanced Commerce purchase; nil of any other.
        public let advancedCommerceItems: [Item]?
        /// The events that the period rests on.
        public let positions: [PositionValue]
    }

    /// An item of an Advanced Commerce purchase, under Apple's names.
    public struct Item: Codable, Hashable, Sendable {
        /// Apple's spelling of the item's id.
        public let SKU: String
        /// Apple's `displayName`.
        public let displayName: String?
        /// Milliunits of the currency.
        public let price: Int64?
        /// When Apple took it back.
        public let revocationDate: Instant?
    }

    /// The commitment of a period, under Apple's names.
    public struct Commitment: Codable, Hashable, Sendable {
        /// Which of the billing periods it is, from 1.
        public let billingPeriodNumber: Int64?
        /// How many there are.
        public let totalBillingPeriods: Int64?
        /// The end of the commitment.
        public let commitmentExpiresDate: Instant?
        /// Milliunits of the currency for all of it.
        public let commitmentPrice: Int64?
    }
}

extension Ledger {
    /// When a subscription gave access, and why it stopped; folded from the log, no table between.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Only the periods that hold it; nil for all.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError` where no subscription is meant, or several are; `EventLogError`.
    public func periods(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> PeriodsDocument {
        let known = try await known(subject, knownAt: knownAt)
        let periods = ActivePeriods(known.timeline)
        let first = periods.rows.first?.validFrom
        return PeriodsDocument(
            known,
            PlanChanges(known.timeline, try await catalogs(knownAt: knownAt)).rows,
            try await linksNotInForce(
                to: subject,
                of: known.stream,
                at: instant ?? first,
                knownAt: knownAt
            ),
            periods.rows.filter { row in
                instant.map { row.validFrom <= $0 && $0 < row.validTo } ?? true
            },
            periods.active.filter { interval in instant.map(interval.contains) ?? true }
        )
    }
}

extension PeriodsDocument {
    fileprivate init(
        _ known: KnownSubscription,
        _ changes: [PlanChange],
        _ links: [LinkNotInForce],
        _ rows: [ActivePeriod],
        _ active: [Range<Instant>]
    ) {
        originalTransactionId = known.stream.originalTransactionId
        environment = known.stream.environment
        isKnown = !known.history.events.isEmpty
        periods = rows.map { Period($0, among: changes, lanes: known.lanes) }
        self.active = active.map(IntervalValue.init)
        oneTimePurchase = OneTimePurchaseDocument(insteadOf: known)
        linksNotInForce = links
        erasures = known.notes.erasures
        otherSubscriptions = known.notes.others
    }
}

extension PeriodsDocument.Period {
    init(_ row: ActivePeriod, among changes: [PlanChange], lanes: LaneCount) {
        productId = row.productId
        purchaseDate = row.purchaseDate
        expiresDate = row.expiresDate
        validFrom = row.validFrom
        validTo = row.validTo
        kind = row.kind.rawValue
        endReason = row.endReason.rawValue
        planChange =
            row.endReason == .upgraded
            ? changes.first { change in
                change.effective == row.validTo
                    && change.fromProductId.utf8.elementsEqual(row.productId.utf8)
            }?.changeClass.rawValue : nil
        expirationReason = row.expirationReason?.rawValue
        billingPlanType = row.billingPlan?.type
        commitment = row.billingPlan?.commitment.map { commitment in
            PeriodsDocument.Commitment(
                billingPeriodNumber: commitment.periodNumber,
                totalBillingPeriods: commitment.periodCount,
                commitmentExpiresDate: commitment.expiresDate,
                commitmentPrice: commitment.priceMilliunits
            )
        }
        let items = row.items.map { item in
            PeriodsDocument.Item(
                SKU: item.sku,
                displayName: item.displayName,
                price: item.priceMilliunits,
                revocationDate: item.revocationDate
            )
        }
        advancedCommerceItems = items.isEmpty ? nil : items
        positions = row.positions.values(lanes: lanes)
    }
}
