import Events
import Projections
import TestSupport
import Testing

/// What joins the subscriptions of one customer, and what does not.
@Suite struct CustomerBondTests {
    private static let lower = "0b5e7c1a-3f6d-4e0b-9a51-7f3d2c1b0a99"
    private static let upper = lower.uppercased()

    /// The ids of a customer's subscriptions, which must be the same for every order of the facts.
    private func ids(
        _ text: String,
        _ name: String,
        in environment: StoreEnvironment = .production
    ) throws -> [String] {
        let customer = try customer(text, name, in: environment)
        return customer.streams.map(\.stream.originalTransactionId)
    }

    private func customer(
        _ text: String,
        _ name: String,
        in environment: StoreEnvironment = .production
    ) throws -> Customer {
        let facts = try ClaimText.facts(text)
        let told = MemoryLedger([facts]).customer(name, in: environment)
        var random = SeededGenerator(seed: 8)
        for order in [facts.reversed(), (facts + facts).shuffled(using: &random)] {
            let other = MemoryLedger([order]).customer(name, in: environment)
            #expect(describe(other) == describe(told))
            for stream in told.streams.map(\.stream) {
                #expect(other.ground(of: stream) == told.ground(of: stream))
            }
        }
        return told
    }

    @Test func `a token is found in upper or lower case and joins subscriptions in both`() throws {
        let text = """
            1000 @01-01 buys month 01-01 token=\(Self.lower)
            2000 @01-01 buys games 01-01 token=\(Self.upper)
            3000 @01-01 buys music 01-01 token=other
            4000 @01-01 buys music 01-01 token=OTHER
            """
        for name in [Self.lower, Self.upper, "1000", "2000"] {
            let customer = try customer(text, name)
            #expect(customer.streams.map(\.stream.originalTransactionId) == ["1000", "2000"])
            #expect(customer.tokens == [Self.upper], "one token, once")
            #expect(customer.streams(ownedAt: try TimelineText.instant("01-05")).count == 2)
        }
        #expect(try ids(text, "other") == ["3000"], "any other text is compared by its bytes")
    }

    static let placeholders = [
        "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "0",
        "null", "(null)", "None", "undefined",
    ]

    @Test(arguments: placeholders)
    func `an id that identifies nothing joins no strangers, whatever it stands for`(
        text: String
    ) throws {
        let facts = """
            1000 @01-01 buys month 01-01 token=\(text) app=\(text) woli=\(text)
            2000 @01-01 buys month 01-01 token=\(text) app=\(text) woli=\(text)
            3000 @01-01 link \(text)
            3000 @01-02 buys month 01-02
            4000 @01-01 link \(text)
            4000 @01-02 buys month 01-02
            """
        for id in ["1000", "2000", "3000", "4000"] {
            let customer = try customer(facts, id)
            #expect(customer.streams.map(\.stream.originalTransactionId) == [id])
            #expect(customer.tokens.isEmpty && customer.customerId == nil)
        }
        #expect(try ids(facts, text).isEmpty, "and it finds nobody")
    }

    private func sharers(_ text: String) throws -> [CustomerStream] {
        MemoryLedger([try ClaimText.facts(text)]).customerStreams
    }

