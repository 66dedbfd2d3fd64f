package import EventLog
public import Events
internal import Projections

/// The subject of a question: any id that the ledger knows, and where the purchases were made.
public struct SubjectID: Hashable, Sendable {
    /// An original or another transaction id, an app account token in any letter case, an
    /// `appTransactionId`, a `webOrderLineItemId`, or the app's own id for a customer.
    public var id: String
    /// Where the purchases were made; nil for the one environment in which the id is known.
    ///
    /// Environments are never mixed. Questions about access and offers treat nil as production, so
    /// no purchase made elsewhere counts by accident.
    public var environment: StoreEnvironment?
    /// Whether only the subscription with the id is meant, and not all subscriptions of its
    /// customer.
    public var isAlone: Bool

    /// The subject with this id.
    public init(_ id: String, in environment: StoreEnvironment? = nil, alone: Bool = false) {
        self.id = id
        self.environment = environment
        isAlone = alone
    }
}

extension SubjectID {
    /// What an id may be, for help.
    package static let forms = """
        An originalTransactionId, another transactionId, a webOrderLineItemId, an appAccountToken \
        in any case, an appTransactionId, or the app's own name for a customer. If a question is \
        about one subscription, an id of a customer means their only subscription; ask about a \
        one-time purchase by its own id.
        """
    /// What `alone` means, for help.
    package static let meaningOfAlone =
        "Only the subscription that ID belongs to, not the customer's other subscriptions."
}

extension SubjectID: ExpressibleByStringLiteral {
    /// The subject with this id, in the one environment in which it is known.
    public init(stringLiteral value: String) { self.init(value) }
}

extension Ledger {
    /// The environment that a question about a subject is about.
    func environment(of subject: SubjectID) async throws -> StoreEnvironment {
        let own = try await log.environments(of: subject.id)
        guard own.isEmpty else { return try subject.environment(among: own) }
        let known = try await environments(ofCustomer: subject.id)
        guard !known.isEmpty else { throw try await unknown(subject) }
        return try subject.environment(among: known)
    }

    /// The subject of a question about production, in the one other environment that knows it; nil
    /// for a question about another environment, or if production or several others know it.
    func elsewhere(_ subject: SubjectID) async throws(EventLogError) -> SubjectID? {
        guard (subject.environment ?? .production) == .production else { return nil }
        let found = try await environments(ofCustomer: subject.id)
        guard let only = found.first, found.count == 1, only != .production else { return nil }
        return SubjectID(subject.id, in: only, alone: subject.isAlone)
    }

    /// The subscription that a question about one subscription means.
    ///
    /// - Parameters:
    ///   - subject: The subscription, or its customer.
    ///   - knownAt: How much of the log is used.
    ///   - isSubscription: Whether the customer's one-time purchases are not meant, unless they
    ///     bought nothing else.
    /// - Returns: Its id and environment.
    /// - Throws: `QuestionError` if the id names no subscription or several, or `knownAt` names a
    ///   position that does not exist; `EventLogError`.
    package func stream(
        of subject: SubjectID,
        knownAt: KnownAt = .latest,
        isSubscription: Bool = false
    ) async throws -> StreamID {
        let environment = try await environment(of: subject)
        let named = try await streams(named: subject.id, in: environment)
        if let only = named.first, named.count == 1 {
            try await check(knownAt, of: only)
            return only
        }
        let customer = try await customer(subject.id, in: environment)
        let subscriptions = customer.streams.filter { !$0.isOneTimePurchase }
        let meant = isSubscription && !subscriptions.isEmpty ? subscriptions : customer.streams
        guard let first = meant.first?.stream else { throw try await unknown(subject) }
        guard meant.count == 1 else { throw subject.several(meant) }
        try await check(knownAt, of: first)
        return first
    }

    /// Whether nothing was ever appended.
    package var isEmpty: Bool {
        get async throws(EventLogError) { try await log.heads().isEmpty }
    }

    /// The error for an id that nothing has.
    func unknown(_ subject: SubjectID) async throws -> QuestionError {
        do {
            guard try await isEmpty else { return subject.unknown }
        } catch {
            // A lane that may have the id was asked for it before.
            guard error.code == .lanesUnavailable else { throw error }
            return subject.unknown
        }
        return QuestionError(.emptyLedger, "this ledger is empty: it has no events yet")
    }

