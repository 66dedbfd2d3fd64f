public import AppStore
internal import EventLog
public import Events
internal import Projections

/// The outcome of a statement about who owns a subscription, in order of precedence.
public enum LinkOutcome: Sendable {
    /// The subscription has no event: nothing was appended.
    case unknownStream
    /// Another customer has it, or is going to: nothing was appended.
    case held(Hold)
    /// The statement unlinks a customer who does not have the subscription: nothing was appended.
    case notLinked
    /// It was appended at these positions: for a transfer the unlink, then the link.
    case appended([Position])
    /// The log already contained it, in the event at that position, as of that instant.
    case duplicate(Position, statedAt: Instant)
    /// The customer's id is the id of another subscription, which is not theirs: nothing was
    /// appended.
    case nameIsId(of: StreamID)
    /// It dates from before the erasure at that position: nothing was appended.
    case erased(Position)

    /// A link that prevents another.
    public struct Hold: Sendable {
        /// The customer who has the subscription.
        public let customer: String
        /// When it begins, as the link states it.
        public let since: Instant
        /// Its end, exclusive; nil if it has none.
        public let until: Instant?
        /// The event that states it.
        public let position: Position

        fileprivate init(_ link: LinkClaim, of claims: StreamClaims) {
            (customer, since, until) = (link.customer, link.from, link.to)
            position = Position(lane: claims.lane, offset: link.offset)
        }
    }
}

extension Ledger {
    /// The channel of statements made through this API.
    public static let operatorSource = "operator"

    /// States that a subscription belongs to a customer, as `subledger customers link` does.
    ///
    /// Repeating a link changes nothing.
    ///
    /// - Parameters:
    ///   - subscription: The subscription, by its `originalTransactionId` or another id of its own.
    ///   - customer: The app's own name for the customer.
    ///   - reason: The reason, kept with the statement; at most
    ///     `CustomerLink.reasonByteCountMax` bytes.
    ///   - author: Who makes the statement, kept with it.
    ///   - instant: When it takes effect; nil for the first purchase if no customer had the
    ///     subscription before, otherwise for now.
    ///   - isTransfer: Take it from the customer who has it as of that instant.
    ///   - now: Our clock.
    /// - Returns: The outcome: check that it is `appended` or `duplicate`.
    /// - Throws: `QuestionError` if the id means no subscription or several; `Rejection` for a
    ///   statement outside its limits; `EventLogError`.
    public func link(
        _ subscription: SubjectID,
        to customer: String,
        reason: String = "",
        by author: String = Ledger.operatorSource,
        from instant: Instant? = nil,
        isTransfer: Bool = false,
        now: Instant = .systemClock()
    ) async throws -> LinkOutcome {
        let named = SubjectID(subscription.id, in: subscription.environment, alone: true)
        return try await link(
            try await stream(of: named),
            to: customer,
            reason: reason,
            by: author,
            from: instant,
            isTransfer: isTransfer,
            now: now
        ).outcome
    }

    /// The same for a subscription that was found, with the statement that was made.
    package func link(
        _ stream: StreamID,
        to customer: String,
        reason: String,
        by author: String,
        from instant: Instant?,
        isTransfer: Bool,
        now: Instant
    ) async throws -> (statement: CustomerLink, outcome: LinkOutcome) {
        var start = instant
        if start == nil { start = try await linkStart(of: stream, for: customer, now: now) }
        let link = CustomerLink(
            stream: stream,
            customer: customer,
            statedBy: author,
            reason: reason,
            statedAt: start ?? now
        )
        return (link, try await add(link, isTransfer: isTransfer, receivedAt: now))
    }

    /// Appends the operator's statement that a subscription belongs to a customer, or to none.
    ///
    /// A link to a subscription that another customer has changes nothing unless it is a transfer;
    /// a transfer first appends an unlink as of the same instant. Two operators at the same time
    /// may still contest each other: `StreamClaims` reports it, and the first keeps ownership.
    ///
    /// - Parameters:
    ///   - link: The statement.
    ///   - expected: For an unlink, the customer who is to lose the subscription.
    ///   - isTransfer: Take it from the customer who has it as of the statement's instant.
    ///   - receivedAt: Our clock.
    /// - Returns: The outcome.
    /// - Throws: `Rejection` for a statement outside its limits, `EventLogError`.
    public func add(
        _ link: CustomerLink,
        unlinking expected: String? = nil,
        isTransfer: Bool = false,
        receivedAt: Instant
    ) async throws -> LinkOutcome {
        let verified = try verify(link, receivedAt: receivedAt)
        let history = try await log.history(of: link.stream)
        guard history.events.contains(where: { $0.fact.kind != .link }) else {
            return .unknownStream
        }
        let claims = StreamClaims(Timeline(history))
        if let customer = link.customer,
            let other = try await streams(calledLike: customer, besides: [link.stream]).first
        {
            return .nameIsId(of: other)
        }

        guard let customer = link.customer else {
            guard claims.mayUnlink(expected, at: link.statedAt) else { return .notLinked }
            // An unlink sorts before a link of the same instant, so it would end nothing.
            if let begun = claims.links.first(where: { !$0.isContested && $0.from == link.statedAt }
            ) {
                return .held(LinkOutcome.Hold(begun, of: claims))
            }
            return try await append([verified], to: history)
        }

        guard let hold = claims.hold(against: customer, from: link.statedAt) else {
            return try await append([verified], to: history)
        }
        // A link that begins at that instant or later cannot be transferred as of it.
        guard isTransfer, hold.from < link.statedAt else {
            return .held(LinkOutcome.Hold(hold, of: claims))
        }

        let unlink = CustomerLink(
            stream: link.stream,
            customer: nil,
            statedBy: link.statedBy,
            reason: link.reason,
            statedAt: link.statedAt
        )
        let pair = [try verify(unlink, receivedAt: receivedAt), verified]
        return try await append(pair, to: history)
    }

