public import Events

/// All subscriptions of one customer in one environment: the basis of entitlement, `explain` and
/// the lists for support.
///
/// A customer is identified by any of their ids: the app's own, as links state it, an app account
/// token, an `appTransactionId`, a transaction id or an original transaction id. `CustomerParties`
/// decides which subscriptions are theirs; `StreamClaims` decides who owned each at a time.
/// Subscriptions of different environments are never joined (Concepts: promises).
public struct Customer: Sendable {
    /// The id that was asked for.
    public let name: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// The app's own id for the customer; nil unless links lead to exactly one.
    public let customerId: String?
    /// The app account tokens that lead to this customer and to no other, in UTF-8 order; for one
    /// UUID with several spellings, the first.
    public let tokens: [String]
    /// Their subscriptions, by `StreamID`; see `streams(ownedAt:)` for those at a given time.
    public let streams: [CustomerStream]
    /// Subscriptions of others that were once theirs, by a link or a bond, or that they claim
    /// without effect, by `StreamID`.
    public let related: [CustomerStream]
    /// Subscriptions, in `streams` or only related to them, that lead to several customers and so
    /// count for none of them, by `StreamID`.
    public let ambiguous: [Ambiguity]

    private let grounds: [StreamID: CustomerGround]
    private let all: [CustomerStream]
    private let times: CustomerTimes

    /// A subscription without a link that leads to several customers.
    public struct Ambiguity: Sendable {
        /// The subscription.
        public let stream: StreamID
        /// The customers it leads to, in UTF-8 order.
        public let customerIds: [String]
    }

    /// The customer with an id among subscriptions.
    ///
    /// An id is looked up among links first, then among tokens, original transaction ids,
    /// transaction ids and `appTransactionId`s; if several subscriptions have one transaction id,
    /// the first by `StreamID` counts. The answer is right if the subscriptions include all that
    /// share anything with the answer's; more do no harm, and their order does not matter.
    public init(_ name: String, in environment: StoreEnvironment, among all: [CustomerStream]) {
        let all = all.filter { $0.stream.environment == environment }
            .sorted { $0.stream < $1.stream }
        let sharers = BondSharers(all)
        let parties = CustomerParties(all, sharers).parties
        let party = Customer.party(of: name, among: all, parties)
        let members = all.indices.filter { parties[$0] == party }
        var customerId: String?
        if case .customer(.text(let id))? = party { customerId = id }

        self.name = name
        self.environment = environment
        self.customerId = customerId
        streams = members.map { all[$0] }
        let foreign = Set(
            all.indices.filter { parties[$0] != party }.flatMap { all[$0].tokens }.map(
                TokenValue.init
            )
        )
        tokens = TokenValue.unique(streams.flatMap(\.tokens)).filter { token in
            TokenValue.areEqual(token, name) || !foreign.contains(TokenValue(token))
        }

        let names = [name] + (customerId.map { [$0] } ?? [])
        let times = CustomerTimes(
            all,
            sharers,
            customerId: customerId,
            isNamedByLink: customerId.map { byBytes($0, name) == nil } ?? false,
            members: Set(members),
            tokens: tokens,
            name: name
        )
        let everOwned = times.owned.reduce(into: Set<Int>()) { $0.formUnion($1) }
        related = all.indices.filter { index in
            parties[index] != party
                && (everOwned.contains(index) || all[index].isClaimed(byAnyOf: names))
        }.map { all[$0] }

        self.all = all
        self.times = times
        ambiguous = all.indices.compactMap { index in
            guard case .ambiguous(_, let ids) = parties[index] else { return nil }
            return Ambiguity(stream: all[index].stream, customerIds: ids)
        }
        grounds =
            GroundFinder(
                all,
                name: name,
                in: environment,
                customerId: customerId
            ).grounds
    }

    /// Why a subscription is theirs; nil for one in neither `streams` nor `related`.
    public func ground(of stream: StreamID) -> CustomerGround? { grounds[stream] }

    /// The subscriptions that were theirs at an instant, by `StreamID`.
    ///
    /// These are the subscriptions that a link gave to the customer then; otherwise those that had
    /// one of their tokens then, or that a bond joined to them then. A link overrides a bond from
    /// its first instant until its unlink, and does not change anything before it begins: before
    /// the link, and after the unlink, the bond applies. A subscription that shares nothing with
    /// another one and has no token is theirs only while their link is in force, once one names it.
    /// A subscription that leads to several customers at that instant belongs to none of them, and
    /// stays with its token. If the id asked for is a token, a subscription whose token changed is
    /// theirs while it has that one.
    public func streams(ownedAt instant: Instant) -> [CustomerStream] {
        times.owned(at: instant).sorted().map { all[$0] }
    }

    /// When a subscription was theirs: half-open, ascending, with gaps in between.
    ///
    /// The beginning of time is written as the least `Instant`, an unknown end as the greatest.
    public func tenures(of stream: StreamID) -> [Range<Instant>] {
        all.firstIndex { $0.stream == stream }.map(times.stretches) ?? []
    }

    private static func party(
        of name: String,
        among all: [CustomerStream],
        _ parties: [CustomerParties.Party]
    ) -> CustomerParties.Party? {
        func first(where matches: (CustomerStream) -> Bool) -> CustomerParties.Party? {
            all.indices.first { matches(all[$0]) }.map { parties[$0] }
        }
        func isName(_ text: String) -> Bool { byBytes(text, name) == nil }
        if all.contains(where: { $0.claims.links.contains { isName($0.customer) } }) {
            return .customer(.text(name))
        }
        // An id of several subscriptions belongs to one that no link names, if there is any such.
        func unlinkedFirst(where matches: (CustomerStream) -> Bool) -> CustomerParties.Party? {
            first { $0.claims.linkedCustomer == nil && matches($0) } ?? first(where: matches)
        }
        return unlinkedFirst { $0.tokens.contains { TokenValue.areEqual($0, name) } }
            ?? first { isName($0.stream.originalTransactionId) }
            ?? first { $0.transactionIds.contains(where: isName) }
            ?? unlinkedFirst { $0.appTransactions.contains { isName($0.id) } }
            ?? first { $0.webOrderLineItemIds.contains(where: isName) }
            ?? first { $0.previousOriginalTransactionIds.contains(where: isName) }
    }
}

extension CustomerStream {
    fileprivate func isClaimed(byAnyOf names: [String]) -> Bool {
        names.contains { name in
            claims.links.contains { byBytes($0.customer, name) == nil }
                || tokens.contains { TokenValue.areEqual($0, name) }
        }
    }
}
