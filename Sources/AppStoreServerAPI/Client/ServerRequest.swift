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

    /// How to request the rest of an answer.
    enum Paging: Sendable {
        case none
        case revision
        case paginationToken
    }

    var endpoint: Endpoint {
        switch self {
        case .transactionHistory: .history
        case .subscriptionStatuses: .statuses
        case .refundHistory: .refunds
        case .transaction: .transaction
        case .appTransaction: .appTransaction
        case .order: .order
        case .notificationHistory: .notifications
        case .extensionStatus: .massExtension
        case .testNotification, .testNotificationStatus: .test
        case .customerGroups, .groupMembers, .seats: .groups
        }
    }

    var paging: Paging {
        switch self {
        case .transactionHistory, .refundHistory: .revision
        case .notificationHistory, .groupMembers: .paginationToken
        default: .none
        }
    }

    var isPost: Bool {
        switch self {
        case .notificationHistory, .testNotification: true
        default: false
        }
    }

    /// The path below the host, without the query.
    var path: String {
        switch self {
        case .transactionHistory(let id): "/inApps/v2/history/" + ServerRequest.escaped(id)
        case .subscriptionStatuses(let id): "/inApps/v1/subscriptions/" + ServerRequest.escaped(id)
        case .refundHistory(let id): "/inApps/v2/refund/lookup/" + ServerRequest.escaped(id)
        case .transaction(let id): "/inApps/v1/transactions/" + ServerRequest.escaped(id)
        case .appTransaction(let id):
            "/inApps/v1/transactions/appTransactions/" + ServerRequest.escaped(id)
        case .order(let id): "/inApps/v1/lookup/" + ServerRequest.escaped(id)
        case .notificationHistory: "/inApps/v1/notifications/history"
        case .extensionStatus(let productId, let requestIdentifier):
            "/inApps/v1/subscriptions/extend/mass/\(ServerRequest.escaped(productId))/"
                + ServerRequest.escaped(requestIdentifier)
        case .testNotification: "/inApps/v1/notifications/test"
        case .testNotificationStatus(let token):
            "/inApps/v1/notifications/test/" + ServerRequest.escaped(token)
        case .customerGroups(let id): "/groups/v1/currentGroups/" + ServerRequest.escaped(id)
        case .groupMembers(let id, _): "/groups/v1/group/" + ServerRequest.escaped(id)
        case .seats(let id): "/groups/v1/transactions/\(ServerRequest.escaped(id))/seats"
        }
    }

    // The query of every page.
    private var query: [String] {
        if case .groupMembers(_, let limit?) = self { ["limit=\(limit)"] } else { [] }
    }

    /// The path with the query of a page; nil for the first one.
    func target(page: String?) -> String {
        var query = query
        switch (paging, page) {
        case (.none, _), (_, nil): break
        case (.revision, let page?): query.append("revision=" + ServerRequest.escaped(page))
        case (.paginationToken, let page?):
            query.append("paginationToken=" + ServerRequest.escaped(page))
        }
        return query.isEmpty ? path : path + "?" + query.joined(separator: "&")
    }

    /// The JSON body; nil if there is none.
    var body: String? {
        guard case .notificationHistory(let filter) = self else { return nil }
        var members = [
            #""startDate":\#(filter.start.milliseconds)"#,
            #""endDate":\#(filter.end.milliseconds)"#,
        ]
        // An id is digits; the path's escaping keeps the JSON valid whatever else it may be.
        if let id = filter.transactionId {
            members.append(#""transactionId":"\#(ServerRequest.escaped(id))""#)
        }
        if filter.onlyFailures { members.append(#""onlyFailures":true"#) }
        return "{" + members.joined(separator: ",") + "}"
    }

    // Escapes all but the unreserved characters of RFC 3986.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
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
