import Events
import TestSupport
import Testing

@testable import Projections

/// Laws of every customer, for any subscriptions.
@Suite struct CustomerLawTests {
    @Test(arguments: Acceptance.seeds(600))
    func `the order of subscriptions or of events never changes an answer`(
        seed: UInt64
    )
        throws
    {
        var random = RandomCustomer(seed: seed)
        let facts = random.facts()
        let told = try Answers(CustomerText.timelines(of: facts), random.instants)
        for _ in 0..<3 {
            let deliveries = random.source.deliveries(of: facts).flatMap { $0 }
            let timelines = CustomerText.timelines(of: deliveries)
                .shuffled(using: &random.source.random)
            // Compare booleans first: a failure would print both sides at length.
            let isSame = try Answers(timelines, random.instants) == told
            #expect(isSame, "seed \(seed)")
        }
    }

    @Test(arguments: Acceptance.seeds(600))
    func `access is exactly the union of what each subscription gives`(
        seed: UInt64
    )
        throws
    {
        var random = RandomCustomer(seed: seed)
        let timelines = CustomerText.timelines(of: random.facts())
        let entitlement = Entitlement(timelines, catalogs: try RandomCustomer.catalogs)
        let own = timelines.filter { $0.stream.environment == .production }
            .map { ActivePeriods($0).active }
        let union = entitlement.intervals()
        for (left, right) in zip(union, union.dropFirst()) {
            #expect(left.upperBound < right.lowerBound, "seed \(seed)")
        }
        var wrong: [Instant] = []
        for instant in random.instants {
            let isActive = own.contains { $0.contains { $0.contains(instant) } }
            if union.contains(where: { $0.contains(instant) }) != isActive { wrong.append(instant) }
            if entitlement.groups(at: instant).isEmpty == isActive { wrong.append(instant) }
        }
        #expect(wrong.isEmpty, "seed \(seed)")
    }

    @Test(arguments: Acceptance.seeds(600))
    func `in each group with access exactly one period counts, and it is the best one`(
        seed: UInt64
    )
        throws
    {
        var random = RandomCustomer(seed: seed)
        let timelines = CustomerText.timelines(of: random.facts())
        let catalogs = try RandomCustomer.catalogs
        let entitlement = Entitlement(timelines, catalogs: catalogs)
        var wrong: [Instant] = []
        for instant in random.instants {
            let groups = entitlement.groups(at: instant)
            let active = entitlement.periods.filter { $0.isActive(at: instant) }
            #expect(Set(groups.map(\.group)) == Set(active.map(\.group)), "seed \(seed)")
            #expect(Set(groups.map(\.group)).count == groups.count, "seed \(seed)")
            #expect(groups.flatMap(\.active).count == active.count, "seed \(seed)")
            for group in groups {
                let counting = rank(group.counting, catalogs, at: instant)
                let best = active.filter { $0.group == group.group }
                    .map { rank($0, catalogs, at: instant) }.min { $0 < $1 }
                if best.map({ $0 != counting }) ?? true { wrong.append(instant) }
            }
        }
        #expect(wrong.isEmpty, "seed \(seed)")
    }

    @Test(arguments: Acceptance.seeds(600))
    func `content access follows the rule, checked instant by instant`(seed: UInt64) throws {
        var random = RandomCustomer(seed: seed)
        let entitlement = Entitlement(CustomerText.timelines(of: random.facts()))
        let issues = random.issues()
        var wrong: [Instant] = []
        for instant in random.instants {
            let access = ContentAccess(entitlement, issues: issues, at: instant)
            let unlocked = Set(access.issues.filter { $0.unlocked != nil }.map(\.issue))
            let plain = PlainContentAccess(entitlement, at: instant).unlocked(of: issues)
            if unlocked != plain { wrong.append(instant) }
        }
        #expect(wrong.isEmpty, "seed \(seed)")
    }

