import Events
import Projections
import Testing

/// Versions of a catalog, and what a change of plan is by them (Apple's data: trap 23).
@Suite struct CatalogHistoryTests {
    private static func product(
        _ id: String,
        _ level: Int,
        _ period: String,
        group: String = "g"
    ) throws -> ProductCatalog.Subscription {
        ProductCatalog.Subscription(
            productId: id,
            subscriptionGroupIdentifier: group,
            level: level,
            duration: try #require(SubscriptionPeriod(period))
        )
    }

    private static func catalog(
        _ version: Int,
        from day: Int64,
        _ products: [ProductCatalog.Subscription],
        granting entitlements: [String] = []
    ) -> ProductCatalog {
        ProductCatalog(
            version: version,
            effectiveFrom: instant(day),
            subscriptions: products,
            entitlements: Dictionary(
                uniqueKeysWithValues: entitlements.map { ($0, EntitlementGrants(groups: ["g"])) }
            )
        )
    }

    private static func instant(_ day: Int64) -> Instant {
        Instant(milliseconds: day * 86_400_000)
    }

    private static func plans() throws -> [ProductCatalog.Subscription] {
        [
            try product("pro.year", 1, "P1Y"), try product("pro.month", 1, "P1M"),
            try product("pro.team", 1, "P1M"), try product("basic.year", 2, "P12M"),
            try product("basic.month", 2, "P1M"), try product("other", 1, "P1M", group: "h"),
        ]
    }

    @Test(
        arguments: [
            // The yearly one costs more and lasts longer; only the level counts.
            ("basic.year", "pro.month", PlanChangeClass.upgrade, false, true),
            ("basic.month", "pro.month", .upgrade, true, true),
            ("pro.month", "basic.year", .downgrade, false, false),
            ("pro.year", "basic.year", .downgrade, true, false),
            ("pro.month", "pro.team", .crossgrade, true, true),
            ("pro.month", "pro.year", .crossgrade, false, false),
            ("pro.month", "pro.month", .crossgrade, true, true),
            ("pro.month", "other", .planChange, true, nil),
            ("pro.month", "unknown", .planChange, nil, nil),
            ("unknown", "pro.month", .planChange, nil, nil), ("", "", .planChange, nil, nil),
        ] as [(String, String, PlanChangeClass, Bool?, Bool?)]
    )
    func `the level decides, and among equals the length of the period when`(
        from: String,
        to: String,
        expected: PlanChangeClass,
        sameDuration: Bool?,
        isImmediate: Bool?
    ) throws {
        let plans = try Self.plans()
        for products in [plans, plans.reversed()] {
            let history = CatalogHistory([Self.catalog(1, from: 0, products)])
            let at = Self.instant(5)
            #expect(history.change(from: from, to: to, at: at) == expected)
            #expect(history.haveSameDuration(from, to, at: at) == sameDuration)
            #expect(expected.isImmediate(sameDuration: sameDuration) == isImmediate)
        }
    }

    @Test func `without a catalog every change is only that`() {
        let at = Self.instant(0)
        #expect(CatalogHistory.none.change(from: "a", to: "b", at: at) == .planChange)
        #expect(CatalogHistory.none.haveSameDuration("a", "b", at: at) == nil)
        #expect(CatalogHistory.none.version(at: at) == nil)
        #expect(CatalogHistory.none.product("a", at: at) == nil)
    }

