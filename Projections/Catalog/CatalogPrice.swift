/// The price of a product or an offer in one store, as stated in the catalog.
package struct CatalogPrice: Codable, Hashable, Sendable {
    /// The store's country, ISO 3166-1 alpha-3; nil if the catalog does not state it.
    package let storefront: String?
    /// ISO 4217; nil if the catalog does not state it, as in all of Xcode's files.
    package let currency: String?
    /// The amount as written in the catalog, such as `9.99`.
    package let text: String

    private enum CodingKeys: String, CodingKey {
        case storefront, currency
        case text = "displayPrice"
    }

    /// A price with these values.
    package init(storefront: String?, currency: String?, text: String) {
        self.storefront = storefront
        self.currency = currency
        self.text = text
    }

    /// The amount in thousandths of the currency's unit, as in Apple's `price`; nil unless the text
    /// is a plain decimal number with at most three places.
    ///
    /// A yen is 1000 too (Apple's data: transactions), so the currency need not be known.
    package var milliunits: Int64? {
        var total: Int64 = 0
        var places: Int?
        var digits = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "."), places == nil, digits > 0 {
                places = 0
                continue
            }
            guard (48...57).contains(byte), digits < CatalogPrice.digitsMax else { return nil }
            // A fourth decimal place is accepted only if it is zero: 9.9900.
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

    /// The most digits of an amount: with three more places, it still fits in an `Int64`.
    package static let digitsMax = 15
}
