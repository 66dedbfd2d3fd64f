internal import EventLog
internal import Events
internal import Projections

/// Reads every subscription that may belong to a customer: reading too many does no harm, missing
/// one would be wrong.
///
/// Every bond of a subscription is followed, even if a link gives the subscription to another
/// customer: before that link and after its unlink its bonds apply (`Customer.streams(ownedAt:)`).
struct CustomerSearch {
    private let log: EventLog
    private let name: String
    private let environment: StoreEnvironment
    private let knownAt: KnownAt

    private var named: Set<StreamID> = []
    private var found: [CustomerStream] = []
    private var customerId: String?
    private var seen: Set<StreamID> = []
    private var asked: Set<StreamKey> = []

    /// The customer with an id, and what was read to find them; a question searches once.
    static func finished(
        _ name: String,
        in environment: StoreEnvironment,
        knownAt: KnownAt,
        _ log: EventLog
    ) async throws(EventLogError) -> Finished {
        let own = QuestionName("customer", [environment.word, name], knownAt: knownAt)
        if let made: Finished = log.made(own) { return made }
        var search = CustomerSearch(
            log: log,
            name: name,
            environment: environment,
            knownAt: knownAt
        )
        let customer = try await search.customer()
        let finished = Finished(customer: customer, named: search.named, found: search.found)
        log.keep(finished, as: own)
        return finished
    }

    /// The result of a search.
    struct Finished: Sendable {
        /// The customer with the id.
        let customer: Customer
        /// The subscriptions that have the name as an id of their own, whether or not anything was
        /// known of them then.
        let named: Set<StreamID>
        /// Every subscription that was read and of which anything was known then.
        let found: [CustomerStream]
    }

    private init(log: EventLog, name: String, environment: StoreEnvironment, knownAt: KnownAt) {
        self.log = log
        self.name = name
        self.environment = environment
        self.knownAt = knownAt
    }

    private mutating func customer() async throws(EventLogError) -> Customer {
        var next = [stream(name)] + (try await lookForName())
        while true {
            while !next.isEmpty { next = try await neighbours(of: try await read(next)) }
            let customer = Customer(name, in: environment, among: found)
            // The customer that a group leads to no longer changes; what else they have is read
            // now.
            guard let id = customer.customerId, customerId == nil else { return customer }
            customerId = id
            next = try await look([.customer(id), .appAccountToken(id)])
        }
    }

    private mutating func lookForName() async throws(EventLogError) -> [StreamID] {
        let others: [StreamKey] = [
            .customer(name), .appAccountToken(name), .appTransactionId(name),
            .previousOriginalTransactionId(name),
        ]
        asked.formUnion(SubjectID.ownKeys(name) + others)
        // A distributed ledger asks every shard for each group; a known id needs only one.
        if try await log.streams(with: [.originalTransactionId(name)]).contains(stream(name)) {
            named = [stream(name)]
            return try await log.streams(with: SubjectID.ownKeys(name) + others)
        }
        let streams = try await log.streams(withEach: [SubjectID.ownKeys(name), others])
        named = SubjectID.named(name, in: environment, among: streams[0])
        return streams[0] + streams[1]
    }

    private mutating func read(
        _ streams: [StreamID]
    ) async throws(EventLogError) -> [CustomerStream] {
        let unread = streams.filter { stream in
            stream.environment == environment && !stream.originalTransactionId.isEmpty
                && seen.insert(stream).inserted
        }
        guard seen.count <= EventLog.customerStreamsMax else {
            throw EventLogError.tooManyStreams(name, "name")
        }
        let folded = try await folds(of: unread)
        found += folded
        return folded
    }

    // Customers with different names share subscriptions; each is folded once for a question.
    private func folds(
        of unread: [StreamID]
    ) async throws(EventLogError) -> [CustomerStream] {
        var folded = [[CustomerStream]?](unread.map { log.made(fold(of: $0)) })
        let missing = unread.indices.filter { folded[$0] == nil }
        let histories = try await log.histories(of: missing.map { unread[$0] }, knownAt: knownAt)
        let known = histories.filter { !$0.events.isEmpty }
        var receipts = try await log.receipts(of: known)[...]
        for (index, history) in zip(missing, histories) {
            let own =
                history.events.isEmpty
                ? []
                : [
                    CustomerStream(history, receipts: receipts.removeFirst())
                ]
            log.keep(own, as: fold(of: unread[index]))
            folded[index] = own
        }
        return folded.flatMap { $0 ?? [] }
    }

    private func fold(of stream: StreamID) -> QuestionName {
        let ids = [stream.environment.word, stream.originalTransactionId]
        return QuestionName("subscription", ids, knownAt: knownAt)
    }

    private mutating func neighbours(
        of new: [CustomerStream]
    ) async throws(EventLogError) -> [StreamID] {
        var keys: [StreamKey] = []
        for stream in new {
            // Every spelling of a token leads to what was signed with it; a token may also be the
            // app's own id for the customer.
            for token in stream.tokens {
                keys.append(.appAccountToken(token))
                keys += token.spellingsOfUUID.map(StreamKey.customer)
            }
            keys += stream.bonds.map(\.streamKey)
        }
        return try await look(keys)
    }

    // Each key is looked up once.
    private mutating func look(_ keys: [StreamKey]) async throws(EventLogError) -> [StreamID] {
        let new = keys.filter { asked.insert($0).inserted }
        let continued = new.compactMap { key in
            if case .previousOriginalTransactionId(let id) = key { stream(id) } else { nil }
        }
        return try await log.streams(with: new) + continued
    }

    private func stream(_ id: String) -> StreamID {
        StreamID(environment: environment, originalTransactionId: id)
    }
}

extension CustomerBond {
    fileprivate var streamKey: StreamKey {
        switch self {
        case .appAccountToken(let token): .appAccountToken(token)
        case .appTransactionId(let id, bundleId: _): .appTransactionId(id)
        case .appReceipt(let digest): .receipt(digest)
        case .transactionId(let id): .transactionId(id)
        case .webOrderLineItemId(let id): .webOrderLineItemId(id)
        case .previousOriginalTransactionId(let id): .previousOriginalTransactionId(id)
        }
    }
}