    @Test func `the version that began last holds, of two the one imported later`() {
        let versions = [
            Self.catalog(1, from: 10, []), Self.catalog(2, from: 30, []),
            Self.catalog(3, from: 20, []), Self.catalog(4, from: 30, []),
        ]
        let expected: [(Int64, Int)] = [
            (-5, 1), (9, 1), (10, 1), (19, 1), (20, 3), (29, 3), (30, 4), (1000, 4),
        ]
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let history = CatalogHistory(order.map { versions[$0] })
            for (day, version) in expected {
                #expect(
                    history.version(at: Self.instant(day))?.version == version,
                    "day \(day), order \(order)"
                )
            }
            let before = Instant(milliseconds: Self.instant(20).milliseconds - 1)
            #expect(history.version(at: before)?.version == 1)
        }
    }

    @Test func `a change is judged by the levels of its time`() throws {
        let history = CatalogHistory([
            Self.catalog(
                1,
                from: 0,
                [try Self.product("a", 1, "P1M"), try Self.product("b", 2, "P1M")]
            ),
            Self.catalog(
                2,
                from: 10,
                [try Self.product("a", 2, "P1M"), try Self.product("b", 1, "P1W")]
            ),
        ])
        #expect(history.change(from: "a", to: "b", at: Self.instant(-1)) == .downgrade)
        #expect(history.change(from: "a", to: "b", at: Self.instant(9)) == .downgrade)
        #expect(history.change(from: "a", to: "b", at: Self.instant(10)) == .upgrade)
        #expect(history.haveSameDuration("a", "b", at: Self.instant(9)) == true)
        #expect(history.haveSameDuration("a", "b", at: Self.instant(10)) == false)
    }

    @Test func `every product is found among many, and no other`() throws {
        let ids = (0..<257).map { "p\($0)" } + ["é", "e\u{301}", "P", "p", "q", "🧾"]
        let catalog = Self.catalog(
            1,
            from: 0,
            try ids.enumerated().map { try Self.product($1, $0 + 1, "P1M") }
        )
        for (index, id) in ids.enumerated() {
            let found = catalog.subscription(id)
            #expect(found?.level == index + 1, "\(id)")
            #expect(catalog.product(id) == found.map(ProductCatalog.Product.subscription))
        }
        for id in ["", "p257", "p00", "o", "r", "ê"] {
            #expect(catalog.product(id) == nil, "\(id)")
        }
    }

    @Test func `the matrix and single questions say the same of every pair`() throws {
        let catalog = Self.catalog(1, from: 0, try Self.plans())
        let matrix = PlanChangeMatrix(catalog)
        #expect(matrix.groups.map(\.subscriptionGroupIdentifier) == ["g", "h"])
        #expect(
            matrix.groups.first?.subscriptions.map(\.productId) == [
                "pro.month", "pro.team", "pro.year", "basic.month", "basic.year",
            ]
        )
        let changes = matrix.groups.flatMap(\.changes)
        #expect(changes.count == 5 * 4)
        for change in changes {
            #expect(catalog.change(from: change.from, to: change.to) == change.kind)
            #expect(
                catalog.haveSameDuration(change.from, change.to) == change.sameDuration
            )
            #expect(
                change.kind.isImmediate(sameDuration: change.sameDuration)
                    == (change.takesEffect == .now)
            )
        }
    }

    /// An import keeps what its file does not define as the last one had it, so what was imported
    /// early for a later time must not take back what was imported in between.
    @Test func `a version for a later time takes back nothing that was imported after it`() throws {
        let (old, new) = ([try Self.product("a", 1, "P1M")], [try Self.product("a", 2, "P1M")])
        let versions = [
            Self.catalog(1, from: 1, old), Self.catalog(2, from: 2, old, granting: ["pro"]),
            // Products of the tenth day, imported on the third; then entitlements of the fourth.
            Self.catalog(3, from: 10, new, granting: ["pro"]),
            Self.catalog(4, from: 4, new, granting: ["pro", "extra"]),
        ]
        func check(_ history: CatalogHistory, _ day: Int64, _ level: Int, _ granted: Set<String>) {
            let version = history.version(at: Self.instant(day))
            #expect(version?.subscriptions.map(\.level) == [level], "day \(day)")
            #expect(version.map { Set($0.entitlements.keys) } == granted, "day \(day)")
        }
        let history = CatalogHistory(versions.reversed())
        check(history, 1, 1, [])
        check(history, 3, 1, ["pro"])
        check(history, 5, 1, ["pro", "extra"])
        check(history, 10, 2, ["pro", "extra"])
        // As it was known before the fourth.
        check(history.imported(through: 3), 5, 1, ["pro"])
        check(history.imported(through: 3), 10, 2, ["pro"])
        // The same content for an earlier time is all stated.
        let again = CatalogHistory(
            versions + [Self.catalog(5, from: 3, new, granting: ["pro", "extra"])]
        )
        check(again, 3, 2, ["pro", "extra"])
    }
}
