import Events
import Projections
import Testing

/// Who is eligible for which offer (Apple's data: offer eligibility, trap 44).
@Suite struct OfferEligibilityTests {
    @Test func `a customer without a transaction in the group is new`() throws {
        let customer = try CustomerText(
            "stream 1\n@01-01 purchase pro 01-01..02-01 group=g"
        )
        #expect(try verdicts(customer, in: "other", at: "01-10") == "new new - never")
        #expect(try verdicts(customer, in: "g", at: "2025-12-31") == "new new - never")
    }

    @Test func `a trial of one product uses up the offer of all products in its group`() throws {
        // Apple's data: offer eligibility
        let customer = try CustomerText(
            """
            stream 1
            @01-01 purchase weekly 01-01..01-08 group=g offer=1 discount=FREE_TRIAL id=t1
            stream 2
            @05-01 purchase weekly 05-01..05-08 group=h
            """
        )
        for date in ["01-01", "01-05", "01-08", "12-31"] {
            #expect(try introductory(customer, in: "g", at: date) == "used weekly 01-01..01-08 #1")
        }
        #expect(try introductory(customer, in: "h", at: "06-01") == "lapsed")
        // A used offer decides before anything else: for refunded and for current customers.
        let refunded = try CustomerText(
            """
            stream 1
            @01-01 purchase pro 01-01..02-01 group=g offer=1 woli=1
            @01-03 purchase pro 01-01..02-01 group=g offer=1 woli=1 revoked=01-03
            @03-01 purchase pro 03-01..04-01 group=g woli=2
            """
        )
        #expect(try introductory(refunded, in: "g", at: "03-05") == "used pro 01-01..02-01 #2")
    }

