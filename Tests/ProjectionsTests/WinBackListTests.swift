import Events
import Projections
import Testing

/// Apple's list of win-back offers in `eligibility`.
@Suite struct WinBackListTests {
    private func winBack(_ text: String, at date: String) throws -> WinBackOfferEligibility {
        let customer = try CustomerText(text)
        return OfferEligibility(customer.timelines)
            .eligibility(in: .identified("g"), at: try TimelineText.instant(date)).winBack
    }

    private func offers(_ text: String, at date: String) throws -> [String]? {
        guard case .listedByApple(let list) = try winBack(text, at: date) else { return nil }
        return list.eligibleWinBackOfferIds
    }

    private static let churned = """
        stream 1
        @01-01 purchase pro 01-01..02-01 group=g
        @02-01 renewal of=02-01 auto=0 intent=1

        """

    @Test func `win-back eligibility is Apple's list, the best offer first`() throws {
        let text = Self.churned + #"@03-01 renewal of=02-01 auto=0 intent=1 winback=["b","a"]"#
        #expect(try offers(text, at: "03-01") == ["b", "a"])
        #expect(try winBack(text, at: "03-01").isEligible)
        #expect(try winBack(text, at: "02-15") == .churned, "before Apple listed any")
    }

    @Test func `an empty list from Apple overrides the rules: not eligible`() throws {
        let text = Self.churned + "@03-01 renewal of=02-01 auto=0 intent=1 winback=[]"
        #expect(try offers(text, at: "03-01") == [])
        #expect(try !winBack(text, at: "03-01").isEligible)
    }

    @Test func `renewal info without a list leaves eligibility to the rules`() throws {
        let text =
            Self.churned + """
                @03-01 renewal of=02-01 auto=0 intent=1 winback=["a"]
                @03-20 renewal of=02-01 auto=0 intent=1
                """
        #expect(try offers(text, at: "03-19") == ["a"])
        #expect(try winBack(text, at: "03-20") == .churned)
    }

    @Test func `a customer who bought again is a subscriber, and the list is outdated`() throws {
        let text =
            Self.churned + """
                @03-01 renewal of=02-01 auto=0 intent=1 winback=["a"]
                @03-10 purchase pro 03-10..04-10 group=g
                """
        guard case .currentlySubscribed = try winBack(text, at: "03-15") else {
            Issue.record("subscribed")
            return
        }
        #expect(try offers(text, at: "05-01") == nil)
    }
}
