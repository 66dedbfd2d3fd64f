/// An amount of money as it is written: with the decimals of its currency.
///
/// Apple's amounts are milliunits of every currency (Apple's data: transactions). A part of a price
/// may not be a whole number of the smallest unit; it is rounded to that unit here, halves away
/// from zero, and stays exact wherever it is stored.
package struct CurrencyAmount: Hashable, Sendable {
    private let milliunits: Int64
    private let currency: String?

    /// An amount in an ISO 4217 currency; nil if no format named one.
    package init(_ milliunits: Int64, _ currency: String?) {
        self.milliunits = milliunits
        self.currency = currency
    }

    /// The number and the currency: `9.99 USD`, `400 JPY`.
    package var text: String { number + (currency.map { " \($0)" } ?? "") }

    /// The number alone; without a currency, it has two decimals, and a third if needed.
    package var number: String {
        let sign = milliunits < 0 ? "-" : ""
        guard let decimals else {
            let (whole, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
            let digits = String(rest + 1000).dropFirst()
            return "\(sign)\(whole)." + (digits.hasSuffix("0") ? digits.dropLast() : digits)
        }
        let step = CurrencyAmount.powersOfTen[CurrencyAmount.milliunitDecimals - decimals]
        let (units, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: step)
        let rounded = units + (rest * 2 >= step ? 1 : 0)
        guard decimals > 0 else { return (rounded == 0 ? "" : sign) + "\(rounded)" }
        let scale = CurrencyAmount.powersOfTen[decimals]
        let (whole, fraction) = rounded.quotientAndRemainder(dividingBy: scale)
        return (rounded == 0 ? "" : sign) + "\(whole)."
            + String(fraction + scale).dropFirst()
    }

    /// The milliunits of the written number.
    package var rounded: Int64 {
        guard let decimals else { return milliunits }
        let step = CurrencyAmount.powersOfTen[CurrencyAmount.milliunitDecimals - decimals]
        let (units, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: step)
        let (magnitude, overflow) = (units + (rest * 2 >= step ? 1 : 0))
            .multipliedReportingOverflow(by: step)
        guard !overflow, let whole = Int64(exactly: magnitude) else { return milliunits }
        return milliunits < 0 ? -whole : whole
    }

    private var decimals: Int? {
        guard let currency else { return nil }
        if CurrencyAmount.withoutDecimals.contains(currency) { return 0 }
        return CurrencyAmount.withThreeDecimals.contains(currency) ? 3 : 2
    }

    private static let milliunitDecimals = 3
    private static let powersOfTen: [UInt64] = [1, 10, 100, 1000]

    // The minor units of ISO 4217 (www.six-group.com/en/products-services/financial-information/
    // market-reference-data/data-standards.html, list one); all others have two.
    private static let withoutDecimals: Set<String> = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND",
        "VUV", "XAF", "XOF", "XPF",
    ]
    private static let withThreeDecimals: Set<String> = [
        "BHD", "CLF", "IQD", "JOD", "KWD", "LYD", "OMR", "TND", "UYW",
    ]
}