    @Test func `with no offer used, lapsed customers may have one but subscribers may not`()
        throws
    {
        let customer = try CustomerText(
            """
            stream 1
            @01-01 purchase pro 01-01..02-01 group=g offer=2
            @02-01 renewal of=02-01 auto=0
            """
        )
        #expect(
            try verdicts(customer, in: "g", at: "01-31")
                == "existing subscribed subscriber subscribed"
        )
        #expect(
            try introductory(customer, in: "g", at: "01-31") == "subscribed pro 01-01..02-01 #1"
        )
        #expect(try verdicts(customer, in: "g", at: "02-01") == "expired lapsed subscriber churned")
    }

    @Test func `a refund blocks from its date on, but no longer once it is reversed`() throws {
        let refund = """
            stream 1
            @01-01 purchase pro 01-01..02-01 group=g woli=1
            @01-20 purchase pro 01-01..02-01 group=g woli=1 revoked=01-20
            """
        let customer = try CustomerText(refund)
        #expect(
            try introductory(customer, in: "g", at: "01-19") == "subscribed pro 01-01..02-01 #2"
        )
        #expect(
            try introductory(customer, in: "g", at: "01-20") == "refunded pro 01-01..02-01 #2"
        )
        #expect(
            try introductory(customer, in: "g", at: "12-31") == "refunded pro 01-01..02-01 #2"
        )
        let reversed = try CustomerText(
            refund + "\n@01-25 purchase pro 01-01..02-01 group=g woli=1"
        )
        #expect(try introductory(reversed, in: "g", at: "12-31") == "lapsed")
    }

    @Test func `money back for the rest of an upgraded period is not a refund`() throws {
        // Apple's data: trap 9.
        let customer = try CustomerText(
            """
            stream 1
            @03-14 purchase basic 03-14..04-14 group=g woli=1
            @03-23 purchase basic 03-14..04-14 group=g woli=1 revoked=03-23T00:00:02
            @03-23 purchase premium 03-23..04-23 group=g woli=2
            """
        )
        #expect(try introductory(customer, in: "g", at: "05-01") == "lapsed")
    }

    @Test func `a replaced period counts as ended by its successor, not at its original expiry`()
        throws
    {
        let customer = try CustomerText(
            """
            stream 1
            @03-14 purchase yearly 03-14..12-31 group=g woli=1
            @03-23 purchase yearly 03-14..12-31 group=g woli=1 upgraded
            @03-23 purchase premium 03-23..04-23 group=g woli=2
            """
        )
        #expect(try introductory(customer, in: "g", at: "03-24").contains("premium"))
        #expect(try introductory(customer, in: "g", at: "05-01") == "lapsed")
    }

    @Test func `in grace the customer is a subscriber, in retry not yet one to win back`() throws {
        // Apple's data: trap 44, offer eligibility
        let customer = try CustomerText(
            """
            stream 1
            @03-20 purchase pro 03-20..04-20 group=g
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            @05-06 renewal of=04-20 grace=05-06 auto=1 retry
            """
        )
        #expect(try verdicts(customer, in: "g", at: "04-21") == "existing grace subscriber grace")
        #expect(try introductory(customer, in: "g", at: "04-21") == "grace pro 03-20..04-20 #1 #2")
        #expect(try verdicts(customer, in: "g", at: "05-06") == "expired lapsed subscriber retry")
        // Retry is over after sixty days (Apple's data: trap 18), even if nothing reports it.
        #expect(try verdicts(customer, in: "g", at: "06-18") == "expired lapsed subscriber retry")
        #expect(try verdicts(customer, in: "g", at: "06-19") == "expired lapsed subscriber churned")
        let ended = try CustomerText(
            """
            stream 1
            @03-20 purchase pro 03-20..04-20 group=g
            @04-20 renewal of=04-20 auto=1 retry
            @05-02 renewal of=04-20 auto=0
            """
        )
        #expect(try verdicts(ended, in: "g", at: "05-01") == "expired lapsed subscriber retry")
        #expect(try verdicts(ended, in: "g", at: "05-02") == "expired lapsed subscriber churned")
    }

    @Test func `after sixty days of silence a retry is over and the customer can be won back`()
        throws
    {
        // Apple's data: trap 18
        let customer = try CustomerText(
            """
            stream 1
            @03-20 purchase pro 03-20..04-20 group=g
            @04-20 renewal of=04-20 auto=1 retry
            """
        )
        #expect(
            try verdicts(customer, in: "g", at: "06-18T23:59:59")
                == "expired lapsed subscriber retry"
        )
        #expect(try verdicts(customer, in: "g", at: "06-19") == "expired lapsed subscriber churned")
    }

    @Test func `an announced renewal may still arrive`() throws {
        let customer = try CustomerText(
            """
            stream 1
            @03-20 purchase pro 03-20..04-20 group=g
            @03-20 renewal of=04-20 auto=1
            """
        )
        #expect(
            try verdicts(customer, in: "g", at: "04-21") == "expired lapsed subscriber awaiting"
        )
        #expect(try verdicts(customer, in: "g", at: "06-20") == "expired lapsed subscriber churned")
    }

    @Test func `a recovered retry does not affect the period after it`() throws {
        let customer = try CustomerText(
            """
            stream 1
            @03-20 purchase pro 03-20..04-20 group=g
            @04-20 renewal of=04-20 auto=1 retry
            @05-05 purchase pro 05-05..06-05 group=g
            @06-05 notice EXPIRED VOLUNTARY uuid=n
            @06-04 renewal of=06-05 auto=0
            """
        )
        #expect(try verdicts(customer, in: "g", at: "06-05") == "expired lapsed subscriber churned")
    }

    @Test func `a customer with only renewal info was a subscriber`() throws {
        // Apple's data: offer eligibility. A pending_renewal_info element exists for the group.
        let customer = try CustomerText("stream 1\n@04-20 renewal of=04-20 auto=0")
        let groups = OfferEligibility(customer.timelines).groups(
            at: try TimelineText.instant("05-01")
        )
        let group = try #require(groups.first)
        #expect(groups.count == 1)
        #expect(group.promotional.isEligible && group.subscriber == .expired)
    }

    @Test func `other environments do not count, other streams in the group do`() throws {
        let customer = try CustomerText(
            """
            stream 1 Sandbox
            @01-01 purchase pro 01-01..02-01 group=g offer=1
            stream 2
            @01-01 purchase pro 01-01..02-01 group=g
            stream 3
            @03-01 purchase max 03-01..04-01 group=g
            """
        )
        #expect(try introductory(customer, in: "g", at: "02-10") == "lapsed")
        #expect(
            try introductory(customer, in: "g", at: "03-10") == "subscribed max 03-01..04-01 #3"
        )
        let sandbox = OfferEligibility(customer.timelines, environment: .sandbox)
        let eligibility = sandbox.eligibility(
            in: .identified("g"),
            at: try TimelineText.instant("02-10")
        )
        #expect(!eligibility.introductory.isEligible)
    }

    @Test func `all groups are listed, those with purchases and those on sale`() throws {
        let customer = try CustomerText(
            """
            stream 1
            @01-01 purchase pro 01-01..02-01 group=g
            stream 2
            @01-01 purchase lite 01-01..02-01
            """
        )
        let catalog = CatalogHistory([try ProductCatalog("a k 1\nb k 2\npro g 1")])
        let offers = OfferEligibility(customer.timelines, catalogs: catalog)
        let groups = offers.groups(at: try TimelineText.instant("01-10"))
        #expect(groups.map(\.group.description) == ["g", "k", "of 2"])
        #expect(groups.map(\.subscriber) == [.existing, .new, .existing])
    }

    // SUBSCRIBER INTRODUCTORY PROMOTIONAL WIN-BACK
    private func verdicts(
        _ customer: CustomerText,
        in group: String,
        at date: String
    ) throws -> String {
        let eligibility = OfferEligibility(customer.timelines).eligibility(
            in: .identified(group),
            at: try TimelineText.instant(date)
        )
        let winBack =
            switch eligibility.winBack {
            case .neverSubscribed: "never"
            case .currentlySubscribed: "subscribed"
            case .inGracePeriod: "grace"
            case .listedByApple: "listed"
            case .inBillingRetry: "retry"
            case .awaitingRenewal: "awaiting"
            case .churned: "churned"
            }
        let introductory = try introductory(customer, in: group, at: date)
        return [
            eligibility.subscriber.rawValue, String(introductory.prefix { $0 != " " }),
            eligibility.promotional.isEligible ? "subscriber" : "-", winBack,
        ].joined(separator: " ")
    }

    private func introductory(
        _ customer: CustomerText,
        in group: String,
        at date: String
    ) throws -> String {
        let eligibility = OfferEligibility(customer.timelines).eligibility(
            in: .identified(group),
            at: try TimelineText.instant(date)
        )
        return switch eligibility.introductory {
        case .neverSubscribed: "new"
        case .usedIntroductoryOffer(let used): "used \(text(used))"
        case .refunded(let refund): "refunded \(text(refund))"
        case .currentlySubscribed(let current): "subscribed \(text(current))"
        case .inGracePeriod(let grace): "grace \(text(grace))"
        case .lapsed: "lapsed"
        }
    }

    private func text(_ blocking: BlockingTransaction) -> String {
        let (from, to) = (
            TimelineText.text(blocking.purchaseDate), TimelineText.text(blocking.expiresDate)
        )
        let positions = blocking.positions.map { "#\($0)" }.joined(separator: " ")
        return "\(blocking.productId) \(from)..\(to) \(positions)"
    }
}
