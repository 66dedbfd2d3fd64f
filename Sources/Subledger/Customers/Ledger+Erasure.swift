internal import AppStore
public import EventLog
internal import Events
internal import Projections

/// Why and by whom something is erased.
///
/// It stays in the log for ever, so it must not name a person.
public struct ErasureReason: Hashable, Sendable {
    /// The reason, for example a ticket or a law.
    ///
    /// At most `ErasureStatement.reasonByteCountMax` bytes, one line.
    public let text: String
    /// Who erases.
    ///
    /// At most `ErasureStatement.erasedByByteCountMax` bytes, one line.
    public let statedBy: String

    /// A reason; `erase` refuses one that is empty or too long.
    public init(_ text: String, by statedBy: String) {
        self.text = text
        self.statedBy = statedBy
    }
}

extension Ledger {
    /// What must be erased so that the log no longer contains the customer: those that name the
    /// customer last, so that an erasure that was interrupted finds the rest again.
    ///
    /// The subscriptions that a link ever gave the customer, those whose app account token is the
    /// name, and those with an app account token of the customer's own subscriptions; then what
    /// `customer` joins to them by what Apple says of the account. An erasure cannot be undone, so
    /// of the latter those stay that have a token of another account of the app, those that lead to
    /// several customers and, where no link names the customer, those without a token that count as
    /// much for another one (`erasureExceptions`). From a subscription that now belongs to another
    /// customer, only the links that name this one are removed.
    ///
    /// - Parameter customer: The app's own name for the customer, or an app account token.
    /// - Returns: The targets; empty where the log does not know the customer.
    /// - Throws: `EventLogError`.
    public func erasureTargets(
        ofCustomer customer: String
    ) async throws(EventLogError) -> [ErasureTarget] {
        let names = customer.spellingsOfUUID.map(StreamKey.customer)
        var streams = Set(try await log.streams(with: names + [.appAccountToken(customer)]))
        guard !streams.isEmpty else { return [] }
        let naming = streams
        // The tokens of the customer's own subscriptions name the customer wherever they stand.
        var tokens: Set<String> = []
        for stream in streams {
            let history = try await log.history(of: stream)
            guard !StreamClaims(Timeline(history)).isLinkedToOther(than: customer) else { continue }
            for event in history.events {
                if let token = event.fact.content.text(.appAccountToken) { tokens.insert(token) }
            }
        }
        streams.formUnion(
            try await log.streams(with: tokens.sorted().map(StreamKey.appAccountToken))
        )
        streams.formUnion(try await bonded(to: customer, tokens: tokens))
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

    // What is the customer's by bonds, and as much no other token's.
    private func bonded(
        to customer: String,
        tokens: Set<String>
    ) async throws(EventLogError) -> [StreamID] {
        let own = Set(tokens.map(Owner.appAccountToken))
        var found: [StreamID] = []
        for (name, environment) in try await places(of: customer) {
            let known = try await self.customer(name, in: environment)
            // A link decides whose the rest is; without one, two tokens have as much of it.
            let isShared =
                known.customerId == nil && known.streams.contains { !$0.isOnly(of: own) }
            found += known.streams.filter { stream in
                stream.isOnly(of: own) && !(isShared && stream.tokens.isEmpty)
            }.map(\.stream)
        }
        return found
    }

    // Where the customer is known, by each name that means them: links may spell a UUID otherwise.
    private func places(
        of customer: String
    ) async throws(EventLogError) -> [(name: String, Environment)] {
        var places: [(name: String, Environment)] = []
        for name in Set(customer.spellingsOfUUID).sorted() {
            for environment in try await environments(ofCustomer: name) {
                places.append((name, environment))
            }
        }
        return places
    }

    /// What counts as the customer's and is no target of their erasure, with the reason.
    ///
    /// - Parameters:
    ///   - customer: The app's own name for the customer, or an app account token.
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
    ///   payloads; empty if nothing is left to erase. `erase` returns the same unless something is written
    ///   meanwhile.
    /// - Throws: `EventLogError`.
    public func plannedErasures(
        of targets: [ErasureTarget]
    ) async throws(EventLogError) -> [StreamErasure] {
        var planned: [StreamErasure] = []
        for target in targets { planned += try await log.plannedErasure(of: target) }
        return planned.mergedByStream
    }

    /// Erases, subscription by subscription; after an interruption, the same call completes it.
    ///
    /// - Parameters:
    ///   - targets: What is to be erased.
    ///   - reason: Why, and by whom.
    ///   - withSiblings: Whether other subscriptions may lose payloads that they share with these.
    ///   - progress: Called with each erasure once it is durable: of a subscription that shares
    ///     payloads with others several times.
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
    /// Whether it has no token but these.
    fileprivate func isOnly(of tokens: Set<Owner>) -> Bool {
        self.tokens.allSatisfy { tokens.contains(.appAccountToken($0)) }
    }
}

extension StreamClaims {
    /// Whether a link gives the subscription to another customer now.
    fileprivate func isLinkedToOther(than customer: String) -> Bool {
        linkedCustomer.map { !customer.isSameName(as: $0) } ?? false
    }
}

extension String {
    // A UUID names the same customer in either case: as a token it does, too.
    fileprivate func isSameName(as other: String) -> Bool {
        let own = spellingsOfUUID.map { FieldValue.text($0) }
        return other.spellingsOfUUID.contains { own.contains(.text($0)) }
    }
}
