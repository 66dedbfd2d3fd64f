public import Events

/// The interpretation of one subscription's events: the only place that gives Apple's data its
/// meaning; every projection is a view of it.
///
/// A function of the set of assertions: no clock, no randomness, no order of arrival. Only the
/// offsets it cites depend on the order of arrival.
public struct Timeline: Sendable {
    // Held once, however many views copy the timeline.
    private let interpretation: Interpretation
    /// What its views count as access; see `under`.
    public internal(set) var policy = AccessPolicy.current
    /// Intermediate results that views share, under that policy.
    var memo = FoldMemo()

    /// The fold of a subscription's history.
    ///
    /// Linear in the number of events, except for sorting. Confirmations of events that are missing
    /// from the history are skipped.
    package init(_ history: StreamHistory) {
        interpretation = Interpretation(history)
    }

    /// The fold of everything known about a subscription, for projections that also read when it
    /// became known.
    package init(_ recorded: RecordedHistory) {
        interpretation = Interpretation(recorded.latest, recorded)
    }

    /// The subscription.
    public var stream: StreamID { interpretation.stream }
    /// The lane of the log with its events; 0 if there are none.
    package var lane: Lane { interpretation.lane }
    /// Its paid periods, each once however often and in whatever format Apple stated them, by
    /// start; those of the same second in the order in which they replace each other (Apple's data:
    /// trap 40); one that only added seats is kept with the purchase whose period it belongs to.
    package var purchases: [Purchase] { interpretation.purchases }
    /// Its purchases that never expire (consumables and the like), by date: in no period (Apple's
    /// data: trap 35).
    ///
    /// A restore is not a separate purchase, whatever its date.
    package var oneTimePurchases: [Purchase] { interpretation.oneTimePurchases }
    /// Apple's statements about the next renewal, by as-of.
    package var renewals: Assertions { interpretation.renewals }
    /// Apple's announcements, including repeated deliveries; see `notifications`.
    var announcements: [KeyedAssertion] { interpretation.announcements }
    /// The owners as stated by the operator, by the instant that each statement names; see
    /// `StreamClaims`.
    package var links: Assertions { interpretation.links }
    /// The greatest as-of of anything Apple asserted, repetitions included; nil if nothing was.
    ///
    /// Nothing is known about the time after it. Links do not count: they use the operator's clock,
    /// and contain nothing about the subscription.
    public var horizon: Instant? { interpretation.horizon }
    /// When each part of it became known; nil if it was folded without that.
    package var recorded: RecordedHistory? { interpretation.recorded }
}

/// The combined content of a timeline's events: the same under every policy.
private final class Interpretation: Sendable {
    let stream: StreamID
    let lane: Lane
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
        lane = history.events.first?.position.lane ?? .only
        purchases = PurchaseGrouping(gathered.transactions).purchases.withAdditionsKept
        oneTimePurchases =
            gathered.oneTimeTransactions.isEmpty
            ? [] : PurchaseGrouping.oneTimePurchases(gathered.oneTimeTransactions)
        renewals = Assertions(gathered.renewals)
        announcements = gathered.notifications
        links = Assertions(gathered.links)
        horizon = gathered.horizon
    }
}

/// The assertions of a history by subject.
private struct GatheredAssertions {
    typealias Key = KeyedAssertion.Key

    var transactions: [KeyedAssertion] = []
    var oneTimeTransactions: [KeyedAssertion] = []
    var renewals: [Assertion] = []
    var notifications: [KeyedAssertion] = []
    var links: [Assertion] = []
    var horizon: Instant?

    init(_ history: StreamHistory) {
        // Read in place: a copy of an event costs more than everything that is read from it.
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
    // Events are in the order of their positions.
    fileprivate func index(of position: Position) -> Int? {
        let index = events.partitioningIndex { $0.position >= position }
        return index < events.endIndex && events[index].position == position ? index : nil
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first index whose element, and all after it, belong to the second part; uses binary
    /// search.
    func partitioningIndex(_ belongsToSecond: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if belongsToSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
