public import Events

extension ActivePeriod {
    /// One item of an Advanced Commerce purchase, as the developer named and priced it.
    ///
    /// Source: developer.apple.com/documentation/appstoreserverapi/advancedcommercetransactioninfo
    public struct CommerceItem: Codable, Hashable, Sendable {
        /// The developer's `SKU`; empty if not stated.
        public let sku: String
        /// The name that the customer saw; nil if not stated.
        public let displayName: String?
        /// In milliunits of the purchase's currency; nil if not stated.
        ///
        /// It is part of the price of the purchase, and must never be added to it.
        public let priceMilliunits: Int64?
        /// When Apple revoked the item; nil if it has not.
        public let revocationDate: Instant?

        // Apple's names.
        private enum CodingKeys: String, CodingKey {
            case sku = "SKU"
            case displayName
            case priceMilliunits = "price"
            case revocationDate
        }

        fileprivate init(_ item: ExtraObject) {
            sku = item.text("SKU") ?? ""
            displayName = item.text("displayName")
            priceMilliunits = item.integer("price")
            revocationDate = item.instant("revocationDate")
        }
    }
}

extension Purchase {
    /// Its items as Apple last listed them, in its order; empty unless it is an Advanced Commerce
    /// purchase.
    ///
    /// They are in `extra`, with what identifies a person, because the developer chooses their
    /// texts.
    package var commerceItems: [ActivePeriod.CommerceItem] {
        var last: (assertion: Assertion, items: Substring.UTF8View)?
        for assertion in assertions.sorted where assertion.fields.contains(.extra) {
            guard let extra = assertion.content.text(.extra),
                let info = ExtraObject(extra)["advancedCommerceInfo"],
                let items = ExtraObject(info)["items"],
                last.map({ assertion.outranks($0.assertion, on: .extra) }) ?? true
            else { continue }
            last = (assertion, items)
        }
        return last.map { last in
            ExtraObject.elements(of: last.items).map { ActivePeriod.CommerceItem(ExtraObject($0)) }
        } ?? []
    }
}
