public import Events

/// All that one subscription's events say, interpreted: the single place where Apple's data gets
/// its meaning, of which every projection is a view.
///
/// A function of the set of assertions: no clock, no randomness, no order of arrival. Only the
/// offsets it cites depend on what came first.
public struct Timeline: Sendable {
    // Held once, whatever number of views copies the timeline.
    private let interpretation: Interpretation
    /// What its views count as access; see `under`.
    public internal(set) var policy = AccessPolicy.current
    /// What views share, under that policy.
    var memo = FoldMemo()

    /// The fold of a subscription's history.
    ///
    /// Linear in the number of events but for sorting. Confirmations of events that the history
    /// does not hold are passed over.
    public init(_ history: StreamHistory) {
        interpretation = Interpretation(history)
    }

    /// The fold of all that is known of a subscription, for projections that also read when it
    /// became known.
    public init(_ recorded: RecordedHistory) {
        interpretation = Interpretation(recorded.latest, recorded)
    }

    /// The subscription.
    public var stream: StreamID { interpretation.stream }
    /// The lane of the log that holds its events; 0 where there are none.
    public var lane: Int { interpretation.lane }
    /// Its paid periods, one each however often and in whatever form Apple told of them, by start;
    /// those of one second in the order in which they replace each other (Apple's data: trap 40).
    public var purchases: [Purchase] { interpretation.purchases }
    /// Its purchases that never expire (consumables and the like), by date: in no period
    /// (Apple's data: trap 35).
    ///
    /// A restore is no purchase of its own, whatever its date.
    public var oneTimePurchases: [Purchase] { interpretation.oneTimePurchases }
    /// What Apple said about the next renewal, by as-of.
    public var renewals: Assertions { interpretation.renewals }
    /// What Apple announced, each however often it was sent; see `notifications`.
    var announcements: [KeyedAssertion] { interpretation.announcements }
    /// Whose it is, as the operator stated it, by the instant that the statement names; see
    /// `StreamClaims`.
    public var links: Assertions { interpretation.links }
    /// The greatest as-of of anything Apple asserted, repetitions included; nil where nothing was.
    ///
    /// Nothing is known of the time after it. Links do not count: they are of the operator's clock,
    /// and tell nothing about the subscription.
    public var horizon: Instant? { interpretation.horizon }
    /// When each part of it became known; nil where it was folded without.
    public var recorded: RecordedHistory? { interpretation.recorded }
}

/// What a timeline's events say, put together: the same under every policy.
private final class Interpretation: Sendable {
    let stream: StreamID
    let lane: Int
    let purchases: [Purchase]
    let oneTimePurchases: [Purchase]
    let renewals: Assertions
    let announcements: [KeyedAssertion]
    let links: Assertions
    let horizon: Instant?
    let recorded: RecordedHistory?

    init(_ history: StreamHistory, _ recorded: RecordedHistory? = nil) {
        self.recorded = recorded
        let gathered = GatheredAssertions(history)
        stream = history.stream
        lane = history.events.first?.position.lane ?? 0
        purchases = PurchaseGrouping(gathered.transactions).purchases
        oneTimePurchases =
            gathered.oneTimeTransactions.isEmpty
            ? [] : PurchaseGrouping.oneTimePurchases(gathered.oneTimeTransactions)
        renewals = Assertions(gathered.renewals)
        announcements = gathered.notifications
        links = Assertions(gathered.links)
        horizon = gathered.horizon
    }
}

/// The assertions of a history by what they are about.
private struct GatheredAssertions {
    typealias Key = KeyedAssertion.Key

    var transactions: [KeyedAssertion] = []
    var oneTimeTransactions: [KeyedAssertion] = []
    var renewals: [Assertion] = []
    var notifications: [KeyedAssertion] = []
    var links: [Assertion] = []
    var horizon: Instant?

    init(_ history: StreamHistory) {
        // Where they lie: a copy of an event costs more than all that is read of it.
        history.events.withUnsafeBufferPointer { events in
            reserve(events)
            for index in events.indices where !events[index].isNamelessLink {
                take(
                    Assertion(
                        offset: events[index].position.offset,
                        asOf: events[index].fact.asOf,
                        content: events[index].fact.content
                    ),
                    Key(events[index].fact)
                )
            }
        }
        for confirmation in history.confirmations {
            guard let index = history.index(of: confirmation.position),
                !history.events[index].isNamelessLink
            else { continue }
            let fact = history.events[index].fact
            take(Assertion(confirmation, content: fact.content), Key(fact))
        }
    }

    private mutating func reserve(_ events: UnsafeBufferPointer<Event>) {
        var (transactionCount, renewalCount, notificationCount) = (0, 0, 0)
        for index in events.indices {
            switch events[index].fact.kind {
            case .transaction: transactionCount += 1
            case .renewal: renewalCount += 1
            case .notification: notificationCount += 1
            case .link, .catalog, .erasure, .erased: break
            }
        }
        transactions.reserveCapacity(transactionCount)
        renewals.reserveCapacity(renewalCount)
        notifications.reserveCapacity(notificationCount)
    }

    private mutating func take(_ assertion: consuming Assertion, _ key: Key) {
        let asOf = assertion.asOf
        switch key.kind {
        case .transaction:
            if key.expiresDate == Instant(milliseconds: 0) {
                oneTimeTransactions.append(
                    KeyedAssertion(assertion, key, after: oneTimeTransactions.last?.productId)
                )
            } else {
                transactions.append(
                    KeyedAssertion(assertion, key, after: transactions.last?.productId)
                )
            }
        case .renewal:
            renewals.append(assertion)
        case .notification:
            notifications.append(
                KeyedAssertion(assertion, key, after: notifications.last?.productId)
            )
        case .link:
            links.append(assertion)
            return
        case .catalog, .erasure, .erased:
            return
        }
        horizon = max(horizon ?? asOf, asOf)
    }
}

extension StreamHistory {
    // Binary search: events are in the order of their positions.
    fileprivate func index(of position: Position) -> Int? {
        var (low, high) = (events.startIndex, events.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if events[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low < events.endIndex && events[low].position == position ? low : nil
    }
}
