import Events

/// One purchase of an app receipt, as it was when the receipt was made.
struct InAppPurchase: Hashable, Sendable {
    /// Number of items (1701).
    var quantity: Int64?
    /// What was bought (1702).
    var productId: String?
    /// This purchase or renewal (1703).
    var transactionId: String?
    /// When it was charged, or restored (1704).
    var purchaseDate: Instant?
    /// The first purchase of its chain (1705).
    var originalTransactionId: String?
    /// When that first purchase was made (1706).
    var originalPurchaseDate: Instant?
    /// When the paid period ends; nil if the purchase does not expire (1708).
    var expiresDate: Instant?
    /// The period across devices, decimal; `0` for a one-time purchase (1711).
    var webOrderLineItemId: String?
    /// When Apple revoked it (1712).
    var cancellationDate: Instant?
    /// Whether the period is a free trial (1713).
    var isTrialPeriod: Bool?
    /// Whether the period is at an introductory price (1719).
    var isInIntroOfferPeriod: Bool?
    /// Why Apple revoked it: 1 for a fault of the app (1720).
    var cancellationReason: Int64?
    /// Everything else it carries, by type.
    var otherAttributes: [ReceiptAttribute] = []
}

extension InAppPurchase {
    /// Decodes the value of an attribute of type 17.
    init(_ value: ArraySlice<UInt8>) throws(Rejection) {
        let attributes = try ReceiptAttributes(ofPurchase: value)
        try attributes.read { attribute throws(Rejection) in
            try set(attribute)
        }
        otherAttributes.sort { $0.type < $1.type }
    }

    private mutating func set(_ attribute: ReceiptAttributes.Attribute) throws(Rejection) {
        switch attribute.type {
        case 1701: quantity = try attribute.integer()
        case 1702: productId = try attribute.identifier()
        case 1703:
            transactionId = try attribute.identifier(byteCountMax: StreamID.idByteCountMax)
        case 1704: purchaseDate = try attribute.date()
        case 1705:
            originalTransactionId = try attribute.identifier(byteCountMax: StreamID.idByteCountMax)
        case 1706: originalPurchaseDate = try attribute.date()
        case 1708: expiresDate = try attribute.date()
        case 1711: webOrderLineItemId = try attribute.decimal()
        case 1712: cancellationDate = try attribute.date()
        case 1713: isTrialPeriod = try flag(attribute)
        case 1719: isInIntroOfferPeriod = try flag(attribute)
        case 1720: cancellationReason = try attribute.integer()
        default: otherAttributes.append(attribute.kept)
        }
    }

    // A number that is neither yes nor no is kept, for programs that will know what it means.
    private mutating func flag(
        _ attribute: ReceiptAttributes.Attribute
    ) throws(Rejection) -> Bool? {
        switch try attribute.integer() {
        case 0: return false
        case 1: return true
        default:
            otherAttributes.append(attribute.kept)
            return nil
        }
    }
}
