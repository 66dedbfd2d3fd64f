import Events
import Projections
import Testing

/// Access across a customer's subscriptions.
@Suite struct EntitlementTests {
    @Test func `the end of a subscription in retry does not affect one bought meanwhile`()
        throws
    {
        // Apple's data: trap 3, scenario 15.
        let customer = try CustomerText(
            """
            stream 1
            @03-20 purchase basic 03-20..04-20 group=g
            @04-20 renewal of=04-20 auto=1 retry
            @06-19 notice EXPIRED BILLING_RETRY uuid=n1
            @06-19 renewal of=04-20 auto=0
            stream 2
            @05-02 purchase premium 05-02..06-02 group=g
            @06-02 purchase premium 06-02..07-02 group=g
            """
        )
        let entitlement = Entitlement(customer.timelines)
        #expect(entitlement.texts() == ["03-20..04-20", "05-02..07-02"])
        #expect(try entitlement.active(at: "04-20") == [])
        #expect(try entitlement.active(at: "06-20") == ["g: premium of 2"])
    }

    @Test func `two groups run in parallel, and the other remains when one ends`() throws {
        // Apple's data: trap 36.
        let customer = try CustomerText(
            """
            stream 1
            @01-01 purchase lite 01-01..02-01 group=lite
            @02-01 purchase lite 02-01..03-01 group=lite
            stream 2
            @01-10 purchase standard 01-10..02-10 group=standard
            """
        )
        let entitlement = Entitlement(customer.timelines)
        #expect(
            try entitlement.active(at: "01-15") == ["lite: lite of 1", "standard: standard of 2"]
        )
        #expect(try entitlement.active(at: "02-10") == ["lite: lite of 1"])
        #expect(entitlement.texts() == ["01-01..03-01"])
        #expect(entitlement.texts(.product("standard")) == ["01-10..02-10"])
        #expect(entitlement.texts(.group(.identified("lite"))) == ["01-01..03-01"])
        #expect(entitlement.texts(.product("other")) == [])
        let instant = try TimelineText.instant("02-15")
        #expect(entitlement.active(at: instant, to: .product("standard")).isEmpty)
        #expect(!entitlement.active(at: instant, to: .product("lite")).isEmpty)
    }

    @Test func `within a group the highest level at the time counts, otherwise the latest start`()
        throws
    {
        let customer = try CustomerText(
            """
            stream 1
            @01-01 purchase pro 01-01..03-01 group=g
            stream 2
            @01-10 purchase basic 01-10..03-01 group=g
            stream 3
            @01-20 purchase retired 01-20..03-01 group=g
            """
        )
        let newest = ["g: retired of 3, basic of 2, pro of 1"]
        #expect(try Entitlement(customer.timelines).active(at: "02-15") == newest)
        let catalogs = CatalogHistory([
            try ProductCatalog("pro g 1\nbasic g 2"),
            try ProductCatalog(version: 2, from: "02-01", "pro g 2\nbasic g 1"),
        ])
        let entitlement = Entitlement(customer.timelines, catalogs: catalogs)
        #expect(
            try entitlement.active(at: "01-25") == ["g: pro of 1, basic of 2, retired of 3"]
        )
        #expect(
            try entitlement.active(at: "02-15") == ["g: basic of 2, pro of 1, retired of 3"]
        )
    }

    @Test func `a sandbox purchase gives no access in production`() throws {
        // Apple's data: trap 41
        let customer = try CustomerText(
            """
            stream 1 Sandbox
            @01-01 purchase pro 01-01..02-01 group=g
            stream 1 Production
            @03-01 purchase pro 03-01..04-01 group=g
            stream 2 Xcode
            @01-01 purchase pro 01-01..02-01 group=g
            """
        )
        let timelines = customer.timelines
        #expect(Entitlement(timelines).texts() == ["03-01..04-01"])
        #expect(Entitlement(timelines, environment: .sandbox).texts() == ["01-01..02-01"])
        #expect(Entitlement(timelines, environment: .unrecognised("Unknown")).texts() == [])
    }

    @Test func `family sharing gives access until it is revoked`() throws {
        // Apple's data: trap 33.
        let customer = try CustomerText(
            """
            stream 1
            @01-01 purchase pro 01-01..02-01 group=g family
            @01-20 purchase pro 01-01..02-01 group=g family revoked=01-20 id=t1
            stream 2
            @01-10 purchase pro 01-10..02-10 group=g
            """
        )
        let entitlement = Entitlement(customer.timelines)
        #expect(try entitlement.active(at: "01-05") == ["g: pro of 1 by family"])
        #expect(try entitlement.active(at: "01-15") == ["g: pro of 2, pro of 1 by family"])
        #expect(try entitlement.active(at: "01-20") == ["g: pro of 2"])
    }

    @Test func `a group that no format named is its stream's own unless another source names it`()
        throws
    {
        let customer = try CustomerText(
            """
            stream 1
            @01-01 purchase pro 01-01..02-01
            stream 2
            @01-01 purchase basic 01-01..02-01
            @02-01 purchase basic 02-01..03-01 group=h
            stream 3
            @01-01 purchase other 01-01..02-01
            """
        )
        #expect(
            try Entitlement(customer.timelines).active(at: "01-05") == [
                "h: basic of 2", "of 1: pro of 1", "of 3: other of 3",
            ]
        )
        let catalog = try ProductCatalog("pro g 1\nother g 2")
        let entitlement = Entitlement(
            customer.timelines,
            catalogs: CatalogHistory([catalog])
        )
        #expect(
            try entitlement.active(at: "01-05") == ["g: pro of 1, other of 3", "h: basic of 2"]
        )
    }

    @Test func `grace gives access, retry and one-time purchases do not`() throws {
        let customer = try CustomerText(
            """
            stream 1
            @03-20 purchase pro 03-20..04-20 group=g
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            stream 2
            @03-01 once coins 03-01
            """
        )
        let entitlement = Entitlement(customer.timelines)
        #expect(try entitlement.active(at: "05-01") == ["g: pro of 1"])
        #expect(try entitlement.active(at: "05-06") == [])
        #expect(try entitlement.active(at: "03-05") == [])
    }
}