    /// The instant at which a link begins if the caller names none.
    ///
    /// The first purchase, if nobody had the subscription before, neither by a link nor by Apple's
    /// statements about the account; the beginning of the existing link, if the customer has one;
    /// otherwise now.
    ///
    /// - Parameters:
    ///   - stream: The subscription.
    ///   - customer: The app's own id for the customer.
    ///   - now: Our clock.
    /// - Returns: The instant; `Instant.epoch` means from the first purchase on.
    /// - Throws: `EventLogError`.
    package func linkStart(
        of stream: StreamID,
        for customer: String,
        now: Instant
    ) async throws(EventLogError) -> Instant {
        let claims = StreamClaims(Timeline(try await log.history(of: stream)))
        guard let own = claims.startWithoutAccount(for: customer, now: now) else {
            return try await mayBelongToOther(stream, than: customer) ? now : .epoch
        }
        return own
    }

    // Whether Apple's statements about the account give it to another customer, or may do so.
    private func mayBelongToOther(
        _ stream: StreamID,
        than customer: String
    ) async throws(EventLogError) -> Bool {
        // If the owner cannot be looked up, nothing is taken from anyone retroactively.
        guard let found = try await self.customer(of: stream) else { return true }
        if found.ambiguous.contains(where: { $0.stream == stream }) { return true }
        return found.customerId.map { FieldValue.text($0) != .text(customer) } ?? false
    }

    /// Subscriptions that have a customer's id as an id of their own and are not theirs, by
    /// `StreamID`: a question by such an id would be about two customers.
    ///
    /// An app account token equal to the id is the customer's own (`CustomerParties`).
    ///
    /// - Parameters:
    ///   - name: The customer's id.
    ///   - streams: The subscriptions that are about to be linked to them.
    /// - Returns: The subscriptions, in the environments of `streams`.
    /// - Throws: `EventLogError`.
    func streams(
        calledLike name: String,
        besides streams: Set<StreamID>
    ) async throws(EventLogError) -> [StreamID] {
        let environments = Set(streams.map(\.environment))
        let named = try await namesakes(of: [name]).filter {
            environments.contains($0.environment) && !streams.contains($0)
        }
        var others: [StreamID] = []
        for stream in named.sorted() {
            let theirs = try await customer(
                stream.originalTransactionId,
                in: stream.environment
            )
            let all = Set(theirs.streams.map(\.stream))
            let isLinked = theirs.customerId.map { FieldValue.text($0) == .text(name) } ?? false
            guard all.contains(stream), isLinked || !all.isDisjoint(with: streams) else {
                others.append(stream)
                continue
            }
        }
        return others
    }

    /// The subscriptions that have one of these names as an id, in two round trips.
    func namesakes(of names: [String]) async throws(EventLogError) -> Set<StreamID> {
        let known = try await log.streams(withOriginalTransactionIds: names)
        var found = Set(known.filter(\.isKnownByApple).map(\.stream))
        found.formUnion(
            try await log.streams(
                with: names.flatMap {
                    [.transactionId($0), .webOrderLineItemId($0), .appTransactionId($0)]
                }
            )
        )
        return found
    }

    // The operator's own statement is accepted in whatever environment the subscription has.
    func verify(
        _ link: CustomerLink,
        receivedAt: Instant
    ) throws(Rejection) -> VerifiedPayload {
        if let customer = link.customer { try CustomerLink.check(customer: customer) }
        var policy = verifier.policy
        policy.environments = [link.stream.environment]
        return try AppStoreVerifier(policy: policy).verify(
            payload: link.payload,
            source: Ledger.operatorSource,
            receivedAt: receivedAt,
            voucher: .operator
        )
    }

    private func append(
        _ payloads: [VerifiedPayload],
        to history: StreamHistory
    ) async throws -> LinkOutcome {
        var outcomes: [AppendOutcome] = []
        for payload in payloads { outcomes += try await appendTogether([payload])[0].outcomes }
        let appended = outcomes.filter(\.isNew).map(\.position)
        if let refused = outcomes.first(where: \.isErased) { return .erased(refused.position) }
        guard appended.isEmpty, let known = outcomes.last else { return .appended(appended) }
        let event = history.events.first { $0.position == known.position }
        return .duplicate(known.position, statedAt: event?.fact.asOf ?? .epoch)
    }
}

extension StreamClaims {
    /// When a link without a stated instant begins, as far as links decide; nil if none ever named
    /// a customer.
    func startWithoutAccount(for customer: String, now: Instant) -> Instant? {
        let held = links.filter { !$0.isContested }
        guard !held.isEmpty else { return nil }
        let own = held.first { link in
            FieldValue.text(link.customer) == .text(customer)
                && link.to.map { now < $0 } ?? true
        }
        return own?.from ?? now
    }

    /// The link of another customer that is in force at an instant or begins after it; nil if there
    /// is none.
    func hold(against customer: String, from instant: Instant) -> LinkClaim? {
        links.first { link in
            !link.isContested && FieldValue.text(link.customer) != .text(customer)
                && (link.to.map { instant < $0 } ?? true)
        }
    }

    /// Whether an unlink ends a link of that customer, or repeats one that did.
    fileprivate func mayUnlink(_ customer: String?, at instant: Instant) -> Bool {
        if case .customer(let holder)? = owner(at: instant) {
            return customer.map { FieldValue.text($0) == .text(holder) } ?? true
        }
        let last = links.last { !$0.isContested && $0.to.map { $0 <= instant } ?? false }
        guard let last else { return false }
        return customer.map { FieldValue.text($0) == .text(last.customer) } ?? true
    }
}
