/// A claim of a seat: the id of the request, and the customer if known.
package struct SeatClaim: Hashable, Sendable {
    /// Identifies the request: Apple makes only one claim for each identifier.
    package let requestIdentifier: String
    /// Apple's id of the customer in the app; nil if it is associated later.
    package let appTransactionId: String?

    /// Creates a claim; nil if the identifier is empty or longer than that of an extension, or has
    /// characters other than letters, digits, `-`, `.`, `_` and `~`.
    package init?(requestIdentifier: String, appTransactionId: String? = nil) {
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
package struct SeatInfo: Codable, Hashable, Sendable {
    /// How many seats the subscription has now.
    package let totalSeatCount: Int64
    /// How many of them can be claimed.
    package let availableSeatCount: Int64
    /// The claims; after a renewal with fewer seats, there may be more than seats.
    package let assignedSeatClaimIds: [String]
}

/// A group of customers: those who share a purchase of seats, or an organisation.
package struct CustomerGroup: Codable, Hashable, Sendable {
    /// Apple's id of the group.
    package let groupId: String
    /// Apple's word: CONSUMER or ORGANIZATION.
    package let groupType: String
    /// What the customer may do; only organisations have roles.
    package let roles: [Role]

    /// What a customer may do with a product, in Apple's word, such as ADMIN.
    package struct Role: Codable, Hashable, Sendable {
        /// The product.
        package let productId: String?
        /// Apple's word.
        package let role: String?
    }
}
