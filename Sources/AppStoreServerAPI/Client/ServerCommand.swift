public import Events

/// A request that changes something at Apple.
///
/// A type of its own, so that nothing that asks questions can send one: only an operator's command
/// does, after it was told to.
public enum ServerCommand: Hashable, Sendable {
    /// Extend a Subscription Renewal Date: of the subscription with this original transaction id.
    case extendRenewalDate(String, RenewalExtension)
    /// Extend Subscription Renewal Dates for All Active Subscribers: of a product, in these
    /// storefronts; in all where there is none.
    case extendRenewalDates(productId: String, storefronts: [String], RenewalExtension)
    /// Send Consumption Information, version 2: about a transaction that its customer wants a refund
    /// for.
    case sendConsumption(String, ConsumptionInformation)

    var endpoint: ServerRequest.Endpoint {
        switch self {
        case .extendRenewalDate: .extension
        case .extendRenewalDates: .massExtension
        case .sendConsumption: .consumption
        }
    }

    /// The method, as HTTP has it.
    public var method: String {
        switch self {
        case .extendRenewalDate, .sendConsumption: "PUT"
        case .extendRenewalDates: "POST"
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
        }
    }

    /// The JSON body.
    public var body: String {
        switch self {
        case .extendRenewalDate(_, let wanted): "{" + wanted.members + "}"
        case .extendRenewalDates(let productId, let storefronts, let wanted):
            ServerCommand.body(wanted, storefronts, productId)
        case .sendConsumption(_, let information): information.body
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

/// For how long and why renewal dates are extended.
public struct RenewalExtension: Hashable, Sendable {
    /// Days, 1 to `daysMax`.
    public let days: Int
    /// Why.
    public let reason: Reason
    /// Names the request, so that its status can be asked for; Apple extends once for each.
    public let requestIdentifier: String

    /// Most days that Apple extends at once.
    public static let daysMax = 90
    /// Longest identifier of a request, in bytes: Apple's limit.
    public static let requestIdentifierByteCountMax = 128

    /// Why a date is extended; the raw values are Apple's.
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

    /// An extension; nil for days out of range, and for an identifier that is empty, too long or has
    /// other characters than letters, digits, `-`, `.`, `_` and `~`.
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

/// How far an extension for all subscribers has come.
public struct RenewalExtensionStatus: Codable, Hashable, Sendable {
    /// The request.
    public let requestIdentifier: String
    /// Whether Apple has finished.
    public let complete: Bool
    /// When; nil before.
    public let completeDate: Instant?
    /// Subscriptions whose date was extended; nil before the end.
    public let succeededCount: Int64?
    /// Those whose date was not; nil before the end.
    public let failedCount: Int64?
}

/// What an extension of one subscription came to.
public struct RenewalExtensionResult: Codable, Hashable, Sendable {
    /// The subscription.
    public let originalTransactionId: String
    /// Whether its date was extended.
    public let success: Bool
    /// The new end of the period; nil where it was not extended.
    public let effectiveDate: Instant?
}
