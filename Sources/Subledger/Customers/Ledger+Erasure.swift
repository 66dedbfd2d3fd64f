internal import AppStore
public import EventLog
internal import Events
internal import Projections

/// Why something is erased, and by whom.
///
/// It stays in the log permanently, so it must not name a person.
public struct ErasureReason: Hashable, Sendable {
    /// The reason, for example a ticket or a law.
    ///
    /// At most `ErasureStatement.reasonByteCountMax` bytes, one line.
    public let text: String
    /// The person or program that erases.
    ///
    /// At most `ErasureStatement.erasedByByteCountMax` bytes, one line.
    public let statedBy: String

    /// Creates a reason; `erase` refuses one that is empty or too long.
    public init(_ text: String, by statedBy: String) {
        self.text = text
        self.statedBy = statedBy
    }
}

extension Ledger {
    /// What must be erased so that the log no longer contains the customer, ending with the
    /// subscriptions that name the customer, so an interrupted erasure can find the rest again.
    ///
    /// These are the subscriptions that a link ever gave the customer, those whose app account
    /// token is the customer's id, and those with an app account token of the customer's own
    /// subscriptions; then those that `customer` joins to them by Apple's statements about the
    /// account. Because an erasure cannot be undone, the joined ones are kept if they have a token
    /// of another account of the app, if they lead to several customers, or, where no link names
    /// the customer, if they have no token and are joined as much to another customer
    /// (`erasureExceptions`). From a subscription that now belongs to another customer, only the
    /// links that name this one are removed.
    ///
    /// - Parameter customer: The app's own id for the customer, or an app account token.
    /// - Returns: The targets; empty if the log does not know the customer.
    /// - Throws: `EventLogError`.
    public func erasureTargets(
        ofCustomer customer: String
    ) async throws(EventLogError) -> [ErasureTarget] {
        let names = customer.spellingsOfUUID.map(StreamKey.customer)
        var streams = Set(try await log.streams(with: names + [.appAccountToken(customer)]))
        guard !streams.isEmpty else { return [] }

        let naming = streams
        // The tokens of the customer's own subscriptions name the customer wherever they appear.
        // By their bytes: canonically equivalent texts, and spellings of a UUID, are looked up apart.
        var found: Set<[UInt8]> = []
        for stream in streams {
            let history = try await log.history(of: stream)
            guard !StreamClaims(Timeline(history)).isLinkedToOther(than: customer) else { continue }
            for event in history.events {
                if let token = event.fact.content.identity(.appAccountToken) {
                    found.insert(Array(token.utf8))
                }
            }
        }
        let tokens = found.map { String(decoding: $0, as: UTF8.self) }.sorted()
        streams.formUnion(try await log.streams(with: tokens.map(StreamKey.appAccountToken)))
        streams.formUnion(
            try await bonded(to: customer, tokens: Set(tokens.map(Owner.appAccountToken)))
        )

        var targets: [ErasureTarget] = []
        for stream in streams.subtracting(naming).sorted() + naming.sorted() {
            let claims = StreamClaims(Timeline(try await log.history(of: stream)))
            let own = claims.links.map(\.customer).first { customer.isSameName(as: $0) }
            targets.append(
                ErasureTarget(
                    stream: stream,
                    scope: claims.isLinkedToOther(than: customer) ? .link : .customer,
                    customer: own ?? customer
                )
            )
        }
        return targets
    }

    // The subscriptions joined to the customer, and not as much to another token.
    private func bonded(
        to customer: String,
        tokens own: Set<Owner>
    ) async throws(EventLogError) -> [StreamID] {
        var found: [StreamID] = []
        for (name, environment) in try await places(of: customer) {
            let known = try await self.customer(name, in: environment)
            // A link decides who owns the rest; without one, it belongs as much to the other token.
            let isShared =
                known.customerId == nil && known.streams.contains { !$0.isOnly(of: own) }
            found += known.streams.filter { stream in
                stream.isOnly(of: own) && !(isShared && stream.tokens.isEmpty)
            }.map(\.stream)
        }
        return found
    }

    // The environments in which the customer is known, by each spelling of the id: links may spell
    // a UUID differently.
    private func places(
        of customer: String
    ) async throws(EventLogError) -> [(name: String, StoreEnvironment)] {
        var places: [(name: String, StoreEnvironment)] = []
        for name in Set(customer.spellingsOfUUID).sorted() {
            for environment in try await environments(ofCustomer: name) {
                places.append((name, environment))
            }
        }
        return places
    }