    @Test(arguments: Acceptance.seeds(600))
    func `a customer is eligible for an introduction exactly if no purchase forbids it`(
        seed: UInt64
    ) throws {
        var random = RandomCustomer(seed: seed)
        let timelines = CustomerText.timelines(of: random.facts())
        let offers = OfferEligibility(timelines)
        let entitlement = Entitlement(timelines)
        var wrong: [Instant] = []
        for instant in random.instants {
            for group in offers.groups(at: instant) {
                let begun = timelines.filter { $0.stream.environment == .production }.flatMap {
                    PurchaseAccess.all(of: $0, .none)
                }.filter {
                    $0.access.group == group.group && $0.purchase.purchaseDate <= instant
                }
                let forbids = begun.contains { access in
                    access.purchase.assertions.state(of: .offerType) == .value(.integer(1))
                        || (access.access.revocationDate.map { $0 <= instant } ?? false)
                        || access.purchase.expiresDate > instant
                            && !begun.contains { $0.replaced(access) }
                        || access.access.isActive(at: instant)
                }
                if group.introductory.isEligible == forbids { wrong.append(instant) }
                let isActive = entitlement.groups(at: instant).contains { $0.group == group.group }
                if isActive, group.subscriber != .existing { wrong.append(instant) }
                if isActive, group.winBack.isEligible { wrong.append(instant) }
            }
        }
        #expect(wrong.isEmpty, "seed \(seed)")
    }

    private func rank(
        _ access: AccessPeriod,
        _ catalogs: CatalogHistory,
        at instant: Instant
    ) -> (Int, Int64) {
        let level = catalogs.version(at: instant)?.subscription(access.period.productId)?.level
        return (level ?? .max, -access.period.validFrom.milliseconds)
    }
}

extension PurchaseAccess {
    /// Whether a purchase ended by a change of plan ended because of this one, which now decides.
    fileprivate func replaced(_ other: PurchaseAccess) -> Bool {
        let (own, ended) = (access.period, other.access.period)
        return own.stream == ended.stream && ended.endReason == .upgraded
            && own.purchaseDate > ended.purchaseDate && own.purchaseDate < ended.expiresDate
            && own.purchaseDate >= ended.validTo
    }
}

/// All folds' answers about a customer, without the cited positions.
private struct Answers: Equatable {
    private var lines: [String] = []

    init(_ timelines: [Timeline], _ instants: [Instant]) throws {
        let catalogs = try RandomCustomer.catalogs
        let entitlement = Entitlement(timelines, catalogs: catalogs)
        let offers = OfferEligibility(timelines, catalogs: catalogs)
        lines = entitlement.periods.map(Answers.text)
        for instant in instants {
            for group in entitlement.groups(at: instant) {
                lines.append("\(group.group): \(group.active.map(Answers.text))")
            }
            for group in offers.groups(at: instant) {
                lines.append("\(group.group): \(group.subscriber)")
                lines.append(Answers.text(group.introductory))
                lines.append("\(group.winBack.isEligible)")
            }
        }
    }

    private static func text(_ access: AccessPeriod) -> String {
        "\(access.period.stream) \(access.period.values) \(access.group) \(access.isFamilyShared)"
            + " \(access.revocationDate as Any)"
    }

    private static func text(_ eligibility: IntroductoryOfferEligibility) -> String {
        switch eligibility {
        case .neverSubscribed: "never"
        case .usedIntroductoryOffer(let blocking): "used \(text(blocking))"
        case .refunded(let blocking): "refunded \(text(blocking))"
        case .currentlySubscribed(let blocking): "current \(text(blocking))"
        case .inGracePeriod(let blocking): "grace \(text(blocking))"
        case .lapsed: "lapsed"
        }
    }

    private static func text(_ blocking: BlockingTransaction) -> String {
        "\(blocking.originalTransactionId) \(blocking.transactionIds) \(Array(blocking.productId.utf8))"
            + " \(blocking.purchaseDate) \(blocking.expiresDate)"
    }
}
