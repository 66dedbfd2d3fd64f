/// What a product or an offer costs in one store, as the catalog says it.
public struct CatalogPrice: Hashable, Sendable {
    /// The store's country, ISO 3166-1 alpha-3; nil where the catalog does not say.
    public let storefront: String?
    /// ISO 4217; nil where the catalog does not say, as Xcode's files never do.
    public let currency: String?
    /// The amount as it stands there, such as `9.99`.
    public let text: String

    /// A price of these values.
    public init(storefront: String?, currency: String?, text: String) {
        self.storefront = storefront
        self.currency = currency
        self.text = text
    }

    /// The amount in thousandths of the currency's unit, as Apple's `price` has it; nil where the
    /// text is no plain decimal number of at most three places.
    ///
    /// A yen is 1000 too (Apple's data: transactions), so the currency need not be known.
    public var milliunits: Int64? {
        var total: Int64 = 0
        var places: Int?
        var digits = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "."), places == nil, digits > 0 {
                places = 0
                continue
            }
            guard (48...57).contains(byte), digits < CatalogPrice.digitsMax else { return nil }
            // A fourth place is taken only where it is nothing: 9.9900.
            if let known = places, known == 3 {
                guard byte == 48 else { return nil }
                continue
            }
            total = total * 10 + Int64(byte - 48)
            digits += 1
            places = places.map { $0 + 1 }
        }
        guard digits > 0, places != 0 else { return nil }
        for _ in (places ?? 0)..<3 { total *= 10 }
        return total
    }

    /// Most digits of an amount: with three places more it still is an `Int64`.
    public static let digitsMax = 15
}
