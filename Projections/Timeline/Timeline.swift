public import Events

/// All that one subscription's events say, interpreted: the single place where Apple's data gets
/// its meaning, of which every projection is a view.
///
/// A function of the set of assertions: no clock, no randomness, no order of arrival. Only the
/// offsets it cites depend on what came first.
public struct Timeline: Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The lane of the log that holds its events; 0 where there are none.
    public let lane: Int
    /// Its paid periods, one each however often and in whatever form Apple told of them, by start;
    /// those of one second in the order in which they replace each other (app-store.md §G-40).
    public let purchases: [Purchase]
    /// Its purchases that never expire (consumables and the like), by date: in no period
    /// (app-store.md §G-35).
    public let oneTimePurchases: [Purchase]
    /// What Apple said about the next renewal, by as-of.
    public let renewals: Assertions
    /// What Apple announced, each however often it was sent; see `notifications`.
    let announcements: [KeyedAssertion]
    /// Whose it is, as the operator stated it, by the instant that the statement names; see
    /// `StreamClaims`.
    public let links: Assertions
    /// The greatest as-of of anything Apple asserted, repetitions included; nil where nothing was.
    ///
    /// Nothing is known of the time after it. Links do not count: they are of the operator's clock,
    /// and tell nothing about the subscription.
    public let horizon: Instant?
    /// What its views count as access; see `under`.
    public internal(set) var policy = AccessPolicy.current
    /// What projections share, under that policy.
    var folds = SharedFolds()

    /// The fold of a subscription's history.
    ///
    /// Linear in the number of events but for sorting. Confirmations of events that the history
    /// does not hold are passed over.
    public init(_ history: StreamHistory) {
        var gathered = GatheredAssertions(capacity: history.events.count)
        for event in history.events {
            gathered.take(
                Assertion(
                    offset: event.position.offset,
                    asOf: event.fact.asOf,
                    content: event.fact.content
                ),
                of: event.fact
            )
        }
        for confirmation in history.confirmations {
            guard let index = history.index(of: confirmation.position) else { continue }
            gathered.take(
                Assertion(confirmation, content: history.events[index].fact.content),
                of: history.events[index].fact
            )
        }
        stream = history.stream
        lane = history.events.first?.position.lane ?? 0
        purchases = PurchaseGrouping(gathered.transactions).purchases
        oneTimePurchases =
            gathered.oneTimeTransactions.isEmpty
            ? [] : PurchaseGrouping(gathered.oneTimeTransactions).purchases
        renewals = Assertions(gathered.renewals)
        announcements = gathered.notifications
        links = Assertions(gathered.links)
        horizon = gathered.horizon
    }
}

/// The assertions of a history by what they are about.
private struct GatheredAssertions {
    var transactions: [KeyedAssertion] = []
    var oneTimeTransactions: [KeyedAssertion] = []
    var renewals: [Assertion] = []
    var notifications: [KeyedAssertion] = []
    var links: [Assertion] = []
    var horizon: Instant?

    init(capacity: Int) {
        transactions.reserveCapacity(capacity)
    }

    mutating func take(_ assertion: Assertion, of fact: Fact) {
        if fact.kind == .link {
            links.append(assertion)
            return
        }
        horizon = max(horizon ?? assertion.asOf, assertion.asOf)
        switch fact.kind {
        case .transaction:
            if fact.expiresDate == Instant(milliseconds: 0) {
                oneTimeTransactions.append(KeyedAssertion(assertion, of: fact))
            } else {
                transactions.append(KeyedAssertion(assertion, of: fact))
            }
        case .renewal:
            renewals.append(assertion)
        case .notification:
            notifications.append(KeyedAssertion(assertion, of: fact))
        case .link: break
        }
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
