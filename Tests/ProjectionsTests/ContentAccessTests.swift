import Events
import Projections
import Testing

/// Which issues a subscription unlocks (Apple's data: magazine rule).
@Suite struct ContentAccessTests {
    private static let magazine = """
        stream 1
        @02-20 purchase monthly 02-20..03-20 group=m woli=1
        @03-20 purchase monthly 03-20..04-20 group=m woli=2
        @06-17 purchase monthly 06-17..07-17 group=m woli=3
        """
    private static let monthly = [
        ("Jan", "01-01"), ("Feb", "02-01"), ("Mar", "03-01"), ("Apr", "04-01"), ("May", "05-01"),
        ("Jun", "06-01"), ("Jul", "07-01"), ("Aug", "08-01"),
    ]

    @Test func `Apple's table: February, March, April, June and July, never May`() throws {
        // Apple's data: magazine rule
        let access = try access(Self.magazine, at: "2026-07-02")
        #expect(
            access == [
                "Jan -", "Feb newest at 02-20", "Mar published", "Apr published", "May -",
                "Jun newest at 06-17", "Jul published",
            ]
        )
    }

    @Test(arguments: [
        ("02-19", []), ("02-20", ["Feb"]), ("03-01", ["Feb", "Mar"]),
        ("05-02", ["Feb", "Mar", "Apr"]), ("06-16", ["Feb", "Mar", "Apr"]),
        ("06-17", ["Feb", "Mar", "Apr", "Jun"]), ("07-01", ["Feb", "Mar", "Apr", "Jun", "Jul"]),
        ("12-31", ["Feb", "Mar", "Apr", "Jun", "Jul"]),
    ])
    func `at each date of the table every issue published until then is unlocked`(
        date: String,
        unlocked: [String]
    ) throws {
        let told = try access(Self.magazine, at: date).filter { !$0.hasSuffix("-") }
        #expect(told.map { String($0.prefix(3)) } == unlocked)
    }

    @Test func `an issue of the last instant is not covered, one of the first is`() throws {
        let told = try access(
            "stream 1\n@02-01 purchase m 02-01..03-01 group=m",
            at: "04-01"
        )
        #expect(told == ["Jan -", "Feb published", "Mar -", "Apr -"])
    }

    @Test func `a refunded first period moves the start of the run and its newest issue`() throws {
        let told = try access(
            """
            stream 1
            @02-20 purchase monthly 02-20..03-20 group=m woli=1
            @03-20 purchase monthly 03-20..04-20 group=m woli=2
            @03-25 purchase monthly 02-20..03-20 group=m woli=1 revoked=03-25 id=t1
            """,
            at: "04-02"
        )
        #expect(told == ["Jan -", "Feb -", "Mar newest at 03-20", "Apr published"])
    }

    @Test func `a refund locks issues from its date on, and a reversal unlocks them again`()
        throws
    {
        let refunded = """
            stream 1
            @02-20 purchase monthly 02-20..03-20 group=m woli=1
            @03-10 purchase monthly 02-20..03-20 group=m woli=1 revoked=03-10 id=t1
            """
        #expect(
            try access(refunded, at: "03-09") == ["Jan -", "Feb newest at 02-20", "Mar published"]
        )
        #expect(try access(refunded, at: "03-10") == ["Jan -", "Feb -", "Mar -"])
        let reversed = refunded + "\n@03-15 purchase monthly 02-20..03-20 group=m woli=1 id=t1"
        #expect(
            try access(reversed, at: "03-16") == ["Jan -", "Feb newest at 02-20", "Mar published"]
        )
    }

    @Test func `without retroactive refunds, issues unlocked before a refund stay unlocked`() throws
    {
        let timelines = try CustomerText(
            """
            stream 1
            @02-20 purchase monthly 02-20..03-20 group=m woli=1 id=t1
            @03-10 purchase monthly 02-20..03-20 group=m woli=1 revoked=03-10 id=t1
            """
        ).timelines
        let issues = try Self.monthly.map { name, date in
            Issue(name: name, publishedAt: try TimelineText.instant(date))
        }
        let at = try TimelineText.instant("03-15")
        func unlocked(_ isRetroactive: Bool) -> [String] {
            ContentAccess(
                Entitlement(timelines),
                issues: issues,
                at: at,
                refundIsRetroactive: isRetroactive
            ).issues.filter { $0.unlocked != nil }.map(\.issue.name)
        }
        #expect(unlocked(true).isEmpty)
        #expect(unlocked(false) == ["Feb", "Mar"])
    }

    @Test func `the refund of the remainder after an upgrade locks no issue`() throws {
        // Apple's data: trap 9: two seconds after the successor's start.
        let told = try access(
            """
            stream 1
            @02-20 purchase basic 02-20..03-20 group=m woli=1
            @03-05 purchase basic 02-20..03-20 group=m woli=1 revoked=03-05T00:00:02 id=t1
            @03-05 purchase premium 03-05..04-05 group=m woli=2
            """,
            at: "04-02"
        )
        #expect(told == ["Jan -", "Feb newest at 02-20", "Mar published", "Apr published"])
    }

    @Test func `grace continues a run, and all issues with the same date are equally new`()
        throws
    {
        let customer = try CustomerText(
            """
            stream 1
            @03-20 purchase pro 03-20..04-20 group=g
            @04-20 renewal of=04-20 grace=05-06 auto=1 retry
            """
        )
        let first = try TimelineText.instant("03-01")
        let access = ContentAccess(
            Entitlement(customer.timelines),
            issues: [
                Issue(name: "b", publishedAt: first), Issue(name: "a", publishedAt: first),
                Issue(name: "May", publishedAt: try TimelineText.instant("05-01")),
            ],
            at: try TimelineText.instant("06-01")
        )
        #expect(access.runs.count == 1)
        #expect(access.issues.map(\.issue.name) == ["a", "b", "May"])
        #expect(access.issues.allSatisfy { $0.unlocked != nil })
    }

    @Test func `an issue unlocked by one product is not unlocked by another`() throws {
        let customer = try CustomerText(
            """
            stream 1
            @01-01 purchase lite 01-01..02-01 group=a
            stream 2
            @03-01 purchase full 03-01..04-01 group=b
            """
        )
        let entitlement = Entitlement(customer.timelines)
        let issues = [Issue(name: "x", publishedAt: try TimelineText.instant("01-10"))]
        func isUnlocked(_ scope: AccessScope, _ date: String) throws -> Bool {
            let at = try TimelineText.instant(date)
            return ContentAccess(entitlement, to: scope, issues: issues, at: at).issues
                .contains { $0.unlocked != nil }
        }
        #expect(try isUnlocked(.product("lite"), "02-15"))
        #expect(try !isUnlocked(.product("full"), "02-15"))
        #expect(try isUnlocked(.product("full"), "03-01"))
    }

    private func access(_ text: String, at date: String) throws -> [String] {
        let access = ContentAccess(
            Entitlement(try CustomerText(text).timelines),
            issues: try Self.monthly.reversed().map {
                Issue(name: $0.0, publishedAt: try TimelineText.instant($0.1))
            },
            at: try TimelineText.instant(date)
        )
        return access.issues.map { verdict in
            switch verdict.unlocked {
            case .newestAtStart(let run)?:
                "\(verdict.issue.name) newest at \(TimelineText.text(run.lowerBound))"
            case .published?: "\(verdict.issue.name) published"
            case nil: "\(verdict.issue.name) -"
            }
        }
    }
}
