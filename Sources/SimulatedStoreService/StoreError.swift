internal import Foundation

/// An error in the format of the App Store Server API.
struct StoreError: Error, Encodable, Hashable {
    let errorCode: Int64
    let errorMessage: String

    private init(_ errorCode: Int64, _ errorMessage: String) {
        self.errorCode = errorCode
        self.errorMessage = errorMessage
    }

    /// The first three digits.
    var httpStatus: Int { Int(errorCode / 10_000) }

    static let badRequest = StoreError(4_000_000, "Bad request.")
    static let invalidRevision = StoreError(4_000_005, "Invalid request revision.")
    static let invalidTransactionId = StoreError(4_000_006, "Invalid transaction id.")
    static let invalidOriginalTransactionId = StoreError(
        4_000_008,
        "Invalid original transaction id."
    )
    static let invalidExtendByDays = StoreError(4_000_009, "Invalid extend by days value.")
    static let invalidExtendReasonCode = StoreError(4_000_010, "Invalid extend reason code.")
    static let invalidRequestIdentifier = StoreError(4_000_011, "Invalid request identifier.")
    static let startTooFarInPast = StoreError(4_000_012, "Start date is too far in the past.")
    static let startAfterEnd = StoreError(4_000_013, "Start date is after end date.")
    static let invalidPaginationToken = StoreError(4_000_014, "Invalid pagination token.")
    static let invalidTestToken = StoreError(4_000_020, "Invalid test notification token.")
    static let invalidProductId = StoreError(4_000_023, "Invalid request product id.")
    static let emptyStorefronts = StoreError(4_000_027, "The list of storefronts is empty.")
    static let invalidStorefront = StoreError(4_000_028, "Invalid storefront country code.")
    static let invalidCustomerConsented = StoreError(4_000_035, "Invalid customer consented field.")
    static let invalidDeliveryStatus = StoreError(4_000_036, "Invalid delivery status field.")
    static let invalidSampleContentProvided = StoreError(
        4_000_041,
        "Invalid sample content provided field."
    )
    static let extensionIneligible = StoreError(
        4_030_004,
        "Subscription state ineligible for extension."
    )
    static let originalTransactionNotFound = StoreError(
        4_040_005,
        "Original transaction id not found."
    )
    static let noNotificationURL = StoreError(4_040_007, "No App Store Server Notification URL.")
    static let testNotFound = StoreError(4_040_008, "Test notification not found.")
    static let extensionNotFound = StoreError(4_040_009, "Status of extension not found.")
    static let transactionNotFound = StoreError(4_040_010, "Transaction id not found.")
    static let notMultiseat = StoreError(4_000_047, "Transaction type not supported.")
    // Apple has published the names of the next four and not their numbers.
    static let noAvailableSeats = StoreError(4_030_101, "No available seats.")
    static let bundleTransaction = StoreError(4_000_101, "Bundle transaction id not supported.")
    static let seatClaimNotFound = StoreError(4_040_101, "Seat claim not found.")
    static let groupNotFound = StoreError(4_040_102, "Group not found.")
    static let rateLimited = StoreError(4_290_000, "Rate limit exceeded.")
    static let internalRetryable = StoreError(5_000_001, "An unknown error occurred. Try again.")
}
