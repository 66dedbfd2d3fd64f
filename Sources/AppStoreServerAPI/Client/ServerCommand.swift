public import Events

/// A request that changes something at Apple.
///
/// The type is separate from `ServerRequest`, so code that only asks cannot send a change: only a
/// command of the operator does, with `--execute`.
public enum ServerCommand: Hashable, Sendable {
    /// Extend a Subscription Renewal Date, for the subscription with this original transaction id.
    case extendRenewalDate(String, RenewalExtension)
    /// Extend Subscription Renewal Dates for All Active Subscribers of a product in these
    /// storefronts; an empty list means all.
    case extendRenewalDates(productId: String, storefronts: [String], RenewalExtension)
    /// Send Consumption Information, version 2, about a transaction whose customer asks for a
    /// refund.
    case sendConsumption(String, ConsumptionInformation)
    /// Claim Seat, for the subscription with this transaction id; in the sandbox only.
    case claimSeat(String, SeatClaim)
    /// Unclaim Seat: release a claim of the subscription with this transaction id.
    case unclaimSeat(String, claim: String)
    /// Associate Seat: state which customer a claim of the subscription with this transaction id
    /// is for.
    case associateSeat(String, claim: String, appTransactionId: String)
    /// Revoke Subscription of Advanced Commerce, for seats of the transaction with this id.
    case revokeSeats(String, SeatRevocation)

    var endpoint: ServerRequest.Endpoint {
        switch self {
        case .extendRenewalDate: .extension
        case .extendRenewalDates: .massExtension
        case .sendConsumption: .consumption
        case .claimSeat, .unclaimSeat, .associateSeat: .groups
        case .revokeSeats: .advancedCommerce
        }
    }

    /// The HTTP method.
    public var method: String {
        switch self {
        case .extendRenewalDate, .sendConsumption: "PUT"
        case .extendRenewalDates, .claimSeat, .associateSeat, .revokeSeats: "POST"
        case .unclaimSeat: "DELETE"
        }
    }

    /// The path below the host.
    public var path: String {
        switch self {
        case .extendRenewalDate(let id, _):
            "/inApps/v1/subscriptions/extend/" + ServerRequest.escaped(id)
        case .extendRenewalDates: "/inApps/v1/subscriptions/extend/mass"
        case .sendConsumption(let id, _):
            "/inApps/v2/transactions/consumption/" + ServerRequest.escaped(id)
        case .claimSeat(let id, _): ServerRequest.seats(id).path
        case .unclaimSeat(let id, let claim):
            ServerRequest.seats(id).path + "/" + ServerRequest.escaped(claim)
        case .associateSeat(let id, let claim, _):
            ServerRequest.seats(id).path + "/\(ServerRequest.escaped(claim))/associate"
        case .revokeSeats(let id, _):
            "/advancedCommerce/v1/subscription/revoke/" + ServerRequest.escaped(id)
        }
    }

    /// The JSON body; empty if the request has none.
    public var body: String {
        switch self {
        case .extendRenewalDate(_, let wanted): "{" + wanted.members + "}"
        case .extendRenewalDates(let productId, let storefronts, let wanted):
            ServerCommand.body(wanted, storefronts, productId)
        case .sendConsumption(_, let information): information.body
        case .claimSeat(_, let claim): claim.body
        case .revokeSeats(_, let revocation): revocation.body
        case .unclaimSeat: ""
        case .associateSeat(_, _, let appTransactionId):
            #"{"appTransactionId":"\#(ServerRequest.escaped(appTransactionId))"}"#
        }
    }

    private static func body(
        _ wanted: RenewalExtension,
        _ storefronts: [String],
        _ productId: String
    ) -> String {
        let codes = storefronts.map { #""\#(ServerRequest.escaped($0))""# }
        let places =
            codes.isEmpty ? "" : #","storefrontCountryCodes":[\#(codes.joined(separator: ","))]"#
        return "{" + wanted.members + places
            + #","productId":"\#(ServerRequest.escaped(productId))"}"#
    }
}

/// An extension of renewal dates: days, reason and request identifier.
public struct RenewalExtension: Hashable, Sendable {
    /// The number of days to add, 1 to `daysMax`.
    public let days: Int
    /// The reason.
    public let reason: Reason
    /// Identifies the request for its status; Apple extends only once for each identifier.
    public let requestIdentifier: String

    /// The maximum number of days in one request: Apple's limit.
    public static let daysMax = 90
    /// The maximum length of the request identifier in bytes: Apple's limit.
    public static let requestIdentifierByteCountMax = 128

    /// The reason for an extension; the raw values are Apple's.
    public enum Reason: Int, CaseIterable, Hashable, Sendable {
        /// No reason is given.
        case undeclared = 0
        /// To satisfy a customer.
        case customerSatisfaction = 1
        /// Another reason.
        case other = 2
        /// The service had a fault or an outage.
        case serviceIssueOrOutage = 3
    }

    /// Creates an extension; nil if the days are out of range, or if the identifier is empty, too
    /// long, or has characters other than letters, digits, `-`, `.`, `_` and `~`.
    public init?(days: Int, reason: Reason, requestIdentifier: String) {
        let length = requestIdentifier.utf8.count
        guard (1...RenewalExtension.daysMax).contains(days),
            (1...RenewalExtension.requestIdentifierByteCountMax).contains(length),
            ServerRequest.escaped(requestIdentifier) == requestIdentifier
        else { return nil }
        (self.days, self.reason, self.requestIdentifier) = (days, reason, requestIdentifier)
    }

    fileprivate var members: String {
        #""extendByDays":\#(days),"extendReasonCode":\#(reason.rawValue),"#
            + #""requestIdentifier":"\#(requestIdentifier)""#
    }
}

/// The status of an extension for all subscribers.
public struct RenewalExtensionStatus: Codable, Hashable, Sendable {
    /// The identifier of the request.
    public let requestIdentifier: String
    /// Whether Apple has finished.
    public let complete: Bool
    /// When Apple finished; nil before that.
    public let completeDate: Instant?
    /// Subscriptions whose date was extended; nil until Apple has finished.
    public let succeededCount: Int64?
    /// Subscriptions whose date was not extended; nil until Apple has finished.
    public let failedCount: Int64?
}

/// The result of an extension of one subscription.
public struct RenewalExtensionResult: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Whether its date was extended.
    public let success: Bool
    /// The new end of the period; nil if it was not extended.
    public let effectiveDate: Instant?
}
