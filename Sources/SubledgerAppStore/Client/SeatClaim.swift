/// A claim of a seat: the id of the request, and the customer if known.
public struct SeatClaim: Hashable, Sendable {
    /// Identifies the request: Apple makes only one claim for each identifier.
    public let requestIdentifier: String
    /// Apple's id of the customer in the app; nil if it is associated later.
    public let appTransactionId: String?

    /// Creates a claim; nil if the identifier is empty or longer than that of an extension, or has
    /// characters other than letters, digits, `-`, `.`, `_` and `~`.
    public init?(requestIdentifier: String, appTransactionId: String? = nil) {
        let length = requestIdentifier.utf8.count
        guard (1...RenewalExtension.requestIdentifierByteCountMax).contains(length),
            requestIdentifier.escaped == requestIdentifier
        else { return nil }
        self.requestIdentifier = requestIdentifier
        self.appTransactionId = appTransactionId
    }

    /// The JSON body of the request.
    var body: String {
        let customer = appTransactionId.map {
            #","appTransactionId":"\#($0.escaped)""#
        }
        return #"{"requestIdentifier":"\#(requestIdentifier)""# + (customer ?? "") + "}"
    }
}

/// The seats of a subscription, as Apple counts them.
public struct SeatInfo: Codable, Hashable, Sendable {
    /// How many seats the subscription has now.
    public let totalSeatCount: Int64
    /// How many of them can be claimed.
    public let availableSeatCount: Int64
    /// The claims; after a renewal with fewer seats, there may be more than seats.
    public let assignedSeatClaimIds: [String]
}

/// A group of customers: those who share a purchase of seats, or an organisation.
public struct CustomerGroup: Codable, Hashable, Sendable {
    /// Apple's id of the group.
    public let groupId: String
    /// Apple's word: CONSUMER or ORGANIZATION.
    public let groupType: String
    /// What the customer may do; only organisations have roles.
    public let roles: [Role]

    /// What a customer may do with a product, in Apple's word, such as ADMIN.
    public struct Role: Codable, Hashable, Sendable {
        /// The product.
        public let productId: String?
        /// Apple's word.
        public let role: String?
    }
}
