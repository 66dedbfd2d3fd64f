package import Events

/// A subscription among those of a customer: its history, its fold, and who claimed it.
package struct CustomerStream: Sendable {
    /// What the log knew.
    package let history: StreamHistory
    /// Its fold.
    package let timeline: Timeline
    /// Who claimed it.
    package let claims: StreamClaims
    /// The app receipts, verifyReceipt responses and version 1 notifications that proved or
    /// confirmed anything about it, by their digests; see `CustomerBond.appReceipt`.
    package let receipts: [Digest]
    /// Every transaction id under which a purchase of it was seen, in UTF-8 order.
    package let transactionIds: [String]
    /// Every `webOrderLineItemId` of its purchases, in UTF-8 order.
    ///
    /// Equal on all devices and in all receipts, whereas transaction ids and even original ids
    /// differ (Apple's data: trap 6).
    package let webOrderLineItemIds: [String]
    /// The subscriptions that it continues, in UTF-8 order (Apple's data: trap 47).
    package let previousOriginalTransactionIds: [String]
    /// Every `appTransactionId` that Apple gave it, with its app, in UTF-8 order.
    package let appTransactions: [AppTransaction]
    /// Whether what identifies its customer was erased, or everything known about it.
    package let isCustomerErased: Bool
    /// Whether it is a consumable, as far as Apple stated its type.
    package let isConsumable: Bool

    /// An Apple Account in an app.
    package struct AppTransaction: Sendable {
        /// Apple's `appTransactionId`.
        package let id: String
        /// The app; empty if none of Apple's statements about the subscription names it.
        package let bundleId: String
    }

    /// The subscription.
    package var stream: StreamID { timeline.stream }

    /// Whether it is a one-time purchase; false for a subscription, and if no purchase is known.
    package var isOneTimePurchase: Bool {
        timeline.purchases.isEmpty && !timeline.oneTimePurchases.isEmpty
    }

    /// Its app; nil if none of Apple's statements about it names one.
    package var bundleId: String? {
        ByteSet(history.events.map(\.fact.bundleId)).sorted.first { !$0.isEmpty }
    }

    /// The tokens it ever had, in all spellings, in UTF-8 order, without duplicates.
    package var tokens: [String] { ByteSet(claims.tokens.map(\.token)).sorted }

    /// Folds a history; `receipts` are the receipts that its events and confirmations cite.
    package init(_ history: StreamHistory, receipts: [Digest]) {
        self.init(history, Timeline(history), receipts: receipts)
    }

    /// A history with its fold, if that exists already.
    package init(_ history: StreamHistory, _ timeline: Timeline, receipts: [Digest]) {
        self.history = history
        self.timeline = timeline
        self.receipts = receipts
        claims = StreamClaims(timeline)
        let purchases = timeline.transactions + timeline.oneTimePurchases
        transactionIds = ByteSet(purchases.flatMap(\.transactionIds)).sorted
        let contents = purchases.flatMap { $0.assertions.sorted.map(\.content) }
        webOrderLineItemIds =
            ByteSet(contents.compactMap { $0.identity(.webOrderLineItemId) }).sorted
        previousOriginalTransactionIds =
            ByteSet(contents.compactMap { $0.text(.previousOriginalTransactionId) }).sorted
            .filter { !$0.isEmpty }
        appTransactions = AppTransaction.all(in: history)
        isConsumable = history.events.contains {
            $0.fact.content.text(.type).map { byBytes($0, "Consumable") == nil } ?? false
        }
        isCustomerErased = history.events.contains(where: \.erasesCustomer)
    }
}

extension CustomerStream.AppTransaction {
    // Renewal info names no app: it belongs to the app of the rest of the subscription.
    fileprivate static func all(in history: StreamHistory) -> [Self] {
        let own = ByteSet(history.events.map(\.fact.bundleId)).sorted.filter { !$0.isEmpty }
        var bundles: [FieldValue: [String]] = [:]
        for event in history.events {
            guard let id = event.fact.content.identity(.appTransactionId) else { continue }
            let bundleId = event.fact.bundleId
            let named = bundleId.isEmpty ? (own.isEmpty ? [""] : own) : [bundleId]
            bundles[.text(id), default: []] += named
        }
        let ids = ByteSet(history.events.compactMap { $0.fact.content.identity(.appTransactionId) })
        return ids.sorted.flatMap { id in
            ByteSet(bundles[.text(id)] ?? []).sorted.map { Self(id: id, bundleId: $0) }
        }
    }
}

extension Event {
    /// Whether what identifies the subscription's customer was erased here, as far as the event
    /// shows.
    ///
    /// For a link, only what it stated is gone: the subscription may belong to another customer.
    fileprivate var erasesCustomer: Bool {
        switch fact.kind {
        case .link: false
        case .erasure: Erasure(fact.content)?.scope.isLasting ?? false
        default: erased >= .person
        }
    }
}