    /// The subscriptions that have the id, or a purchase with it: a question by such an id includes
    /// them, whoever has them.
    func streams(
        named id: String,
        in environment: StoreEnvironment
    ) async throws(EventLogError) -> Set<StreamID> {
        // Its own id decides the lane; the others may lead to every lane.
        let own = StreamID(environment: environment, originalTransactionId: id)
        guard try await !log.streams(with: [.originalTransactionId(id)]).contains(own) else {
            return [own]
        }
        let found = try await log.streams(with: SubjectID.ownKeys(id))
        return SubjectID.named(id, in: environment, among: found)
    }

    /// Refuses a position that the lane of a subscription does not have.
    func check(_ knownAt: KnownAt, of stream: StreamID) async throws {
        guard case .offsets(let offsets) = knownAt else { return }
        let lane = log.identity.lanes.lane(of: stream.originalTransactionId)
        try await PositionVector(offsets).check(
            "knownAt",
            naming: [lane],
            because: ", which holds \(stream.originalTransactionId)",
            in: log
        )
    }

    /// Refuses positions that do not exist in this ledger, for a question that may read every lane;
    /// an instant is always accepted.
    package func check(_ knownAt: KnownAt) async throws {
        guard case .offsets(let offsets) = knownAt else { return }
        try await PositionVector(offsets).check(
            "knownAt",
            because: ", and subscriptions may be in any lane",
            in: log
        )
    }
}

extension SubjectID {
    /// The most ids that an error lists.
    private static let namedMax = 10

    /// The keys of the subscriptions that have an id, or a purchase with it.
    static func ownKeys(_ id: String) -> [StreamKey] {
        [.originalTransactionId(id), .transactionId(id), .webOrderLineItemId(id)]
    }

    /// Which of the subscriptions found by `ownKeys` the id means.
    static func named(
        _ id: String,
        in environment: StoreEnvironment,
        among found: [StreamID]
    ) -> Set<StreamID> {
        let own = StreamID(environment: environment, originalTransactionId: id)
        if found.contains(own) { return [own] }
        return Set(found.filter { $0.environment == environment })
    }

    /// The one environment in which the id is known.
    func environment(among found: [StoreEnvironment]) throws(QuestionError) -> StoreEnvironment {
        let matching = environment.map { wanted in found.filter { $0 == wanted } } ?? found
        let known = found.map(\.word).joined(separator: ", ")
        guard let first = matching.first else {
            guard !found.isEmpty else { throw unknown }
            throw QuestionError(
                .otherEnvironment,
                "\(id) is unknown in \(environment?.word ?? ""), but known in \(known)"
            )
        }
        guard matching.count == 1 else {
            throw QuestionError(
                .severalEnvironments,
                "\(id) is known in several environments: \(known)"
            )
        }
        return first
    }

    fileprivate var unknown: QuestionError {
        let mayBeOrder = OrderID(id.withoutSurroundings)?.hasAppleLetter == true
        return QuestionError(
            .unknownId,
            "no subscription has \(id) as its original transaction, transaction, app account "
                + "token, appTransactionId, web order line item or customer"
                + (mayBeOrder
                    ? "; if it is the order id of an invoice, `subledger import -` asks Apple for "
                        + "its subscription" : "")
        )
    }

    /// The error for a question about one subscription by an id that names none.
    var noSubscription: QuestionError {
        QuestionError(
            .unknownId,
            "no subscription has the originalTransactionId \(id), which is another id of a customer "
                + "or of a purchase; ask about the customer"
        )
    }

    /// The error for a question about a customer by an id to which no purchase belongs.
    var noPurchase: QuestionError {
        QuestionError(
            .unknownId,
            "no purchase belongs to \(id): the ledger knows this id only from other statements, "
                + "such as renewal info about a period that has not begun"
        )
    }

    /// The error for a link that gives the customer an id that Apple gave to another customer's
    /// purchase.
    func ambiguous(with named: StreamID, _ customer: Customer) -> QuestionError {
        let theirs = customer.streams.first?.stream.originalTransactionId ?? ""
        return QuestionError(
            .ambiguousId,
            "\(id) is both the name of the customer who is linked to \(theirs) and an id of the "
                + "subscription \(named.originalTransactionId), which is not linked to them"
        )
    }

    fileprivate func several(_ streams: [CustomerStream]) -> QuestionError {
        let ids = streams.map(\.stream.originalTransactionId)
        let named = ids.prefix(SubjectID.namedMax).joined(separator: ", ")
        return QuestionError(
            .severalSubscriptions,
            "\(id) names a customer with \(streams.words), but this question is about one: "
                + named + (ids.count > SubjectID.namedMax ? ", …" : ""),
            subscriptions: ids
        )
    }
}
