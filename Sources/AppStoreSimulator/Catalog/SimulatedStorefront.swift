/// A national store, with its currency.
package struct SimulatedStorefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3.
    package let country: String
    /// Apple's number of the store.
    package let id: String
    /// ISO 4217.
    package let currency: String
    /// The local price of one dollar, in thousandths of the currency's unit.
    package let milliunitsPerDollar: Int64

    private init(_ country: String, _ id: String, _ currency: String, _ rate: Int64) {
        self.country = country
        self.id = id
        self.currency = currency
        milliunitsPerDollar = rate
    }

    /// The stores that lives are spread over; the rates are invented, round and constant.
    package static let all: [SimulatedStorefront] = [
        SimulatedStorefront("USA", "143441", "USD", 1000),
        SimulatedStorefront("GBR", "143444", "GBP", 800),
        SimulatedStorefront("DEU", "143443", "EUR", 900),
        SimulatedStorefront("JPN", "143462", "JPY", 150_000),
        SimulatedStorefront("TUR", "143480", "TRY", 34_000),
        SimulatedStorefront("BRA", "143503", "BRL", 5_000),
    ]

    /// The local price of a period, in milliunits of the currency, rounded down: to whole units for
    /// currencies without cents.
    func price(of product: SimulatedProduct, offer: SimulatedOffer?) -> Int64 {
        let full = product.dollarMilliunits * milliunitsPerDollar / 1000
        return whole(full * (offer?.pricePercent ?? 100) / 100)
    }

    /// An amount rounded down to what the currency has coins for.
    func whole(_ price: Int64) -> Int64 { price - price % (currency == "JPY" ? 1000 : 10) }
}
