public import Events

/// One item of an Advanced Commerce purchase, as the developer named and priced it.
///
/// Source: developer.apple.com/documentation/appstoreserverapi/advancedcommercetransactioninfo
public struct CommerceItem: Hashable, Sendable {
    /// The developer's `SKU`; empty where it is not said.
    public let sku: String
    /// The name that the customer saw; nil where it is not said.
    public let displayName: String?
    /// In milliunits of the purchase's currency; nil where it is not said.
    ///
    /// It is part of the price of the purchase, and never to be added to it.
    public let priceMilliunits: Int64?
    /// When Apple revoked the item; nil while it stands.
    public let revocationDate: Instant?

    fileprivate init(_ item: ExtraObject) {
        sku = item.text("SKU") ?? ""
        displayName = item.text("displayName")
        priceMilliunits = item.integer("price")
        revocationDate = item.instant("revocationDate")
    }
}

extension Purchase {
    /// Its items as Apple listed them last, in its order; none where it is no Advanced Commerce.
    ///
    /// They stand in `extra`, with what identifies a person, for the developer chooses their texts.
    public var commerceItems: [CommerceItem] {
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
            ExtraObject.elements(of: last.items).map { CommerceItem(ExtraObject($0)) }
        } ?? []
    }
}
