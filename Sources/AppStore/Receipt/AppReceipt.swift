import Events

/// What an app receipt says: the app as it was bought, and every purchase made in it.
///
/// It proves the moment of its creation and nothing later (app-store.md §F.2). Each field is what
/// the payload carries; nil means that it carries none, or an empty one. Numbers are not judged.
struct AppReceipt: Hashable, Sendable {
    /// `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox`, `Xcode` (type
    /// 0).
    var receiptType: String?
    /// The App Store's id of the app, decimal; `0` outside of production (type 1).
    var appItemId: String?
    /// The app (type 2).
    var bundleId = ""
    /// The app's version when the receipt was made (type 3).
    var applicationVersion: String?
    /// When Apple made the receipt, on Apple's clock (type 12).
    var creationDate: Instant?
    /// When the app was first got (type 18).
    var originalPurchaseDate: Instant?
    /// The app's version then (type 19).
    var originalApplicationVersion: String?
    /// When a copy of the Volume Purchase Program ends (type 21).
    var expirationDate: Instant?
    /// The purchases, in the payload's order, which is none of time (type 17).
    var inApp: [InAppPurchase] = []
    /// The purchases that hold an impossible id or date, by their place in the payload.
    var unusable: [Unusable] = []
    /// Everything else it carries, by type.
    var otherAttributes: [ReceiptAttribute] = []

    /// A purchase that cannot be taken, while the others can.
    struct Unusable: Hashable {
        /// Its number among the purchases, from 0.
        let index: Int
        /// What is impossible.
        let code: Rejection.Code
        /// The same for people.
        let message: String
    }
}

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
    /// When that was (1706).
    var originalPurchaseDate: Instant?
    /// When the paid period ends; nil for what does not end (1708).
    var expiresDate: Instant?
    /// The period across devices, decimal; `0` for what is no subscription (1711).
    var webOrderLineItemId: String?
    /// When Apple took it back (1712).
    var cancellationDate: Instant?
    /// Whether the period is a free trial (1713).
    var isTrialPeriod: Bool?
    /// Whether the period is at an introductory price (1719).
    var isInIntroOfferPeriod: Bool?
    /// Why Apple took it back: 1 for a fault of the app (1720).
    var cancellationReason: Int64?
    /// Everything else it carries, by type.
    var otherAttributes: [ReceiptAttribute] = []
}

/// An attribute that is not understood, kept as it came (promise 1).
struct ReceiptAttribute: Hashable, Sendable {
    /// Apple's number for it.
    let type: Int64
    /// The octets of its value: DER for most, plain bytes for some.
    let value: [UInt8]
}

extension AppReceipt {
    /// The receipt type of what Xcode signs.
    static let xcodeType = "Xcode"
    /// Most purchases of a receipt: a weekly subscription of two hundred years has ten thousand.
    static let inAppCountMax = 20_000

    /// Decodes the signed content of a receipt.
    ///
    /// Throws `receipt-bundle-missing` for one that names no app, `receipt-attribute-duplicate`,
    /// `receipt-attribute-malformed`, `id-malformed`, `date-implausible`, and what
    /// `ReceiptAttributes` throws.
    init(content: ArraySlice<UInt8>) throws(Rejection) {
        var attributes = try ReceiptAttributes(ofReceipt: content)
        try attributes.read { attribute throws(Rejection) in
            try set(attribute)
        }
        otherAttributes.sort { $0.type < $1.type }
        guard !bundleId.isEmpty else {
            throw Rejection(
                .receiptBundleMissing,
                "The app receipt names no bundle id (type 2), so that it is of no app."
            )
        }
    }

    private mutating func set(_ attribute: ReceiptAttributes.Attribute) throws(Rejection) {
        switch attribute.type {
        case 0: receiptType = try attribute.identifier(byteCountMax: StreamID.idByteCountMax)
        case 1: appItemId = try attribute.decimal()
        case 2: bundleId = try attribute.identifier() ?? ""
        case 3: applicationVersion = try attribute.text()
        case 12: creationDate = try attribute.date()
        case ReceiptAttributes.inAppType:
            let index = inApp.count + unusable.count
            guard index < AppReceipt.inAppCountMax else {
                throw Rejection(
                    .receiptTooLarge,
                    "The app receipt holds more than \(AppReceipt.inAppCountMax) purchases."
                )
            }
            do throws(Rejection) {
                inApp.append(try InAppPurchase(attribute.value))
            } catch {
                // What is no purchase at all refuses the receipt; one with an impossible id or
                // date is left out of it.
                guard error.code == .idMalformed || error.code == .dateImplausible else {
                    throw error
                }
                unusable.append(
                    Unusable(index: index, code: error.code, message: error.message)
                )
            }
        case 18: originalPurchaseDate = try attribute.date()
        case 19: originalApplicationVersion = try attribute.text()
        // Xcode writes the end of time, 4001-01-01, for a copy that does not end.
        case 21: expirationDate = attribute.isDistantFuture ? nil : try attribute.date()
        default: otherAttributes.append(attribute.kept)
        }
    }
}

extension InAppPurchase {
    /// Decodes the value of an attribute of type 17.
    init(_ value: ArraySlice<UInt8>) throws(Rejection) {
        var attributes = try ReceiptAttributes(ofPurchase: value)
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

    // A number that is neither yes nor no is kept for whoever will know what it means.
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