    /// What counts as the customer's but is not a target of their erasure, with the reason.
    ///
    /// - Parameters:
    ///   - customer: The app's own id for the customer, or an app account token.
    ///   - targets: What `erasureTargets` found.
    /// - Returns: The subscriptions, by environment.
    /// - Throws: `EventLogError`.
    public func erasureExceptions(
        ofCustomer customer: String,
        targets: [ErasureTarget]
    ) async throws(EventLogError) -> [ErasureException] {
        var taken = Set(targets.map(\.stream))
        var found: [ErasureException] = []
        for (name, environment) in try await places(of: customer) {
            let known = try await self.customer(name, in: environment)
            for ambiguity in known.ambiguous where taken.insert(ambiguity.stream).inserted {
                let reason = ErasureException.Reason.severalCustomers(ambiguity.customerIds)
                found.append(ErasureException(stream: ambiguity.stream, reason: reason))
            }
            let left = known.streams.filter { !taken.contains($0.stream) }
            let others = Set(left.flatMap(\.tokens)).sorted()
            for stream in left where taken.insert(stream.stream).inserted {
                let reason: ErasureException.Reason =
                    stream.tokens.isEmpty ? .sharedWith(others) : .otherTokens(stream.tokens)
                found.append(ErasureException(stream: stream.stream, reason: reason))
            }
        }
        return found
    }

    /// What erasing these targets would remove; nothing is changed.
    ///
    /// - Parameter targets: What is to be erased.
    /// - Returns: The erasures, one for each subscription, including those that only share
    ///   payloads; empty if nothing is left to erase. `erase` returns the same unless something is
    ///   written in the meantime.
    /// - Throws: `EventLogError`.
    public func plannedErasures(
        of targets: [ErasureTarget]
    ) async throws(EventLogError) -> [StreamErasure] {
        var planned: [StreamErasure] = []
        for target in targets { planned += try await log.plannedErasure(of: target) }
        return planned.mergedByStream
    }

    /// Erases subscription by subscription; after an interruption, the same call completes it.
    ///
    /// - Parameters:
    ///   - targets: What is to be erased.
    ///   - reason: Why, and by whom.
    ///   - withSiblings: Whether other subscriptions may lose payloads that they share with these.
    ///   - progress: Called with each erasure once it is durable; called several times for a
    ///     subscription that shares payloads with others.
    /// - Returns: What was erased, one for each subscription; empty if nothing was left to erase.
    /// - Throws: `Rejection` if the reason exceeds its limits; `EventLogError`: `sharedPayloads`
    ///   before anything was erased, `permissionDenied`, `databaseUnavailable`.
    public func erase(
        _ targets: [ErasureTarget],
        reason: ErasureReason,
        withSiblings: Bool,
        progress: (StreamErasure) -> Void = { _ in }
    ) async throws -> [StreamErasure] {
        if let refusal = ErasureStatement.refusal(
            reason: reason.text,
            erasedBy: reason.statedBy
        ) {
            throw Rejection(.claimMalformed, "erase: \(refusal)")
        }

        let own = Set(targets.map(\.stream))
        var sharing = own
        let others = try await plannedErasures(of: targets).map(\.stream).filter {
            !own.contains($0)
        }
        if withSiblings {
            sharing.formUnion(others)
        } else if !others.isEmpty {
            throw EventLogError.sharedPayloads(Array(Set(others)).sorted())
        }

        var erased: [StreamErasure] = []
        for target in targets {
            let done = try await log.erase(target, sharingWith: sharing) { stream, erasure, now in
                ErasureStatement(
                    stream: stream,
                    erasure: erasure,
                    erasedBy: reason.statedBy,
                    reason: reason.text,
                    erasedAt: now
                ).verified(source: Ledger.operatorSource, receivedAt: now)
            }
            for erasure in done { progress(erasure) }
            erased += done
        }
        return erased.mergedByStream
    }
}

extension CustomerStream {
    /// Whether all its tokens are among these.
    fileprivate func isOnly(of tokens: Set<Owner>) -> Bool {
        self.tokens.allSatisfy { tokens.contains(.appAccountToken($0)) }
    }
}

extension StreamClaims {
    /// Whether a link now gives the subscription to another customer.
    fileprivate func isLinkedToOther(than customer: String) -> Bool {
        linkedCustomer.map { !customer.isSameName(as: $0) } ?? false
    }
}

extension String {
    // A UUID names the same customer in either letter case, because as a token it does, too.
    fileprivate func isSameName(as other: String) -> Bool {
        let own = spellingsOfUUID.map { FieldValue.text($0) }
        return other.spellingsOfUUID.contains { own.contains(.text($0)) }
    }
}
