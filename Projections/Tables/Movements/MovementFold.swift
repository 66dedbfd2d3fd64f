internal import Events

/// Collects the movements of one timeline, kind by kind.
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
        _ kind: Movement.Kind,
        at occurred: Instant,
        about purchase: Purchase,
        _ terms: PurchaseTerms,
        appleEvent: String? = nil,
        appleSubType: String? = nil,
        product: String? = nil,
        previousProduct: String? = nil,
        amount: Int64? = nil,
        seatQuantity: Int64? = nil,
        isInitial: Bool = false,
        isResubscribe: Bool = false,
        expirationReason: ExpirationReason? = nil,
        citing citations: Citations
    ) {
        rows.append(
            Movement(
                stream: timeline.stream,
                kind: kind,
                appleEvent: appleEvent,
                appleSubType: appleSubType ?? kind.appleSubType(terms, after: nil),
                isInitial: isInitial,
                occurred: occurred,
                productId: product ?? purchase.productId,
                previousProductId: previousProduct,
                purchaseDate: purchase.purchaseDate,
                expiresDate: purchase.neverExpires ? nil : purchase.expiresDate,
                amountMilliunits: amount,
                currency: amount == nil ? nil : terms.currency,
                sharing: terms.sharing,
                seatQuantity: seatQuantity,
                isResubscribe: isResubscribe,
                expirationReason: expirationReason,
                positions: citations.positions(lane: timeline.lane)
            )
        )
    }

    /// Adds a movement about a purchase of the subscription, by its index.
    mutating func append(
        _ kind: Movement.Kind,
        at occurred: Instant,
        about index: Int,
        appleEvent: String? = nil,
        appleSubType: String? = nil,
        product: String? = nil,
        previousProduct: String? = nil,
        expirationReason: ExpirationReason? = nil,
        citing citations: Citations
    ) {
        append(
            kind,
            at: occurred,
            about: timeline.purchases[index],
            terms[index],
            appleEvent: appleEvent,
            appleSubType: appleSubType,
            product: product,
            previousProduct: previousProduct,
            expirationReason: expirationReason,
            citing: citations
        )
    }

    /// The newest purchase begun by an instant; the first if none has begun, nil if there is none
    /// at all.
    func newestPurchase(begunBy instant: Instant) -> Int? {
        guard !timeline.purchases.isEmpty else { return nil }
        return timeline.newestPurchase(begunBy: instant) ?? 0
    }
}
