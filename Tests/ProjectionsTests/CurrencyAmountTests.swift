import Projections
import Testing

/// Amounts as people write them.
@Suite struct CurrencyAmountTests {
    @Test func `an amount has the decimals of its currency`() {
        #expect(CurrencyAmount(9990, "USD").text == "9.99 USD")
        #expect(CurrencyAmount(600_000, "JPY").text == "600 JPY")
        #expect(CurrencyAmount(1_250, "KWD").text == "1.250 KWD")
        #expect(CurrencyAmount(-4990, "EUR").text == "-4.99 EUR")
        #expect(CurrencyAmount(50, "USD").text == "0.05 USD")
    }

    @Test func `a fraction of the smallest unit is rounded, halves away from zero`() {
        #expect(CurrencyAmount(399_996, "JPY").text == "400 JPY")
        #expect(CurrencyAmount(6_786, "USD").text == "6.79 USD")
        #expect(CurrencyAmount(6_785, "USD").text == "6.79 USD")
        #expect(CurrencyAmount(-6_785, "USD").text == "-6.79 USD")
        #expect(CurrencyAmount(-4, "USD").text == "0.00 USD")
        #expect(CurrencyAmount(.min, "JPY").text == "-9223372036854776 JPY")
    }

    @Test func `without a currency an amount has two decimals, or three if needed`() {
        #expect(CurrencyAmount(9990, nil).text == "9.99")
        #expect(CurrencyAmount(9995, nil).text == "9.995")
    }

    @Test func `the amount kept is the amount paid minus the refund, as written`() {
        for (paid, back, currency) in [
            (9990, 4995, "USD"), (1_200_000, 399_996, "JPY"), (4990, 2495, "EUR"),
        ] as [(Int64, Int64, String)] {
            let rest =
                CurrencyAmount(paid, currency).rounded - CurrencyAmount(back, currency).rounded
            #expect(CurrencyAmount(rest, currency).rounded == rest)
        }
        #expect(CurrencyAmount(4995, "USD").rounded == 5000)
        #expect(CurrencyAmount(-4995, "USD").rounded == -5000)
        #expect(CurrencyAmount(399_996, "JPY").rounded == 400_000)
        #expect(CurrencyAmount(4995, nil).rounded == 4995)
    }
}
