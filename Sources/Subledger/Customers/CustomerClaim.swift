internal import EventLog
public import Events
internal import Projections

extension CustomerDocument {
    /// A claim to a subscription: a link that the operator stated, or an app account token.
    public struct Claim: Codable, Hashable, Sendable {
        /// The subscription.
        public let originalTransactionId: String
        /// Where the purchases were made.
        public let environment: StoreEnvironment
        /// The customer of a link; nil for a token.
        public private(set) var customer: String?
        /// The token; nil for a link.
        public private(set) var appAccountToken: String?
        /// When it begins.
        public let from: Instant
        /// When it ended; nil if it has not.
        public let to: Instant?
        /// The event that states it.
        public let position: Position
        /// The event that ended a link.
        public private(set) var endPosition: Position?
        /// Who stated a link.
        public private(set) var by: String?
        /// The reason, in the operator's words.
        public private(set) var reason: String?
        /// Whether another customer had the subscription, so the link had no effect.
        public private(set) var isContested = false
        /// The customer who had it.
        public private(set) var contests: String?
        /// For a token, the other tokens that Apple's account joins to it; empty if that was not
        /// looked up.
        public private(set) var joinedTokens: [String] = []
    }
}

extension Ledger {
    /// Every claim to a subscription: each link, and each token that changed.
    ///
    /// - Parameters:
    ///   - isContested: Only claims that need a decision: links to a customer while another one had
    ///     the subscription, and tokens that Apple's account joins to another token. To find these,
    ///     the customer of every subscription with a token is looked up.
    ///   - notice: Receives the subscriptions whose customer has too many to be looked up.
    ///   - take: Receives each claim.
    /// - Throws: `EventLogError`, and what `take` throws.
    package func forEachClaim(
        contested isContested: Bool = false,
        notice: (String) -> Void = { _ in },
        _ take: (CustomerDocument.Claim) throws -> Void
    ) async throws {
        try await forEachStream(claimedBy: isContested ? .severalCustomers : .anybody) { stream in
            let claims = StreamClaims(Timeline(try await log.history(of: stream)))
            for claim in CustomerDocument.Claim.all(of: claims)
            where !isContested || claim.isContested { try take(claim) }
        }
        guard isContested else { return }
        try await forEachStream(claimedBy: .token) { stream in
            for claim in try await joinedTokens(of: stream, notice) { try take(claim) }
        }
    }

    private func forEachStream(
        claimedBy claimants: EventLog.ClaimedBy,
        _ take: (StreamID) async throws -> Void
    ) async throws {
        try await forEach(take) {
            try await log.streams(claimedBy: claimants, after: $0, limit: Ledger.pageLines)
        }
    }

    private func joinedTokens(
        of stream: StreamID,
        _ notice: (String) -> Void
    ) async throws(EventLogError) -> [CustomerDocument.Claim] {
        guard let customer = try await customer(of: stream, ifTooMany: notice),
            let own = customer.streams.first(where: { $0.stream == stream })
        else { return [] }
        let others = customer.otherTokens(than: own)
        guard !others.isEmpty else { return [] }
        return CustomerDocument.Claim.all(of: own.claims, others)
            .filter { $0.appAccountToken != nil }
    }
}

extension CustomerDocument.Claim {
    /// The claims of a subscription: its links, then its tokens.
    static func all(
        of claims: StreamClaims,
        _ joinedTokens: [String] = []
    ) -> [CustomerDocument.Claim] {
        claims.links.map { link in
            CustomerDocument.Claim(
                originalTransactionId: claims.stream.originalTransactionId,
                environment: claims.stream.environment,
                customer: link.customer,
                from: link.from,
                to: link.to,
                position: Position(lane: claims.lane, offset: link.offset),
                endPosition: link.endOffset.map { Position(lane: claims.lane, offset: $0) },
                by: link.statedBy,
                reason: link.reason.isEmpty ? nil : link.reason,
                isContested: link.isContested,
                contests: link.contests
            )
        }
            + claims.tokens.map { token in
                CustomerDocument.Claim(
                    originalTransactionId: claims.stream.originalTransactionId,
                    environment: claims.stream.environment,
                    appAccountToken: token.token,
                    from: token.from,
                    to: token.to,
                    position: Position(lane: claims.lane, offset: token.offset),
                    joinedTokens: joinedTokens
                )
            }
    }
}
