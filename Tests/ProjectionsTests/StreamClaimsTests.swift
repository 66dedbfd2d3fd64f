import Events
import Projections
import TestSupport
import Testing

/// Who owned a subscription when (Apple's data: trap 37).
@Suite struct StreamClaimsTests {
    /// Checks the claims of stream 1000 in text order, backwards, and in seeded shuffles with
    /// repetitions.
    @discardableResult
    private func expect(
        _ text: String,
        _ lines: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> StreamClaims {
        let facts = try ClaimText.facts(text)
        var random = SeededGenerator(seed: 5)
        var orders = [facts, facts.reversed()]
        for _ in 0..<8 { orders.append((facts + facts).shuffled(using: &random)) }
        for order in orders {
            let claims = MemoryLedger([order]).claims()
            #expect(describe(claims) == lines, "seed 5", sourceLocation: sourceLocation)
        }
        return MemoryLedger([facts]).claims()
    }

    @Test func `without any claim a subscription has no owner`() throws {
        try expect("1000 @01-02 buys month 01-01", [".. nobody"])
    }

    @Test func `a link holds from its instant until the unlink`() throws {
        let claims = try expect(
            """
            1000 @01-02 buys month 01-01
            1000 @02-01 link anna by=support
            1000 @03-01 unlink by=support
            """,
            ["..02-01 nobody", "02-01..03-01 anna", "03-01.. nobody"]
        )
        let link = try #require(claims.links.first)
        #expect(link.statedBy == "support" && link.offset == 2 && link.endOffset == 3)
        func instant(_ day: String) throws -> Instant { try TimelineText.instant(day) }
        #expect(claims.owner(at: try instant("02-01")) == .customer("anna"))
        #expect(claims.owner(at: try instant("01-31")) == nil)
        #expect(claims.owner(at: try instant("03-01")) == nil)
        #expect(claims.owners.last?.offset == 3, "the unlink is cited")
    }

    @Test func `a second customer without an unlink contests the claim and moves nothing`() throws {
        let claims = try expect(
            """
            1000 @01-02 buys month 01-01
            1000 @02-01 link anna
            1000 @02-10 link ben by=ben
            1000 @02-20 link anna
            1000 @02-25 link ben
            """,
            ["..02-01 nobody", "02-01.. anna", "02-10.. ben contests anna"]
        )
        #expect(claims.contested.map(\.offset) == [3])
        #expect(claims.contested.map(\.statedBy) == ["ben"])
    }

    @Test func `an unlink ends the contest too, and the next link decides`() throws {
        try expect(
            """
            1000 @02-01 link anna
            1000 @02-10 link ben
            1000 @02-20 unlink
            1000 @02-25 link ben
            """,
            [
                "..02-01 nobody", "02-01..02-20 anna", "02-20..02-25 nobody", "02-25.. ben",
                "02-10..02-20 ben contests anna",
            ]
        )
    }

    @Test func `an unlink and a link at one instant are a transfer`() throws {
        try expect(
            """
            1000 @02-01 link anna
            1000 @02-10 unlink
            1000 @02-10 link ben
            """,
            ["..02-01 nobody", "02-01..02-10 anna", "02-10.. ben"]
        )
    }

    @Test func `of two customers at one instant the greater name wins, in any order`() throws {
        try expect(
            """
            1000 @02-01 link ben
            1000 @02-01 link anna
            """,
            ["..02-01 nobody", "02-01.. ben", "02-01.. anna contests ben"]
        )
    }

    @Test func `a link stated later for an earlier time is retroactive`() throws {
        try expect(
            """
            1000 @01-02 buys month 01-01
            1000 @03-01 link anna
            1000 @01-01 link anna
            """,
            ["..01-01 nobody", "01-01.. anna"]
        )
    }

    @Test func `a token counts from the start of the purchase, and before it`() throws {
        try expect(
            "1000 @02-15 buys month 01-01 token=t1",
            [".. token t1"]
        )
    }

    @Test func `a link overrides the token, and the token returns with the unlink`() throws {
        try expect(
            """
            1000 @01-02 buys month 01-01 token=t1
            1000 @02-01 link anna
            1000 @03-01 unlink
            """,
            ["..02-01 token t1", "02-01..03-01 anna", "03-01.. token t1"]
        )
    }

    @Test func `both tokens of a crossgrade from another login are kept`() throws {
        let claims = try expect(
            """
            1000 @01-01 buys month 01-01 token=t1 woli=1
            1000 @02-01 buys year 01-31 token=t2 woli=2
            """,
            ["..01-31 token t1", "01-31.. token t2"]
        )
        #expect(claims.hasMutatedToken)
        #expect(claims.tokens.map(\.token) == ["t1", "t2"])
        #expect(claims.tokens.map(\.offset) == [1, 2])
    }

    /// A poll signs every old transaction again, in arbitrary order.
    @Test func `an old purchase that is signed again does not restore its token`() throws {
        try expect(
            """
            1000 @01-01 buys month 01-01 token=t1 woli=1
            1000 @02-01 buys year 01-31 token=t2 woli=2
            1000 @05-02 buys month 01-01 token=t1 woli=1
            1000 @05-01 buys year 01-31 token=t2 woli=2
            """,
            ["..01-31 token t1", "01-31.. token t2"]
        )
    }

    @Test func `a token that is set later counts from then on`() throws {
        try expect(
            """
            1000 @01-01 buys month 01-01 token=t1
            1000 @01-20 buys month 01-01 token=t2
            """,
            ["..01-20 token t1", "01-20.. token t2"]
        )
    }

    @Test
    func `a token in renewal info is about the next renewal, and a transaction moves the owner`()
        throws
    {
        let month = "1000 @01-01 buys month 01-01 token=t1 woli=1\n1000 @01-10 renews token=t2\n"
        try expect(month, [".. token t1"])
        // The renewal itself states whose it is.
        try expect(month + "1000 @01-31 buys year 01-31 token=t1 woli=2", [".. token t1"])
        try expect(
            month + "1000 @01-31 buys year 01-31 token=t2 woli=2",
            ["..01-31 token t1", "01-31.. token t2"]
        )
        try expect("1000 @01-01 buys month 01-01\n1000 @01-20 renews token=t2", [".. nobody"])
        try expect("1000 @01-20 renews token=t2", [".. token t2"])
    }

    @Test func `one-time and family-shared purchases are claimed like the rest`() throws {
        try expect("1000 @01-01 buys forever 01-01 once token=t1", [".. token t1"])
        try expect(
            """
            1000 @01-01 buys month 01-01 family token=t1
            1000 @01-02 link child
            """,
            ["..01-02 token t1", "01-02.. child"]
        )
    }

    @Test func `names are compared by bytes`() throws {
        let claims = try expect(
            """
            1000 @01-01 link \u{E9}
            1000 @01-02 link e\u{301}
            """,
            ["..01-01 nobody", "01-01.. \u{E9}", "01-02.. e\u{301} contests \u{E9}"]
        )
        #expect(claims.contested.count == 1)
        #expect(Owner.customer("\u{E9}") != Owner.customer("e\u{301}"))
    }

    @Test func `links change neither horizon nor periods`() throws {
        let purchase = try ClaimText.facts("1000 @01-02 buys month 01-01")
        let linked = purchase + (try ClaimText.facts("1000 @12-31 link anna"))
        let (alone, both) = (MemoryLedger([purchase]), MemoryLedger([linked]))
        let stream = ClaimText.stream("1000")
        #expect(alone.timeline(of: stream).horizon == both.timeline(of: stream).horizon)
        #expect(alone.periods(of: stream).rows == both.periods(of: stream).rows)
    }
}
