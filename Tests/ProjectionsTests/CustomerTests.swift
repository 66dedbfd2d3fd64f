import Events
import Projections
import TestSupport
import Testing

/// Which subscriptions belong to one customer.
@Suite struct CustomerTests {
    /// Queries every name, with the facts in text order, backwards, and in seeded shuffles.
    @discardableResult
    private func expect(
        _ text: String,
        _ name: String,
        _ lines: [String],
        in environment: StoreEnvironment = .production,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Customer {
        let facts = try ClaimText.facts(text)
        var random = SeededGenerator(seed: 6)
        var orders = [facts, facts.reversed()]
        for _ in 0..<6 { orders.append((facts + facts).shuffled(using: &random)) }
        for order in orders {
            let customer = MemoryLedger([order]).customer(name, in: environment)
            #expect(describe(customer) == lines, "seed 6", sourceLocation: sourceLocation)
        }
        return MemoryLedger([facts]).customer(name, in: environment)
    }

    private let account = """
        1000 @01-01 buys month 01-01 token=t1 id=10
        2000 @01-01 buys games 01-01 token=t1 id=20
        3000 @01-01 buys music 01-01 id=30
        4000 @01-01 buys month 01-01 token=t2 id=40
        """

    @Test func `one token is one customer, found by any of its names`() throws {
        for name in ["t1", "1000", "2000", "10", "20"] {
            try expect(
                account,
                name,
                [
                    "customer none", #"tokens ["t1"]"#, #"streams ["1000", "2000"]"#,
                    "related []", "ambiguous []",
                ]
            )
        }
        let nobody = try expect(
            account,
            "30",
            ["customer none", "tokens []", #"streams ["3000"]"#, "related []", "ambiguous []"]
        )
        let owned = nobody.streams(ownedAt: try TimelineText.instant("01-05"))
        #expect(owned.count == 1, "without any claim it belongs to whoever can name it")
        #expect(MemoryLedger([try ClaimText.facts(account)]).customer("x").streams.isEmpty)
    }

    @Test func `a link gives the rest of the account to the customer too`() throws {
        let linked = account + "\n3000 @02-01 link anna\n1000 @02-01 link anna"
        for name in ["anna", "t1", "2000", "30"] {
            let customer = try expect(
                linked,
                name,
                [
                    "customer anna", #"tokens ["t1"]"#, #"streams ["1000", "2000", "3000"]"#,
                    "related []", "ambiguous []",
                ]
            )
            func owned(_ day: String) throws -> [String] {
                customer.streams(ownedAt: try TimelineText.instant(day))
                    .map(\.stream.originalTransactionId)
            }
            #expect(try owned("02-01") == ["1000", "2000", "3000"])
            // Without a token, the third belonged to no one before the link.
            #expect(try owned("01-31") == ["1000", "2000"])
        }
    }

    @Test func `a subscription belongs to a token while it has it, and to the next one after`()
        throws
    {
        let moved = """
            1000 @01-01 buys month 01-01 token=t1 woli=1
            1000 @01-10 renews token=t2
            1000 @01-31 buys year 01-31 token=t2 woli=2
            """
        for (name, days) in [
            ("t1", ["01-20": true, "02-01": false]), ("t2", ["01-20": false, "02-01": true]),
            ("1000", ["01-20": true, "02-01": true]),
        ] {
            let customer = MemoryLedger([try ClaimText.facts(moved)]).customer(name)
            for (day, isTheirs) in days {
                let owned = customer.streams(ownedAt: try TimelineText.instant(day))
                #expect(owned.isEmpty != isTheirs, "\(name) on \(day)")
            }
        }
        // The answer names the end.
        let first = MemoryLedger([try ClaimText.facts(moved)]).customer("t1")
        let ends = first.tenureEnds(after: try TimelineText.instant("01-20"))
        #expect(ends.values.map(TimelineText.text) == ["01-31"])
    }

    @Test func `a link of one Apple Account does not drag what another one bought with the token`()
        throws
    {
        func lines(_ second: String) throws -> [String] {
            let facts = try ClaimText.facts(
                """
                1000 @01-01 buys month 01-01 token=t1 app=71 bundle=a
                2000 @01-01 buys games 01-01 token=t1 app=\(second) bundle=a
                1000 @02-01 link anna
                """
            )
            return describe(MemoryLedger([facts]).customer("anna"))
        }
        #expect(try lines("71").contains(#"streams ["1000", "2000"]"#))
        #expect(try lines("72").contains(#"streams ["1000"]"#))
    }

    @Test func `a token with two customers is ambiguous and stays with the token`() throws {
        let linked =
            account + "\n5000 @01-01 buys news 01-01 token=t1\n1000 @02-01 link anna"
            + "\n5000 @02-01 link ben"
        let anna = try expect(
            linked,
            "anna",
            [
                "customer anna", "tokens []", #"streams ["1000"]"#, "related []",
                #"ambiguous [["2000", "anna", "ben"]]"#,
            ]
        )
        let march = try TimelineText.instant("03-01")
        #expect(anna.streams(ownedAt: march).count == 1)
        let token = try expect(
            linked,
            "t1",
            [
                "customer none", #"tokens ["t1"]"#, #"streams ["2000"]"#,
                #"related ["1000", "5000"]"#, #"ambiguous [["2000", "anna", "ben"]]"#,
            ]
        )
        let owned = token.streams(ownedAt: march).map(\.stream.originalTransactionId)
        #expect(owned == ["2000"])
    }

    @Test func `a transfer moves one subscription but not the account`() throws {
        let text = """
            1000 @01-01 buys month 01-01 token=t1
            2000 @01-01 buys games 01-01
            1000 @01-02 link anna
            2000 @01-02 link anna
            1000 @02-01 unlink
            1000 @02-01 link ben
            """
        let anna = try expect(
            text,
            "anna",
            [
                "customer anna", "tokens []", #"streams ["2000"]"#, #"related ["1000"]"#,
                "ambiguous []",
            ]
        )
        let ben = try expect(
            text,
            "ben",
            [
                "customer ben", #"tokens ["t1"]"#, #"streams ["1000"]"#, "related []",
                "ambiguous []",
            ]
        )
        func owned(_ customer: Customer, _ day: String) throws -> [String] {
            customer.streams(ownedAt: try TimelineText.instant(day))
                .map(\.stream.originalTransactionId)
        }
        #expect(try owned(anna, "01-31") == ["1000", "2000"])
        #expect(try owned(anna, "02-01") == ["2000"])
        #expect(try owned(ben, "01-31") == [])
        #expect(try owned(ben, "02-01") == ["1000"])
    }

    @Test(arguments: ["id=77", "woli=88"])
    func `a shared transaction or line item joins two original ids`(bond: String) throws {
        try expect(
            """
            1000 @01-01 buys month 01-01 \(bond)
            2000 @05-01 buys month 01-01 \(bond)
            3000 @01-01 buys month 01-01 woli=0
            4000 @01-01 buys month 01-01 woli=0
            """,
            "1000",
            [
                "customer none", "tokens []", #"streams ["1000", "2000"]"#, "related []",
                "ambiguous []",
            ]
        )
    }

    @Test func `a migrated subscription continues the one before it`() throws {
        // Apple's data: trap 47
        try expect(
            """
            1000 @01-01 buys month 01-01
            2000 @05-01 buys month 04-01 previous=1000
            1000 @01-02 link anna
            """,
            "2000",
            [
                "customer anna", "tokens []", #"streams ["1000", "2000"]"#, "related []",
                "ambiguous []",
            ]
        )
    }

    @Test func `environments are never joined`() throws {
        let text = """
            1000 @01-01 buys month 01-01 token=t1 id=1
            1000/Sandbox @01-01 buys month 01-01 token=t1 id=1
            2000/Sandbox @01-01 link anna
            1000 @01-01 link anna
            """
        let production = try expect(
            text,
            "anna",
            [
                "customer anna", #"tokens ["t1"]"#, #"streams ["1000"]"#, "related []",
                "ambiguous []",
            ]
        )
        #expect(production.streams.allSatisfy { $0.stream.environment == .production })
        try expect(
            text,
            "anna",
            [
                "customer anna", "tokens []", #"streams ["2000"]"#, "related []",
                "ambiguous []",
            ],
            in: .sandbox
        )
    }

    /// A second account in the app presents the same receipt; nothing moves automatically.
    @Test func `a restore into another account is a contested claim until the operator decides`()
        throws
    {
        // Apple's data: trap 37
        let text = """
            1000 @01-01 buys month 01-01 id=1
            1000 @01-01 link anna by=app
            1000 @01-20 buys month 01-01 id=2
            1000 @01-20 link ben by=app
            """
        let ledger = MemoryLedger([try ClaimText.facts(text)])
        #expect(ledger.timeline(of: ClaimText.stream("1000")).purchases.count == 1)
        let anna = ledger.customer("anna")
        let day = try TimelineText.instant("01-25")
        #expect(anna.streams(ownedAt: day).count == 1)
        let ben = ledger.customer("ben")
        #expect(ben.streams.isEmpty && ben.streams(ownedAt: day).isEmpty)
        #expect(ben.related.map(\.claims.contested.count) == [1])
    }
}
