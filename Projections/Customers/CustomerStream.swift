public import Events

/// A subscription among those of a customer: its history, its fold, and who claimed it.
public struct CustomerStream: Sendable {
    /// What the log knew.
    public let history: StreamHistory
    /// Its fold.
    public let timeline: Timeline
    /// Who claimed it.
    public let claims: StreamClaims
    /// Every transaction id under which a purchase of it was seen, by UTF-8.
    public let transactionIds: [String]
    /// Every `webOrderLineItemId` of its purchases, by UTF-8.
    ///
    /// Equal on all devices and in all receipts, where transaction ids and even original ids differ
    /// (peers.md §3.4 no. 1 and 2).
    public let webOrderLineItemIds: [String]
    /// The subscriptions that it continues, by UTF-8 (app-store.md §G-47).
    public let previousOriginalTransactionIds: [String]

    /// The subscription.
    public var stream: StreamID { timeline.stream }

    /// The tokens it ever had, by UTF-8, each once.
    public var tokens: [String] { ByteSet(claims.tokens.map(\.token)).sorted }

    /// Folds a history.
    public init(_ history: StreamHistory) {
        self.init(history, Timeline(history))
    }

    /// A history with its fold, where that was made already.
    public init(_ history: StreamHistory, _ timeline: Timeline) {
        self.history = history
        self.timeline = timeline
        claims = StreamClaims(timeline)
        let purchases = timeline.purchases + timeline.oneTimePurchases
        transactionIds = ByteSet(purchases.flatMap(\.transactionIds)).sorted
        let contents = purchases.flatMap { $0.assertions.sorted.map(\.content) }
        // Xcode writes "0" for every purchase (app-store.md §D), which identifies none.
        webOrderLineItemIds =
            ByteSet(contents.compactMap { $0.text(.webOrderLineItemId) }).sorted
            .filter { !$0.isEmpty && $0 != "0" }
        previousOriginalTransactionIds =
            ByteSet(contents.compactMap { $0.text(.previousOriginalTransactionId) }).sorted
            .filter { !$0.isEmpty }
    }
}
