public import EventLog
public import Events
internal import Projections

/// When a subscription gave access, and why it stopped.
public struct PeriodsDocument: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: Environment
    /// Whether any event of the subscription was known by then; if not, that is why the answer is
    /// empty.
    public let isKnown: Bool
    /// Its periods by start, including those without access.
    public let periods: [Period]
    /// The times with access, merged.
    public let active: [IntervalValue]
    /// The one-time purchase, if the id names one; nil for a subscription.
    public let oneTimePurchase: OneTimePurchaseDocument?
    /// Links that give the subscription to the requested customer only later.
    public let linksNotInForce: [LinkNotInForce]
    /// What was erased of it.
    public let erasures: [ErasureMark]
    /// Other subscriptions of the same customer; nil if they cannot be counted: there are too many,
    /// or lanes of a distributed ledger cannot be reached.
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
        /// The end of the access, exclusive.
        public let validTo: Instant
        /// `trial`, `intro`, `offer` or `paid` by the terms; `family` or `assigned` (a seat) where
        /// another party pays; `grace`.
        public let kind: String
        /// `expired`, `upgraded`, `replaced` (by the same product), `refunded`, `revoked` (family
        /// sharing), `assignment_ended` (of a seat); `open` if it had not ended by Apple's last
        /// statement, because a fold does not read a clock.
        public let endReason: String
        /// The kind of change that ended it, by the levels of the catalog: `upgrade`, `downgrade`,
        /// `crossgrade`, or `plan_change` if the catalog cannot classify it; nil unless it ended as
        /// `upgraded`.
        public let planChange: String?
        /// Why it was not renewed, if Apple states a reason.
        public let expirationReason: String?
        /// Apple's `billingPlanType`; nil if Apple names none.
        public let billingPlanType: String?
        /// The commitment; nil without one.
        public let commitment: Commitment?
        /// The items of an Advanced Commerce purchase; nil for any other.
        public let advancedCommerceItems: [Item]?
        /// How many seats are left of all its transactions; nil unless the owner bought seats.
        public let seatQuantity: Int64?
        /// Apple's `bundleProductId`; nil if it was bought alone.
        public let bundleProductId: String?
        /// The events it is based on.
        public let positions: [Position]
    }

    /// An item of an Advanced Commerce purchase, under Apple's names.
    public struct Item: Codable, Hashable, Sendable {
        /// Apple's spelling of the item's id.
        public let SKU: String
        /// Apple's `displayName`.
        public let displayName: String?
        /// Milliunits of the currency.
        public let price: Int64?
        /// When Apple revoked it.
        public let revocationDate: Instant?
    }

    /// The commitment of a period, under Apple's names.
    public struct Commitment: Codable, Hashable, Sendable {
        /// The number of the billing period within the commitment, from 1.
        public let billingPeriodNumber: Int64?
        /// How many there are.
        public let totalBillingPeriods: Int64?
        /// The end of the commitment.
        public let commitmentExpiresDate: Instant?
        /// The price of the whole commitment, in milliunits of the currency.
        public let commitmentPrice: Int64?
    }
}

extension Ledger {
    /// When a subscription gave access, and why it stopped; folded directly from the log.
    ///
    /// - Parameters:
    ///   - subject: The subscription.
    ///   - instant: Only the periods that contain it; nil for all.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError` if the id means no subscription, or several; `EventLogError`.
    public func periods(
        of subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> PeriodsDocument {
        try await log.onOneConnection {
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
        periods = rows.map { Period($0, among: changes) }
        self.active = active.map(IntervalValue.init)
        oneTimePurchase = OneTimePurchaseDocument(insteadOf: known)
        linksNotInForce = links
        erasures = known.notes.erasures
        otherSubscriptions = known.notes.others
    }
}

extension PeriodsDocument.Period {
    init(_ row: ActivePeriod, among changes: [PlanChange]) {
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
        seatQuantity = row.seatQuantity
        bundleProductId = row.bundle?.productId
        positions = row.positions
    }
}