    @Test func `a token of three Apple accounts is an anomaly, of three purchases of one is not`()
        throws
    {
        let one = try sharers(
            """
            1000 @01-01 buys month 01-01 token=\(Self.lower) app=A bundle=app.a
            2000 @01-02 buys month 01-02 token=\(Self.upper) app=A bundle=app.a
            3000 @01-03 buys month 01-03 token=\(Self.upper) app=B bundle=app.a
            4000 @01-04 buys month 01-04 token=\(Self.upper) app=C bundle=app.b
            5000 @01-05 buys month 01-05 token=\(Self.upper) bundle=app.a
            6000 @01-06 buys month 01-06 token=other app=D bundle=app.a
            """
        )
        let limits = AnomalyLimits()
        #expect(SharedIDs.anomaly(ofToken: Self.lower, one, limits: limits) == nil)
        let three = try sharers(
            """
            1000 @01-01 buys month 01-01 token=\(Self.lower) app=A bundle=app.a
            2000 @01-02 buys month 01-02 token=\(Self.upper) app=B bundle=app.a
            3000 @01-03 buys month 01-03 token=\(Self.upper) receipt bundle=app.a
            """
        )
        let anomaly = try #require(
            SharedIDs.anomaly(ofToken: Self.lower, three.reversed(), limits: limits)
        )
        #expect(anomaly.kind == .sharedToken && anomaly.count == 3)
        #expect(anomaly.sharedId == Self.lower)
        #expect(anomaly.originalTransactionId == "1000")
        #expect(anomaly.positions.count == 3 && anomaly.givenMilliunits == nil)
    }

    @Test func `a transaction under two original ids is an anomaly, with its line item only`()
        throws
    {
        let facts = """
            1000 @01-01 buys month 01-01 id=9 woli=7
            2000 @01-02 buys month 01-01 id=9 woli=7
            3000 @01-02 buys month 01-01 id=9 woli=8
            """
        let anomaly = try #require(
            SharedIDs.anomaly(ofTransaction: "9", lineItem: "7", try sharers(facts))
        )
        #expect(anomaly.kind == .sharedTransaction && anomaly.count == 2)
        #expect(anomaly.sharedId == "9" && anomaly.positions.map(\.offset) == [1, 2])
        let other = SharedIDs.anomaly(ofTransaction: "9", lineItem: "8", try sharers(facts))
        #expect(other == nil)
    }

    @Test(arguments: placeholders)
    func `a placeholder neither takes a subscription from its token nor ends a link`(
        text: String
    ) throws {
        let facts = """
            1000 @01-01 buys month 01-01 token=\(Self.lower)
            1000 @01-31 buys month 01-31 token=\(text)
            2000 @01-01 link anna
            2000 @01-02 buys month 01-02
            2000 @01-10 link \(text)
            """
        let owner = try customer(facts, Self.lower)
        #expect(owner.streams(ownedAt: try TimelineText.instant("02-05")).count == 1)
        let linked = try #require(try customer(facts, "anna").streams.first)
        #expect(linked.claims.linkedCustomer == "anna" && linked.claims.contested.isEmpty)
    }

    @Test func `the same token in another letter case is the same owner`() throws {
        let facts = try ClaimText.facts(
            """
            1000 @01-01 buys month 01-01 token=\(Self.lower)
            1000 @02-01 buys month 01-31 token=\(Self.upper)
            """
        )
        let claims = MemoryLedger([facts]).claims()
        #expect(!claims.hasMutatedToken && claims.owners.count == 1)
        #expect(claims.tokens.map(\.token) == [Self.lower], "as Apple signed it first")
        #expect(Owner.appAccountToken(Self.lower) == .appAccountToken(Self.upper))
        #expect(Set([Owner.appAccountToken(Self.lower), .appAccountToken(Self.upper)]).count == 1)
    }

    private let receipt = """
        1000 @03-01 buys month 01-01 receipt
        2000 @03-01 buys games 01-01 receipt
        3000 @03-01 buys coins 01-01 receipt once
        4000 @03-02 buys month 01-01 receipt
        """

    @Test func `the subscriptions in one app receipt belong to one customer`() throws {
        for name in ["1000", "2000", "3000"] {
            #expect(try ids(receipt, name) == ["1000", "2000", "3000"])
        }
        #expect(try ids(receipt, "4000") == ["4000"], "another receipt")
        let customer = try customer(receipt, "2000")
        let stream = ClaimText.stream("1000")
        guard case .bond(let bond, let other)? = customer.ground(of: stream) else {
            Issue.record("\(String(describing: customer.ground(of: stream)))")
            return
        }
        #expect(bond.kind == "appReceipt" && other == ClaimText.stream("2000"))
        #expect(customer.ground(of: ClaimText.stream("2000")) == .named)
    }

    @Test func `a receipt with nothing new about a subscription joins it too`() throws {
        let known = "1000 @01-15 buys month 01-01\n2000 @01-15 buys games 01-01\n"
        #expect(try ids(known, "1000") == ["1000"])
        #expect(try ids(known + receipt, "1000") == ["1000", "2000", "3000"])
    }

    @Test func `a link to another customer overrides a receipt for that subscription`() throws {
        let linked = receipt + "\n2000 @03-03 link ben"
        #expect(try ids(linked, "ben") == ["1000", "2000", "3000"], "the only link leads the rest")
        let both = linked + "\n1000 @03-03 link anna"
        #expect(try ids(both, "ben") == ["2000"])
        #expect(try ids(both, "anna") == ["1000"])
        #expect(try customer(both, "3000").ambiguous.map(\.customerIds) == [["anna", "ben"]])
    }

    @Test func `one Apple account in an app is one customer and can be queried by its id`()
        throws
    {
        let text = """
            1000 @01-01 buys month 01-01 app=70 bundle=a
            2000 @03-01 buys year 03-01 app=70 bundle=a
            3000 @03-01 buys year 03-01 app=71 bundle=a
            4000 @03-01 buys year 03-01 app=70 bundle=b
            5000 @03-01 buys year 03-01 app=0 bundle=a
            6000 @03-01 buys year 03-01 app=0 bundle=a
            7000 @03-01 buys year 03-01 bundle=a
            7000 @03-02 renews app=70
            8000/Sandbox @03-01 buys year 03-01 app=70 bundle=a
            """
        for name in ["1000", "2000", "7000", "70"] {
            #expect(try ids(text, name) == ["1000", "2000", "7000"], "\(name)")
        }
        #expect(try ids(text, "3000") == ["3000"])
        #expect(try ids(text, "4000") == ["4000"], "an account has another id in each app")
        #expect(try ids(text, "5000") == ["5000"], "Xcode writes 0 for every account")
        #expect(try ids(text, "70", in: .sandbox) == ["8000"])
    }

    @Test func `an account joins no consumables, because there may be thousands`() throws {
        let text = """
            1000 @01-01 buys month 01-01 app=70
            2000 @01-01 buys lamp 01-01 app=70 once type=Non-Consumable
            3000 @01-01 buys coins 01-01 app=70 once type=Consumable
            4000 @01-01 buys coins 01-01 app=70 once type=Consumable
            """
        for name in ["70", "1000", "2000"] { #expect(try ids(text, name) == ["1000", "2000"]) }
        #expect(try ids(text, "3000") == ["3000"])
        #expect(try ids(text + "\n3000 @01-02 link anna", "anna") == ["3000"])
    }

    /// Apple creates a different id, transactions and receipt for each member of a family.
    @Test func `members of a family are not joined`() throws {
        let text = """
            1000 @03-01 buys month 01-01 app=70 bundle=a id=1 woli=11 token=t1
            2000 @03-01 buys month 01-01 app=71 bundle=a id=2 woli=12 family
            3000 @03-02 buys month 01-01 bundle=a receipt
            4000 @03-03 buys month 01-01 bundle=a receipt
            """
        for name in ["1000", "2000", "3000", "4000"] {
            #expect(try ids(text, name) == [name])
        }
    }

    @Test func `a migrated subscription and the one before it lead to each other`() throws {
        // Apple's data: trap 47
        let text = """
            1000 @01-01 buys month 01-01
            2000 @05-01 buys month 04-01 previous=1000
            """
        for name in ["1000", "2000"] { #expect(try ids(text, name) == ["1000", "2000"]) }
        #expect(try ids(text + "\n1000 @01-02 link anna", "anna") == ["1000", "2000"])
        #expect(try ids("2000 @05-01 buys month 04-01 previous=1000", "1000") == ["2000"])
    }

    @Test func `a plan bought in billing retry belongs to the same customer`() throws {
        let text = """
            1000 @05-01 buys month 01-01 app=70 bundle=a group=g intro
            2000 @05-01 buys year 04-20 app=70 bundle=a group=g
            """
        let customer = try customer(text, "1000")
        let at = try TimelineText.instant("05-01")
        let timelines = customer.streams(ownedAt: at).map(\.timeline)
        #expect(Entitlement(timelines).active(at: at).map(\.period.productId) == ["year"])
        let later = try TimelineText.instant("08-01")
        for name in ["1000", "2000", "70"] {
            let timelines = try self.customer(text, name).streams.map(\.timeline)
            let offers = OfferEligibility(timelines).eligibility(in: .identified("g"), at: later)
            #expect(!offers.introductory.isEligible, "not offered twice, asked by \(name)")
        }
    }

    @Test func `the reason a subscription belongs to a customer is the bond with the fewest steps`()
        throws
    {
        let text = """
            1000 @01-01 buys month 01-01 app=70 token=t1
            2000 @01-01 buys games 01-01 app=70 token=t1
            3000 @01-01 buys music 01-01
            2000 @01-02 link anna
            3000 @01-02 link anna
            """
        let customer = try customer(text, "1000")
        let grounds = customer.streams.map { customer.ground(of: $0.stream) }
        let first = ClaimText.stream("1000")
        #expect(
            grounds == [.named, .bond(.appAccountToken("t1"), with: first), .link("anna")]
        )
        #expect(try self.customer(text, "anna").ground(of: first).map { $0 != .named } ?? false)
    }

    private func owned(_ text: String, _ name: String, _ days: [String]) throws -> [[String]] {
        let customer = try customer(text, name)
        return try days.map { day in
            customer.streams(ownedAt: try TimelineText.instant(day))
                .map(\.stream.originalTransactionId)
        }
    }

    @Test
    func `a link overrides a bond when it starts, and an unlink restores it`()
        throws
    {
        let before = """
            3101 @07-02 buys month 01-01 receipt
            3102 @07-02 buys year 07-01 receipt
            3101 @01-01 link leo
            """
        let linked = before + "\n3102 @09-01 link mia"
        let unlinked = linked + "\n3102 @10-01 unlink"
        let days = ["02-01", "08-01", "09-01", "10-01", "12-01"]
        let both = ["3101", "3102"]
        #expect(try owned(before, "leo", days) == [both, both, both, both, both])
        #expect(try owned(linked, "leo", days) == [both, both, ["3101"], ["3101"], ["3101"]])
        #expect(try owned(linked, "mia", days) == [[], [], ["3102"], ["3102"], ["3102"]])
        #expect(try owned(unlinked, "leo", days) == [both, both, ["3101"], both, both])
        #expect(try owned(unlinked, "mia", days) == [[], [], ["3102"], [], []])
        let leo = try customer(unlinked, "leo")
        let times = leo.tenures(of: ClaimText.stream("3102"))
        #expect(times.map(\.upperBound).first == (try TimelineText.instant("09-01")))
        #expect(times.map(\.lowerBound).last == (try TimelineText.instant("10-01")))
        #expect(times.count == 2)
    }

    @Test func `what a link makes ambiguous is ambiguous only from its start`() throws {
        let text = """
            3101 @07-02 buys month 01-01 receipt
            3102 @07-02 buys year 07-01 receipt
            3103 @07-02 buys news 07-01 receipt
            3101 @01-01 link leo
            3102 @09-01 link mia
            """
        let days = ["08-01", "09-01"]
        #expect(try owned(text, "leo", days) == [["3101", "3102", "3103"], ["3101"]])
        #expect(try owned(text, "mia", days) == [[], ["3102"]])
        #expect(try owned(text, "3103", days).map { $0.contains("3103") } == [true, true])
    }

    @Test func `a migration is reported from both sides`() throws {
        let new = "5002 @05-01 buys month 04-01 previous=5001"
        let both = "5001 @01-01 buys month 01-01\n" + new
        let (first, second) = (ClaimText.stream("5001"), ClaimText.stream("5002"))
        let bond = CustomerBond.previousOriginalTransactionId("5001")
        for text in [both, new] {
            let old = try customer(text, "5001")
            #expect(old.ground(of: second) == .bond(bond, with: first))
        }
        #expect(try customer(both, "5001").ground(of: first) == .named)
        #expect(try customer(both, "5002").ground(of: first) == .bond(bond, with: second))
    }

    @Test func `tokens joined by one receipt belong to one customer and are reported`() throws {
        let text = """
            3301 @07-02 buys month 01-01 receipt token=t1
            3302 @07-02 buys year 07-01 receipt token=t2
            3303 @07-02 buys news 07-01 receipt
            """
        let customer = try customer(text, "t1")
        let others = customer.streams.map { customer.otherTokens(than: $0) }
        #expect(others == [["t2"], ["t1"], []])
        let linked = try self.customer(text + "\n3302 @07-03 link mia", "t1")
        #expect(linked.streams.allSatisfy { linked.otherTokens(than: $0).isEmpty })
    }
}
