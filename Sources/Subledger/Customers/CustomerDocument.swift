public import EventLog
public import Events
package import Projections

/// The subscriptions of a customer, with the owners of each over time.
public struct CustomerDocument: Codable, Hashable, Sendable {
    /// The id that was asked for.
    public let id: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The app's own id for the customer; nil unless links lead to exactly one.
    public let customer: String?
    /// The app account tokens that identify this customer and no other.
    public let appAccountTokens: [String]
    /// Their subscriptions.
    public let streams: [Stream]
    /// Subscriptions of others that were once theirs, or that they claim without effect.
    public let related: [Stream]
    /// Subscriptions that are joined to several customers, and so count for none of them.
    public let ambiguous: [AccessDocument.AmbiguousSubscription]
    /// Those that were theirs at the instant asked about; nil if no instant was given.
    public let ownedAt: [String]?

    /// A subscription.
    public struct Stream: Codable, Hashable, Sendable {
        /// Its id.
        public let originalTransactionId: String
        /// The app it belongs to.
        public let bundleId: String?
        /// What was bought, in the order of the purchases, without duplicates.
        public let productIds: [String]
        /// Why it is listed.
        public let ground: SubscriptionGround
        /// Its owners over time.
        public let owners: [Interval]
        /// The links, including those that ended.
        public let links: [CustomerDocument.Claim]
        /// Its app account tokens over time.
        public let tokens: [CustomerDocument.Claim]
    }

    /// An interval in which a customer had a subscription; no customer had it if both names are
    /// nil.
    public struct Interval: Codable, Hashable, Sendable {
        /// The customer by a link.
        public let customer: String?
        /// The app account token, if no link applies.
        public let appAccountToken: String?
        /// Its first instant; nil if it has no beginning.
        public let from: Instant?
        /// Its end, exclusive; nil if there is none.
        public let to: Instant?
        /// The event that began it.
        public let position: Position?
    }
}

/// The customers whom links name.
package struct LinkedCustomersDocument: Codable, Hashable, Sendable {
    /// In the order of their bytes.
    package let customers: [EventLog.LinkedCustomer]
}

extension Ledger {
    /// The subscriptions of a customer, with the owners of each over time.
    ///
    /// - Parameters:
    ///   - subject: The customer, by any id.
    ///   - instant: Also list what was theirs at this instant.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The answer.
    /// - Throws: `QuestionError`, `EventLogError`.
    public func customer(
        _ subject: SubjectID,
        at instant: Instant? = nil,
        knownAt: KnownAt = .latest
    ) async throws -> CustomerDocument {
        CustomerDocument(try await found(subject, knownAt: knownAt), at: instant)
    }

    /// The same, as the source of texts.
    package func found(_ subject: SubjectID, knownAt: KnownAt) async throws -> Customer {
        try await log.onOneConnection {
            try await check(knownAt)
            return try await customer(
                subject.id,
                in: try await environment(of: subject),
                knownAt: knownAt
            )
        }
    }

    /// The customers whom links name, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - name: Only customers after this one.
    ///   - limit: The most customers to return.
    /// - Returns: The answer.
    /// - Throws: `EventLogError`.
    package func linkedCustomers(
        after name: String = "",
        limit: Int = 1000
    ) async throws(EventLogError) -> LinkedCustomersDocument {
        LinkedCustomersDocument(customers: try await log.customers(after: name, limit: limit))
    }
}

extension CustomerDocument {
    /// The document of a customer.
    package init(_ customer: Customer, at instant: Instant?) {
        id = customer.name
        environment = customer.environment
        self.customer = customer.customerId
        appAccountTokens = customer.tokens
        streams = customer.streams.map { Stream($0, of: customer) }
        related = customer.related.map { Stream($0, of: customer) }
        ambiguous = AnswerGrounds(customer, []).ambiguous
        ownedAt = instant.map { instant in
            customer.streams(ownedAt: instant).map(\.stream.originalTransactionId)
        }
    }
}

extension CustomerDocument.Stream {
    fileprivate init(_ stream: CustomerStream, of customer: Customer) {
        let claims = stream.claims
        originalTransactionId = stream.stream.originalTransactionId
        bundleId = stream.bundleId
        productIds = stream.productIds
        ground = SubscriptionGround(stream, of: customer)

        owners = claims.owners.map { ownership in
            var (customer, token): (String?, String?)
            switch ownership.owner {
            case .customer(let name)?: customer = name
            case .appAccountToken(let name)?: token = name
            case nil: break
            }
            return CustomerDocument.Interval(
                customer: customer,
                appAccountToken: token,
                from: ownership.from,
                to: ownership.to,
                position: ownership.offset.map { offset in
                    Position(lane: claims.lane, offset: offset)
                }
            )
        }

        let lines = CustomerDocument.Claim.all(of: claims)
        links = lines.filter { $0.customer != nil }
        tokens = lines.filter { $0.appAccountToken != nil }
    }
}

extension CustomerDocument.Stream {
    /// Its owners over time, as text.
    package var ownersText: Block {
        let rows = owners.map { interval in
            let owner =
                interval.customer.map { "customer \($0)" }
                ?? interval.appAccountToken.map { "token \($0)" } ?? "no link, no token"
            return [
                interval.from?.clock ?? "always", interval.to?.clock ?? "–", owner,
                interval.position?.mark ?? "",
            ]
        }
        return .table(["from", "to", "owner", "because of"], rows)
    }
}

extension CustomerStream {
    /// Its products, in the order of their purchases, without duplicates.
    fileprivate var productIds: [String] {
        (timeline.purchases + timeline.oneTimePurchases).map(\.productId)
            .reduce(into: []) { if !$0.contains($1), !$1.isEmpty { $0.append($1) } }
    }
}
