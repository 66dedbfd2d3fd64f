import Events
import Projections

/// Generates customers whose few subscriptions collide in every way: groups, products,
/// environments.
struct RandomCustomer {
    var source: RandomFacts

    init(seed: UInt64) {
        source = RandomFacts(seed: seed)
    }

    /// Two versions of the catalog; one product is in neither.
    static var catalogs: CatalogHistory {
        get throws {
            let first = try ProductCatalog(from: "2023-01-01", "a g1 1\nb g1 2")
            let second = try ProductCatalog(version: 2, from: "2023-11-18", "a g1 2\nb g1 1")
            return CatalogHistory([second, first])
        }
    }

    /// Apple's statements about the customer's subscriptions.
    mutating func facts() -> [Fact] {
        let count = Int.random(in: 1...24, using: &source.random)
        return source.facts(count).map { fact in
            var content = fact.content
            if fact.kind == .transaction {
                content[.subscriptionGroupIdentifier] = pick([
                    nil, .text("g1"), .text("g1"), .text("g2"), .text("\u{E9}"), .text("e\u{301}"),
                ])
                content[.inAppOwnershipType] = pick([nil, .text("FAMILY_SHARED")])
            } else if fact.kind == .renewal {
                content[.isInBillingRetryPeriod] = pick([nil, .boolean(true), .boolean(false)])
            }
            return Fact(
                stream: StreamID(
                    environment: pick([.production, .production, .production, .sandbox]),
                    originalTransactionId: pick(["1", "2", "3"])
                ),
                bundleId: fact.bundleId,
                kind: fact.kind,
                purchaseDate: fact.purchaseDate,
                expiresDate: fact.expiresDate,
                asOf: fact.asOf,
                content: content
            )
        }
    }

    /// Issues around the same days, some at the same instant.
    mutating func issues() -> [Issue] {
        (0..<Int.random(in: 1...8, using: &source.random)).map { number in
            let instants = instants
            return Issue(
                name: "\(number)",
                publishedAt: instants[Int.random(in: instants.indices, using: &source.random)]
            )
        }
    }

    /// Each midnight at which a change is possible, and the milliseconds next to it.
    var instants: [Instant] {
        (-1...12).flatMap { day in
            (-1...1).map { Instant(milliseconds: 1_700_000_000_000 + day * 86_400_000 + $0) }
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &source.random)]
    }
}

/// The magazine rule in its plainest form: an instant is covered or not, and a run starts where the
/// previous instant was not covered (Apple's data: magazine rule).
struct PlainContentAccess {
    private let kept: [AccessPeriod]

    init(_ entitlement: Entitlement, at instant: Instant) {
        kept = entitlement.periods.filter { access in
            access.period.validFrom <= instant
                && (access.revocationDate.map { $0 > instant } ?? true)
        }
        self.instant = instant
    }

    private let instant: Instant

    func unlocked(of issues: [Issue]) -> Set<Issue> {
        let out = issues.filter { $0.publishedAt <= instant }
        let starts = kept.map(\.period.validFrom).filter { start in
            isCovered(start) && !isCovered(Instant(milliseconds: start.milliseconds - 1))
        }
        let newest = starts.flatMap { start in
            let before = out.filter { $0.publishedAt <= start }
            let last = before.map(\.publishedAt).max()
            return before.filter { $0.publishedAt == last }
        }
        return Set(newest + out.filter { isCovered($0.publishedAt) })
    }

    private func isCovered(_ instant: Instant) -> Bool {
        kept.contains { $0.period.validFrom <= instant && instant < $0.period.validTo }
    }
}
