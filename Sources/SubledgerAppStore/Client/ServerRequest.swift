public import Events

/// A request to the App Store Server API.
///
/// None of them changes anything at Apple, except the one for a test notification; a `ServerCommand`
/// does.
public enum ServerRequest: Hashable, Sendable {
    /// Get Transaction History, version 2: everything a customer bought, by last modification.
    case transactionHistory(String)
    /// Get All Subscription Statuses: the newest transaction and the renewal of each subscription.
    case subscriptionStatuses(String)
    /// Get Refund History, version 2.
    case refundHistory(String)
    /// Get Transaction Info.
    case transaction(String)
    /// Get App Transaction Info.
    case appTransaction(String)
    /// Look Up Order ID; Apple offers it in production only.
    case order(String)
    /// Get Notification History: what Apple sent, with the same bytes.
    case notificationHistory(NotificationFilter)
    /// Get Status of Subscription Renewal Date Extensions.
    case extensionStatus(productId: String, requestIdentifier: String)
    /// Request a Test Notification.
    case testNotification
    /// Get Test Notification Status.
    case testNotificationStatus(String)
    /// Get Customer Groups, of the customer with this app transaction id; in the sandbox only.
    case customerGroups(String)
    /// Get Group Members, at most so many a page; in the sandbox only.
    case groupMembers(String, limit: Int?)
    /// Get Seat Info, for the subscription with this transaction id; in the sandbox only.
    case seats(String)

    /// The notifications to request.
    public struct NotificationFilter: Hashable, Sendable {
        /// Not before this instant; Apple keeps 180 days of production and 30 of the sandbox.
        public var start: Instant
        /// Before this instant.
        public var end: Instant
        /// Only those about this transaction's customer; nil for all.
        public var transactionId: String?
        /// Only those that have not reached the server.
        public var onlyFailures: Bool

        /// The notifications of a span of time.
        public init(
            start: Instant,
            end: Instant,
            transactionId: String? = nil,
            onlyFailures: Bool = false
        ) {
            self.start = start
            self.end = end
            self.transactionId = transactionId
            self.onlyFailures = onlyFailures
        }
    }

    /// The requests that Apple counts together.
    enum Endpoint: Hashable, Sendable {
        case history, statuses, refunds, transaction, appTransaction, order, notifications
        case `extension`, massExtension, consumption, test, groups, advancedCommerce

        /// Requests per second that Apple allows an app in production; the sandbox allows a tenth.
        var perSecond: Double {
            switch self {
            case .history, .statuses, .transaction, .appTransaction, .notifications, .consumption:
                50
            case .extension: 20
            // Apple has published no limit for these: most requests have this one.
            case .groups, .advancedCommerce: 50
            case .refunds, .order: 10
            case .massExtension, .test: 1
            }
        }

        /// Whether Apple offers it in the sandbox only, as of Server API 1.23.
        var isSandboxOnly: Bool { self == .groups }
    }

    /// The parameter that requests the rest of an answer, which is also the member of the answer
    /// that names it; nil if the answer has no pages.
    var paging: StaticString? {
        switch self {
        case .transactionHistory, .refundHistory: "revision"
        case .notificationHistory, .groupMembers: "paginationToken"
        default: nil
        }
    }

    /// The HTTP request, for the first page.
    var call: ServerCall {
        switch self {
        case .transactionHistory(let id):
            ServerCall(.history, "/inApps/v2/history/" + id.escaped)
        case .subscriptionStatuses(let id):
            ServerCall(.statuses, "/inApps/v1/subscriptions/" + id.escaped)
        case .refundHistory(let id):
            ServerCall(.refunds, "/inApps/v2/refund/lookup/" + id.escaped)
        case .transaction(let id):
            ServerCall(.transaction, "/inApps/v1/transactions/" + id.escaped)
        case .appTransaction(let id):
            ServerCall(
                .appTransaction,
                "/inApps/v1/transactions/appTransactions/" + id.escaped
            )
        case .order(let id): ServerCall(.order, "/inApps/v1/lookup/" + id.escaped)
        case .notificationHistory(let filter):
            ServerCall(.notifications, "/inApps/v1/notifications/history", "POST", filter.body)
        case .extensionStatus(let product, let id):
            ServerCall(
                .massExtension,
                "/inApps/v1/subscriptions/extend/mass/\(product.escaped)/\(id.escaped)"
            )
        case .testNotification: ServerCall(.test, "/inApps/v1/notifications/test", "POST")
        case .testNotificationStatus(let token):
            ServerCall(.test, "/inApps/v1/notifications/test/" + token.escaped)
        case .customerGroups(let id): ServerCall(.groups, "/groups/v1/currentGroups/" + id.escaped)
        case .groupMembers(let id, let limit):
            ServerCall(
                .groups,
                "/groups/v1/group/" + id.escaped,
                query: limit.map { ["limit=\($0)"] } ?? []
            )
        case .seats(let id): ServerCall(.groups, "/groups/v1/transactions/\(id.escaped)/seats")
        }
    }

    /// The HTTP request for a page; nil for the first one.
    func call(page: String?) -> ServerCall {
        var call = call
        if let page, let name = paging { call.query.append("\(name)=" + page.escaped) }
        return call
    }
}

extension ServerRequest.NotificationFilter {
    fileprivate var body: String {
        var members = [
            #""startDate":\#(start.milliseconds)"#, #""endDate":\#(end.milliseconds)"#,
        ]
        // An id is digits; the path's escaping keeps the JSON valid whatever else it may be.
        if let id = transactionId { members.append(#""transactionId":"\#(id.escaped)""#) }
        if onlyFailures { members.append(#""onlyFailures":true"#) }
        return "{" + members.joined(separator: ",") + "}"
    }
}

/// One HTTP request to the API.
public struct ServerCall: Sendable {
    let endpoint: ServerRequest.Endpoint
    /// The path below the host, without its query.
    public let path: String
    /// The HTTP method.
    public let method: String
    /// The JSON body; nil if there is none.
    public let body: String?
    var query: [String]

    init(
        _ endpoint: ServerRequest.Endpoint,
        _ path: String,
        _ method: String = "GET",
        _ body: String? = nil,
        query: [String] = []
    ) {
        (self.endpoint, self.path, self.method) = (endpoint, path, method)
        (self.body, self.query) = (body, query)
    }

    /// The path with the query.
    var target: String { query.isEmpty ? path : path + "?" + query.joined(separator: "&") }
}

extension String {
    /// The text with all but the unreserved characters of RFC 3986 escaped.
    var escaped: String {
        var escaped = ""
        for byte in utf8 {
            if Base64.isURLCharacter(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
            {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return escaped
    }
}
