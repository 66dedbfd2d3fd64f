/// The form of an app receipt; each is a shape in which Apple's receipts occur.
///
/// The facts in it are the same in every form (Apple's data: app receipts).
package struct AppReceiptForm: OptionSet, Hashable, Sendable {
    /// One bit per peculiarity.
    package let rawValue: Int

    /// The form of those bits.
    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Signed over SHA-1, as every receipt was until 2023; SHA-256 otherwise.
    package static let sha1 = AppReceiptForm(rawValue: 1)
    /// BER with indefinite lengths, the payload in pieces; DER otherwise.
    package static let indefiniteLengths = AppReceiptForm(rawValue: 2)
    /// The payload in one more OCTET STRING, as Xcode wraps it.
    package static let wrappedTwice = AppReceiptForm(rawValue: 4)
    /// Only the attributes known from Apple's documents or the community, not the opaque ones.
    package static let onlyKnownAttributes = AppReceiptForm(rawValue: 8)
    /// The purchases under the transaction ids of the device of the last restore.
    package static let restoredIds = AppReceiptForm(rawValue: 16)
    /// An upgraded period has the cancellation date of the upgrade, as in old production data
    /// (Apple's data: trap 9); a receipt has no other mark of an upgrade.
    package static let upgradesCancelled = AppReceiptForm(rawValue: 32)

    /// The style of the rows.
    var rowStyle: ReceiptStyle {
        var style: ReceiptStyle = []
        if contains(.restoredIds) { style.insert(.restoredIds) }
        if contains(.upgradesCancelled) { style.insert(.upgradesCancelled) }
        return style
    }
}
