package import Events

/// A request that changes something at Apple.
///
/// The type is separate from `ServerRequest`, so code that only asks cannot send a change: only
/// commands of the operator do, with `--execute`, and what answers by the operator's policy.
package enum ServerCommand: Hashable, Sendable {
    /// Extend a Subscription Renewal Date, for the subscription with this original transaction id.
    case extendRenewalDate(String, RenewalExtension)
    /// Extend Subscription Renewal Dates for All Active Subscribers of a product in these
    /// storefronts; an empty list means all.
    case extendRenewalDates(productId: String, storefronts: [String], RenewalExtension)
    /// Send Consumption Information, version 2, about a transaction whose customer asks for a
    /// refund; the body is that of a `ConsumptionInformation`.
    case sendConsumption(String, body: String)
    /// Claim Seat, for the subscription with this transaction id; in the sandbox only.
    case claimSeat(String, SeatClaim)
    /// Unclaim Seat: release a claim of the subscription with this transaction id.
    case unclaimSeat(String, claim: String)
    /// Associate Seat: state which customer a claim of the subscription with this transaction id
    /// is for.
    case associateSeat(String, claim: String, appTransactionId: String)
    /// Revoke Subscription of Advanced Commerce, for seats of the transaction with this id.
    case revokeSeats(String, SeatRevocation)

    /// The HTTP request.
    package var call: ServerCall {
        switch self {
        case .extendRenewalDate(let id, let wanted):
            ServerCall(
                .extension,
                "/inApps/v1/subscriptions/extend/" + id.escaped,
                "PUT",
                "{" + wanted.members + "}"
            )
        case .extendRenewalDates(let productId, let storefronts, let wanted):
            ServerCall(
                .massExtension,
                "/inApps/v1/subscriptions/extend/mass",
                "POST",
                ServerCommand.body(wanted, storefronts, productId)
            )
        case .sendConsumption(let id, let body):
            ServerCall(
                .consumption,
                "/inApps/v2/transactions/consumption/" + id.escaped,
                "PUT",
                body
            )
        case .claimSeat(let id, let claim):
            ServerCall(.groups, ServerRequest.seats(id).call.path, "POST", claim.body)
        case .unclaimSeat(let id, let claim):
            ServerCall(
                .groups,
                ServerRequest.seats(id).call.path + "/" + claim.escaped,
                "DELETE"
            )
        case .associateSeat(let id, let claim, let appTransactionId):
            ServerCall(
                .groups,
                ServerRequest.seats(id).call.path + "/\(claim.escaped)/associate",
                "POST",
                #"{"appTransactionId":"\#(appTransactionId.escaped)"}"#
            )
        case .revokeSeats(let id, let revocation):
            ServerCall(
                .advancedCommerce,
                "/advancedCommerce/v1/subscription/revoke/" + id.escaped,
                "POST",
                revocation.body
            )
        }
    }

    private static func body(
        _ wanted: RenewalExtension,
        _ storefronts: [String],
        _ productId: String
    ) -> String {
        let codes = storefronts.map { #""\#($0.escaped)""# }
        let places =
            codes.isEmpty ? "" : #","storefrontCountryCodes":[\#(codes.joined(separator: ","))]"#
        return "{" + wanted.members + places
            + #","productId":"\#(productId.escaped)"}"#
    }
}

/// An extension of renewal dates: days, reason and request identifier.
package struct RenewalExtension: Hashable, Sendable {
    /// The number of days to add, 1 to `daysMax`.
    package let days: Int
    /// The reason.
    package let reason: Reason
    /// Identifies the request for its status; Apple extends only once for each identifier.
    package let requestIdentifier: String

    /// The maximum number of days in one request: Apple's limit.
    package static let daysMax = 90
    /// The maximum length of the request identifier in bytes: Apple's limit.
    package static let requestIdentifierByteCountMax = 128

    /// The reason for an extension; the raw values are Apple's.
    package enum Reason: Int, CaseIterable, Hashable, Sendable {
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
    package init?(days: Int, reason: Reason, requestIdentifier: String) {
        let length = requestIdentifier.utf8.count
        guard (1...RenewalExtension.daysMax).contains(days),
            (1...RenewalExtension.requestIdentifierByteCountMax).contains(length),
            requestIdentifier.escaped == requestIdentifier
        else { return nil }
        (self.days, self.reason, self.requestIdentifier) = (days, reason, requestIdentifier)
    }

    fileprivate var members: String {
        #""extendByDays":\#(days),"extendReasonCode":\#(reason.rawValue),"#
            + #""requestIdentifier":"\#(requestIdentifier)""#
    }
}

/// The status of an extension for all subscribers.
package struct RenewalExtensionStatus: Codable, Hashable, Sendable {
    /// The identifier of the request.
    package let requestIdentifier: String
    /// Whether Apple has finished.
    package let complete: Bool
    /// When Apple finished; nil before that.
    package let completeDate: Instant?
    /// Subscriptions whose date was extended; nil until Apple has finished.
    package let succeededCount: Int64?
    /// Subscriptions whose date was not extended; nil until Apple has finished.
    package let failedCount: Int64?
}

/// The result of an extension of one subscription.
package struct RenewalExtensionResult: Codable, Hashable, Sendable {
    /// The subscription.
    package let originalTransactionId: String
    /// Whether its date was extended.
    package let success: Bool
    /// The new end of the period; nil if it was not extended.
    package let effectiveDate: Instant?
}
