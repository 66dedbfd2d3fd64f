/// The form of a `verifyReceipt` answer or a V1 notification: its odd shapes as switches (Apple's
/// data: verifyReceipt response, odd values).
///
/// The facts are the same in every style, except for what a style documents as missing. An empty
/// style is the form that Apple has sent since 2021.
package struct ReceiptStyle: OptionSet, Hashable, Sendable {
    /// One bit per peculiarity.
    package let rawValue: Int

    /// The style of those bits.
    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// `true` and `false` instead of their texts, also for the renewal switch
    /// (Apple's data: offer eligibility).
    package static let realBooleans = ReceiptStyle(rawValue: 1 << 0)
    /// Ids, quantities and milliseconds as JSON numbers (Apple's data: trap 48).
    package static let numericIds = ReceiptStyle(rawValue: 1 << 1)
    /// No `_ms` fields: instants only as text, in whole seconds.
    package static let textDatesOnly = ReceiptStyle(rawValue: 1 << 2)
    /// `""` for unset values: `cancellation_date`, `app_item_id` and `version_external_identifier`
    /// (Apple's data: odd values).
    package static let emptyTexts = ReceiptStyle(rawValue: 1 << 3)
    /// `"download_id": null`.
    package static let nullDownloadId = ReceiptStyle(rawValue: 1 << 4)
    /// No `web_order_line_item_id`, as in some old rows.
    package static let withoutLineItemIds = ReceiptStyle(rawValue: 1 << 5)
    /// Only the newest row of the subscription, as after `exclude-old-transactions`
    /// (Apple's data: verifyReceipt request).
    package static let excludeOldTransactions = ReceiptStyle(rawValue: 1 << 6)
    /// Milliseconds that do not end in `000`; the same for all instants of a life, so contiguous
    /// periods stay contiguous.
    package static let subsecondDates = ReceiptStyle(rawValue: 1 << 7)
    /// An upgraded period is marked by the cancellation date of the upgrade instead of
    /// `is_upgraded`, as in old production data (Apple's data: trap 9).
    package static let upgradesCancelled = ReceiptStyle(rawValue: 1 << 8)
    /// Rows under the transaction ids that the device of the last restore got
    /// (Apple's data: trap 4).
    package static let restoredIds = ReceiptStyle(rawValue: 1 << 9)
    /// A volume purchase: its receipt types, and an expiry of the receipt.
    package static let volumePurchase = ReceiptStyle(rawValue: 1 << 10)
    /// V1 only: the fields that Apple removed on 2021-03-10, texts for `expiration_intent`, no
    /// `original_transaction_id`, RENEWAL for DID_RECOVER and CANCEL for upgrades too
    /// (Apple's data: version 1 body, version 1 types).
    package static let legacyNotification = ReceiptStyle(rawValue: 1 << 11)
    /// V1 only: no `unified_receipt`, as before 2019; a body then holds a single transaction.
    package static let withoutUnifiedReceipt = ReceiptStyle(rawValue: 1 << 12)
}
