import Events

/// What an app receipt says: the app as it was bought, and every purchase made in it.
///
/// It proves the moment of its creation and nothing later (Apple's data: app receipts). Each field
/// is what the payload carries; nil means that it carries none, or an empty one. Numbers are not
/// checked.
struct AppReceipt: Equatable, Sendable {
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
    /// When the app was first obtained (type 18).
    var originalPurchaseDate: Instant?
    /// The app's version at that time (type 19).
    var originalApplicationVersion: String?
    /// When a copy from the Volume Purchase Program expires (type 21).
    var expirationDate: Instant?
    /// The purchases, in the payload's order, which is not chronological (type 17).
    var inApp: [InAppPurchase] = []
    /// The purchases with an impossible id or date.
    var unusable: [UnusableRow] = []
    /// Everything else it carries, by type.
    var otherAttributes: [ReceiptAttribute] = []
}

/// An attribute that is not interpreted, kept as it arrived.
struct ReceiptAttribute: Hashable, Sendable {
    /// Apple's number for it.
    let type: Int64
    /// The octets of its value: DER for most, plain bytes for some.
    let value: ArraySlice<UInt8>
}

extension AppReceipt {
    /// The receipt type of receipts that Xcode signs.
    static let xcodeType = "Xcode"
    /// Most purchases of a receipt: a weekly subscription of two hundred years has ten thousand.
    static let inAppCountMax = 20_000

    /// Decodes the signed content of a receipt.
    ///
    /// Throws `receipt-bundle-missing` for one that names no app, `receipt-attribute-duplicate`,
    /// `receipt-attribute-malformed`, `id-malformed`, `date-implausible`, and what
    /// `ReceiptAttributes` throws.
    init(content: ArraySlice<UInt8>) throws(Rejection) {
        let attributes = try ReceiptAttributes(ofReceipt: content)
        try attributes.read { attribute throws(Rejection) in
            try set(attribute)
        }
        otherAttributes.sort { $0.type < $1.type }
        guard !bundleId.isEmpty else {
            throw Rejection(
                .receiptBundleMissing,
                "The app receipt has no bundle id (type 2), so it belongs to no app."
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
                    "The app receipt contains more than \(AppReceipt.inAppCountMax) purchases."
                )
            }
            do throws(Rejection) {
                inApp.append(try InAppPurchase(attribute.value))
            } catch {
                // Anything that is not a purchase refuses the receipt; a purchase with an
                // impossible id or date is only left out.
                guard error.code == .idMalformed || error.code == .dateImplausible else {
                    throw error
                }
                unusable.append(UnusableRow(purchase: index, error))
            }
        case 18: originalPurchaseDate = try attribute.date()
        case 19: originalApplicationVersion = try attribute.text()
        // Xcode writes the end of time, 4001-01-01, for a copy that never expires.
        case 21: expirationDate = attribute.isDistantFuture ? nil : try attribute.date()
        default: otherAttributes.append(attribute.kept)
        }
    }
}
