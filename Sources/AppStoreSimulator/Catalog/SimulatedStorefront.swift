/// A national store, with its currency.
public struct SimulatedStorefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3.
    public let country: String
    /// Apple's number of the store.
    public let id: String
    /// ISO 4217.
    public let currency: String
    /// The local price of one dollar, in thousandths of the currency's unit.
    public let milliunitsPerDollar: Int64

    /// A store.
    public init(country: String, id: String, currency: String, milliunitsPerDollar: Int64) {
        self.country = country
        self.id = id
        self.currency = currency
        self.milliunitsPerDollar = milliunitsPerDollar
    }

    /// The stores that lives are spread over; the rates are invented, round and constant.
    public static let all: [SimulatedStorefront] = [
        SimulatedStorefront(
            country: "USA",
            id: "143441",
            currency: "USD",
            milliunitsPerDollar: 1000
        ),
        SimulatedStorefront(
            country: "GBR",
            id: "143444",
            currency: "GBP",
            milliunitsPerDollar: 800
        ),
        SimulatedStorefront(
            country: "DEU",
            id: "143443",
            currency: "EUR",
            milliunitsPerDollar: 900
        ),
        SimulatedStorefront(
            country: "JPN",
            id: "143462",
            currency: "JPY",
            milliunitsPerDollar: 150_000
        ),
        SimulatedStorefront(
            country: "TUR",
            id: "143480",
            currency: "TRY",
            milliunitsPerDollar: 34_000
        ),
        SimulatedStorefront(
            country: "BRA",
            id: "143503",
            currency: "BRL",
            milliunitsPerDollar: 5_000
        ),
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
