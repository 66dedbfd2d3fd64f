internal import Events

/// The journal of a subscription for the books of a business: what began, went on, was paid,
/// given back, and ended, each once and when it occurred.
public struct Movements: Sendable {
    /// The movements, by instant, then in the order of `Movement.Word`, then by purchase.
    public let rows: [Movement]

    /// The movements of a timeline; changes of plan are judged by these catalogs.
    ///
    /// Linear in the number of events but for sorting.
    public init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        var fold = MovementFold(timeline.asAppleDid, catalogs)
        fold.takePurchases()
        fold.takeOneTimePurchases()
        fold.takeStatuses()
        fold.takeRefunds()
        fold.takeExtensions()
        fold.takeSwitches()
        fold.takeWishes()
        // Stable: of one second and word they stay in the order in which purchases replace each
        // other, which no order of arrival changes.
        rows = fold.rows.ordered { $0.isBefore($1) }
    }
}

/// Gathers the movements of one timeline, kind by kind.
struct MovementFold {
    let timeline: Timeline
    let catalogs: CatalogHistory
    let continuity: Continuity
    let spans: [StatusSpan]
    let settings: [RenewalSetting]
    let terms: [PurchaseTerms]
    let expirations: Expirations
    private(set) var rows: [Movement] = []

    init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        self.timeline = timeline
        self.catalogs = catalogs
        expirations = Expirations(timeline)
        continuity = timeline.continuity
        spans = timeline.statusSpans
        settings = timeline.renewalSettings
        terms = timeline.purchases.map(PurchaseTerms.init)
        rows.reserveCapacity(terms.count)
    }

    /// Adds a movement about a purchase with those terms.
    mutating func append(
        _ word: Movement.Word,
        at occurred: Instant,
        about purchase: Purchase,
        _ terms: PurchaseTerms,
        appleEvent: String? = nil,
        product: String? = nil,
        previousProduct: String? = nil,
        amount: Int64? = nil,
        isResubscribe: Bool = false,
        expirationReason: ExpirationReason? = nil,
        citing citations: Citations
    ) {
        rows.append(
            Movement(
                stream: timeline.stream,
                word: word,
                appleEvent: appleEvent,
                occurred: occurred,
                productId: product ?? purchase.productId,
                previousProductId: previousProduct,
                purchaseDate: purchase.purchaseDate,
                expiresDate: purchase.neverExpires ? nil : purchase.expiresDate,
                amountMilliunits: amount,
                currency: amount == nil ? nil : terms.currency,
                isFamilyShared: terms.isFamilyShared,
                isResubscribe: isResubscribe,
                expirationReason: expirationReason,
                positions: citations.positions(lane: timeline.lane)
            )
        )
    }

    /// Adds a movement about a purchase of the subscription, by its index.
    mutating func append(
        _ word: Movement.Word,
        at occurred: Instant,
        about index: Int,
        appleEvent: String? = nil,
        product: String? = nil,
        previousProduct: String? = nil,
        expirationReason: ExpirationReason? = nil,
        citing citations: Citations
    ) {
        append(
            word,
            at: occurred,
            about: timeline.purchases[index],
            terms[index],
            appleEvent: appleEvent,
            product: product,
            previousProduct: previousProduct,
            expirationReason: expirationReason,
            citing: citations
        )
    }

    /// The newest purchase begun by an instant; the first where none has begun, nil where there is
    /// none at all.
    func newestPurchase(begunBy instant: Instant) -> Int? {
        guard !timeline.purchases.isEmpty else { return nil }
        return max(0, timeline.purchases.count(begunBy: instant) - 1)
    }
}

/// Under which terms a purchase was made; a class, for several movements of a purchase hold on to
/// the same ones.
final class PurchaseTerms {
    /// Apple's `offerType`; nil at the standard price.
    let offerType: Int64?
    let offerIdentifier: String
    /// In milliunits; 0 for family members, nil if it was never stated.
    let price: Int64?
    let currency: String?
    let isFamilyShared: Bool
    /// What says so.
    let citations: Citations

    init(_ purchase: Purchase) {
        var citations = Citations()
        citations.cite(purchase.datesOffset)
        offerType = purchase.integer(.offerType, citing: &citations)
        offerIdentifier = purchase.text(.offerIdentifier, citing: &citations) ?? ""
        let price = purchase.integer(.price, citing: &citations)
        currency = purchase.text(.currency, citing: &citations)
        isFamilyShared =
            purchase.text(.inAppOwnershipType, citing: &citations) == "FAMILY_SHARED"
        self.price = isFamilyShared ? 0 : price
        self.citations = citations
    }

    var hasOffer: Bool { offerType != nil }

    func isSameOffer(as other: PurchaseTerms) -> Bool {
        hasOffer && offerType == other.offerType
            && byBytes(offerIdentifier, other.offerIdentifier) == nil
    }
}

extension [Purchase] {
    /// How many start at an instant or before; by binary search.
    func count(begunBy instant: Instant) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].purchaseDate <= instant { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
