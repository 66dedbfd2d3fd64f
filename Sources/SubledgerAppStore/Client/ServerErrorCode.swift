/// The `errorCode` of an answer; undocumented codes are kept as they are.
public struct ServerErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// Apple's number.
    public let rawValue: Int64

    /// The code with that number.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The transaction belongs to the other environment, or does not exist.
    public static let transactionIdNotFound = ServerErrorCode(rawValue: 4_040_010)
    /// No extension for all subscribers was requested under that identifier.
    static let extensionNotFound = ServerErrorCode(rawValue: 4_040_009)
    /// The app has sent too many requests.
    public static let rateLimitExceeded = ServerErrorCode(rawValue: 4_290_000)

    /// How to react to a code.
    enum Response: Sendable {
        /// A retry soon may help.
        case retry
        /// A retry helps after the time in `Retry-After`.
        case wait
        /// The same request would get the same answer.
        case giveUp
    }

    /// How to react to the code; the HTTP status decides for an undocumented code.
    var response: Response {
        if ServerErrorCode.retryable.contains(rawValue) { return .retry }
        if let status = status { return ServerErrorCode.response(toStatus: status) }
        return .giveUp
    }

    /// How to react to an HTTP status that no code explains.
    static func response(toStatus status: Int) -> Response {
        switch status {
        case 429: .wait
        case 408, 500...599: .retry
        default: .giveUp
        }
    }

    /// The number and what it means.
    public var description: String {
        "\(rawValue) (\(ServerErrorCode.meanings[rawValue] ?? "not documented"))"
    }

    // The first three of the seven digits are the HTTP status. The general internal error is
    // documented as permanent.
    private var status: Int? {
        if rawValue == 5_000_000 { return nil }
        return (4_000_000...5_999_999).contains(rawValue) ? Int(rawValue / 10_000) : nil
    }

    // The codes that Apple calls retryable.
    private static let retryable: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001]

    /// The documented codes that requests and extensions can return.
    static let meanings: [Int64: String] = [
        4_000_000: "invalid request", 4_000_002: "invalid app id", 4_000_005: "invalid revision",
        4_000_006: "invalid transaction id", 4_000_008: "invalid original transaction id",
        4_000_009: "invalid extendByDays", 4_000_010: "invalid extendReasonCode",
        4_000_011: "invalid requestIdentifier", 4_000_012: "start date too far in the past",
        4_000_013: "start date not before end date", 4_000_014: "invalid pagination token",
        4_000_015: "invalid start date", 4_000_016: "invalid end date",
        4_000_017: "pagination token expired", 4_000_018: "invalid notification type",
        4_000_019: "several filters where one is allowed",
        4_000_020: "invalid test notification token", 4_000_021: "invalid sort",
        4_000_022: "invalid product type", 4_000_023: "invalid product id",
        4_000_024: "invalid subscription group", 4_000_025: "invalid excludeRevoked",
        4_000_026: "invalid ownership type", 4_000_027: "empty list of storefronts",
        4_000_028: "invalid storefront", 4_000_030: "invalid revoked", 4_000_031: "invalid status",
        4_000_032: "invalid accountTenure", 4_000_033: "invalid appAccountToken",
        4_000_034: "invalid consumptionStatus", 4_000_035: "invalid customerConsented",
        4_000_036: "invalid deliveryStatus", 4_000_037: "invalid lifetimeDollarsPurchased",
        4_000_038: "invalid lifetimeDollarsRefunded", 4_000_039: "invalid platform",
        4_000_040: "invalid playTime", 4_000_041: "invalid sampleContentProvided",
        4_000_042: "invalid userStatus", 4_000_043: "not a consumable",
        4_000_047: "transaction type not supported",
        4_000_048: "app transaction id not supported", 4_000_183: "token is not a UUID",
        4_000_185: "family-shared transaction not supported",
        4_000_187: "not an original transaction id", 4_030_004: "subscription cannot be extended",
        4_030_005: "subscription extended as often as is allowed",
        4_030_007: "family-shared subscription cannot be extended",
        4_040_001: "account not found", 4_040_002: "account not found for the moment",
        4_040_003: "app not found", 4_040_004: "app not found for the moment",
        4_040_005: "original transaction id not found",
        4_040_006: "original transaction id not found for the moment",
        4_040_007: "no URL for notifications in App Store Connect",
        4_040_008: "test notification not found", 4_040_009: "extension request not found",
        4_040_010: "transaction id not found", 4_040_019: "no app transaction",
        4_290_000: "rate limit exceeded", 5_000_000: "internal error",
        5_000_001: "internal error for the moment",
    ]
}
