public import Events

/// Which offers a customer may receive, over all their subscriptions in one environment.
///
/// Per subscription group, because an offer used for one product is used for all of its group
/// (Apple's data: offer eligibility). Family-shared purchases count like others: nothing is known
/// of the family's eligibility, and an offer that Apple then refuses is the worse mistake.
public struct OfferEligibility: Sendable {
    /// The environment it covers.
    public let environment: StoreEnvironment

    private let purchases: [PurchaseAccess]
    private let renewals: [StreamRenewals]
    private let catalogs: CatalogHistory

    /// The eligibility of the customer of these subscriptions, in any order, each once; those of
    /// other environments do not count.
    public init(
        _ timelines: [Timeline],
        environment: StoreEnvironment = .production,
        catalogs: CatalogHistory = .none
    ) {
        let own = timelines.filter { $0.stream.environment == environment }
        self.environment = environment
        self.catalogs = catalogs
        purchases = own.flatMap { PurchaseAccess.all(of: $0, catalogs) }.sorted {
            AccessPeriod.areInOrder($0.access, $1.access)
        }
        renewals = own.map { StreamRenewals($0, catalogs) }
    }

    /// Every group in which the customer is known, and each in the catalog at that instant.
    public func groups(at instant: Instant) -> [GroupEligibility] {
        var groups = purchases.map(\.access.group) + renewals.flatMap(\.groups)
        let sold = catalogs.version(at: instant)?.subscriptions ?? []
        groups += sold.map { .identified($0.subscriptionGroupIdentifier) }
        groups.sort()
        return groups.indices.filter { $0 == 0 || groups[$0] != groups[$0 - 1] }.map {
            eligibility(in: groups[$0], at: instant)
        }
    }

    /// The group of a product: by the catalog of an instant, otherwise by the customer's purchase
    /// of it that began last; nil if neither names one.
    public func group(ofProduct productId: String, at instant: Instant) -> SubscriptionGroup? {
        if let sold = catalogs.version(at: instant)?.subscription(productId) {
            return .identified(sold.subscriptionGroupIdentifier)
        }
        let bought = purchases.last { byBytes($0.access.period.productId, productId) == nil }
        guard case .identified? = bought?.access.group else { return nil }
        return bought?.access.group
    }

    /// The eligibility in one group, in which the customer need not be known.
    ///
    /// Purchases that begin after the instant do not count, nor do revocations and renewal info
    /// after it.
    public func eligibility(in group: SubscriptionGroup, at instant: Instant) -> GroupEligibility {
        let begun = purchases.filter {
            $0.access.group == group && $0.access.period.purchaseDate <= instant
        }
        let standing = GroupStanding(
            begun,
            renewals.compactMap { $0.upTo(instant, in: group) },
            at: instant
        )
        return GroupEligibility(
            group: group,
            introductory: standing.introductory,
            promotional: standing.isKnown ? .subscriber : .neverSubscribed,
            winBack: standing.winBack,
            subscriber: standing.subscriber
        )
    }
}

/// Apple's statements about the renewals of one subscription.
private struct StreamRenewals {
    let stream: StreamID
    let lane: Lane
    let groups: [SubscriptionGroup]
    let assertions: Assertions

    init(_ timeline: Timeline, _ catalogs: CatalogHistory) {
        stream = timeline.stream
        lane = timeline.lane
        assertions = timeline.renewals
        let finder = GroupFinder(timeline, catalogs)
        var groups = timeline.purchases.map(finder.group(of:))
        if groups.isEmpty, let last = assertions.sorted.last,
            case .value(.text(let productId)) = assertions.state(of: .productId)
        {
            groups = [finder.group(ofProduct: productId, at: last.asOf)]
        } else if groups.isEmpty, !assertions.sorted.isEmpty {
            groups = [.ofStream(stream)]
        }
        self.groups = groups
    }

    /// The statements up to an instant; nil if there are none, or they are about another group.
    func upTo(_ instant: Instant, in group: SubscriptionGroup) -> KnownRenewal? {
        guard groups.contains(group) else { return nil }
        let known = Assertions(inOrder: assertions.sorted.prefix { $0.asOf <= instant })
        return known.sorted.isEmpty
            ? nil : KnownRenewal(stream: stream, lane: lane, assertions: known)
    }
}

/// What was known of a subscription's renewals at an instant.
struct KnownRenewal {
    let stream: StreamID
    let lane: Lane
    let assertions: Assertions
}
