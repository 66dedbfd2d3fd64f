import Projections
import Testing

/// Durations and prices as a catalog writes them.
@Suite struct PeriodTests {
    @Test(arguments: [
        ("P7D", "P1W"), ("P14D", "P2W"), ("P12M", "P1Y"), ("P1W", "P1W"), ("P3D", "P3D"),
        ("P1M", "P1M"), ("P2M", "P2M"), ("P6M", "P6M"), ("P1Y", "P1Y"), ("P24M", "P2Y"),
    ])
    func `equal durations are one value, in its largest unit`(text: String, shown: String) throws {
        let period = try #require(SubscriptionPeriod(text))
        #expect("\(period)" == shown)
        #expect(SubscriptionPeriod(shown) == period)
    }

    @Test func `a month is not a number of days`() {
        #expect(SubscriptionPeriod("P1M") != SubscriptionPeriod("P30D"))
        #expect(SubscriptionPeriod("P4W") != SubscriptionPeriod("P1M"))
        #expect(SubscriptionPeriod("P1Y") != SubscriptionPeriod("P365D"))
    }

    @Test(arguments: [
        "", "P", "PM", "P1", "1M", "P0D", "P-1M", "P+1M", "P1H", "PT1M", "P1Y2M", "p1m", "P1m",
        "P1.5M", "P1001W", "P99999W", "P 1M", "P1M ", "P１M", "P1M\u{301}",
    ])
    func `any other text is not a duration`(text: String) {
        #expect(SubscriptionPeriod(text) == nil)
    }

    @Test(
        arguments: [
            ("9.99", 9990), ("0", 0), ("0.0", 0), ("0.99", 990), ("100", 100_000), ("12.5", 12_500),
            ("1.234", 1234), ("1.2340", 1234), ("007.10", 7100),
            ("999999999999999", 999_999_999_999_999_000),
        ] as [(String, Int64)]
    )
    func `a plain amount is read in milliunits`(text: String, milliunits: Int64) {
        #expect(price(text).milliunits == milliunits)
        #expect(price(text).text == text)
    }

    @Test(arguments: [
        "", ".", "9.", ".99", "9,99", "1.2345", "-1", "+1", "1e3", "$9.99", "9.99 ", "1.2.3",
        "1000000000000000", "٩.٩٩",
    ])
    func `any other amount is kept as text only`(text: String) {
        #expect(price(text).milliunits == nil)
        #expect(price(text).text == text)
    }

    private func price(_ text: String) -> CatalogPrice {
        CatalogPrice(storefront: "USA", currency: nil, text: text)
    }
}
