public import EventLog
public import Events
public import Projections

extension Ledger {
    /// All subscriptions of a customer in one environment, with who claimed them when.
    ///
    /// Found by the app's own name for the customer, an app account token, a transaction id or an
    /// original transaction id. Folded from the log; no table stands between.
    ///
    /// - Parameters:
    ///   - name: Any of the customer's names.
    ///   - environment: Where the purchases were made; environments are never mixed.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The customer; without any subscription where nothing is known of the name.
    /// - Throws: `tooManyStreams` above `EventLog.customerStreamsMax`, `databaseUnavailable`.
    public func customer(
        _ name: String,
        in environment: Environment = .production,
        knownAt: KnownAt = .latest
    ) async throws(EventLogError) -> Customer {
        var search = CustomerSearch(
            log: log,
            name: name,
            environment: environment,
            knownAt: knownAt
        )
        return try await search.customer()
    }

    /// The environments in which a name leads to any subscription, in the order of listings.
    public func environments(
        ofCustomer name: String
    ) async throws(EventLogError) -> [Environment] {
        var found = Set(try await log.environments(of: name))
        found.formUnion(try await log.streams(ofCustomer: name).map(\.environment))
        found.formUnion(try await log.streams(ofAppAccountTokens: [name]).map(\.environment))
        found.formUnion(try await log.streams(ofTransactionIds: [name]).map(\.environment))
        return found.sorted { $0.word.utf8.lexicographicallyPrecedes($1.word.utf8) }
    }
}

/// Reads whatever may belong to a customer: more than that does no harm, less would be wrong.
///
/// What no link gives away is followed wherever it leads; what a link gives to another customer is
/// read, for it may make something ambiguous, and not followed, so that one transfer does not draw in
/// the accounts of two people.
private struct CustomerSearch {
    let log: EventLog
    let name: String
    let environment: Environment
    let knownAt: KnownAt

    private var customerId: String?
    private var seen: Set<StreamID> = []
    private var found: [CustomerStream] = []
    private var others: [CustomerStream] = []
    private var asked: Set<Key> = []

    /// Something that leads to subscriptions; texts compared by their bytes.
    private enum Key: Hashable {
        case customer(FieldValue)
        case token(FieldValue)
        case transaction(FieldValue)
    }

    init(log: EventLog, name: String, environment: Environment, knownAt: KnownAt) {
        self.log = log
        self.name = name
        self.environment = environment
        self.knownAt = knownAt
    }

    /// The customer of the name.
    mutating func customer() async throws(EventLogError) -> Customer {
        var next = [StreamID(environment: environment, originalTransactionId: name)]
        next += try await look(customers: [name], tokens: [name], transactionIds: [name])
        while true {
            while !next.isEmpty { next = try await neighbours(of: try await read(next)) }
            let customer = Customer(name, in: environment, among: found)
            // Whom a group leads to does not change any more; what else they have is read now.
            guard let id = customer.customerId, customerId == nil else { return customer }
            customerId = id
            let waiting = others
            others = []
            next = try await look(customers: [id], tokens: [], transactionIds: [])
            next += try await neighbours(of: waiting)
        }
    }

    private mutating func read(
        _ streams: [StreamID]
    ) async throws(EventLogError) -> [CustomerStream] {
        var new: [CustomerStream] = []
        for stream in streams where stream.environment == environment {
            guard !stream.originalTransactionId.isEmpty, seen.insert(stream).inserted else {
                continue
            }
            guard seen.count <= EventLog.customerStreamsMax else {
                throw EventLogError.tooManyStreams(name, "name")
            }
            let history = try await log.history(of: stream, knownAt: knownAt)
            if !history.events.isEmpty { new.append(CustomerStream(history)) }
        }
        found += new
        return new
    }

    private mutating func neighbours(
        of new: [CustomerStream]
    ) async throws(EventLogError) -> [StreamID] {
        var followed: [CustomerStream] = []
        for stream in new {
            if let owner = stream.claims.linkedCustomer,
                customerId.map({ FieldValue.text($0) != .text(owner) }) ?? true
            {
                others.append(stream)
            } else {
                followed.append(stream)
            }
        }
        let previous = followed.flatMap(\.previousOriginalTransactionIds).map {
            StreamID(environment: environment, originalTransactionId: $0)
        }
        return previous
            + (try await look(
                customers: [],
                tokens: followed.flatMap(\.tokens),
                transactionIds: followed.flatMap(\.transactionIds)
            ))
    }

    // Each key is asked for once.
    private mutating func look(
        customers: [String],
        tokens: [String],
        transactionIds: [String]
    ) async throws(EventLogError) -> [StreamID] {
        var streams: [StreamID] = []
        for customer in customers where asked.insert(.customer(.text(customer))).inserted {
            streams += try await log.streams(ofCustomer: customer)
        }
        streams += try await log.streams(
            ofAppAccountTokens: tokens.filter { asked.insert(.token(.text($0))).inserted }
        )
        streams += try await log.streams(
            ofTransactionIds: transactionIds.filter {
                asked.insert(.transaction(.text($0))).inserted
            }
        )
        return streams
    }
}
