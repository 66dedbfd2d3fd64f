internal import EventLog
internal import Events
internal import Projections

/// Reads whatever may belong to a customer: more than that does no harm, less would be wrong.
///
/// Whatever is found is followed wherever its bonds lead, also what a link gives to another
/// customer: before that link and after its unlink its bonds stand (`Customer.streams(ownedAt:)`).
struct CustomerSearch {
    let log: EventLog
    let name: String
    let environment: Environment
    let knownAt: KnownAt

    private var customerId: String?
    private var seen: Set<StreamID> = []
    private var found: [CustomerStream] = []
    private var asked: Set<CustomerBond> = []

    init(log: EventLog, name: String, environment: Environment, knownAt: KnownAt) {
        self.log = log
        self.name = name
        self.environment = environment
        self.knownAt = knownAt
    }

    /// The customer of the name.
    mutating func customer() async throws(EventLogError) -> Customer {
        var next = [stream(name)]
        next += try await look([
            .appAccountToken(name), .transactionId(name), .webOrderLineItemId(name),
            .appTransactionId(name, bundleId: ""), .previousOriginalTransactionId(name),
        ])
        while true {
            while !next.isEmpty { next = try await neighbours(of: try await read(next)) }
            let customer = Customer(name, in: environment, among: found)
            // Whom a group leads to does not change any more; what else they have is read now.
            guard let id = customer.customerId, customerId == nil else { return customer }
            customerId = id
            next = try await look([.appAccountToken(id)])
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
            guard !history.events.isEmpty else { continue }
            new.append(CustomerStream(history, receipts: try await log.receipts(of: history)))
        }
        found += new
        return new
    }

    private mutating func neighbours(
        of new: [CustomerStream]
    ) async throws(EventLogError) -> [StreamID] {
        // Every spelling of a token leads to what was signed with it.
        let bonds = new.flatMap { stream in
            stream.tokens.map { CustomerBond.appAccountToken($0) } + stream.bonds
        }
        return try await look(bonds)
    }

    // Each value is asked for once, all of a kind together.
    private mutating func look(
        _ bonds: [CustomerBond]
    ) async throws(EventLogError) -> [StreamID] {
        var (tokens, appTransactions, transactions): ([String], [String], [String]) = ([], [], [])
        var (lineItems, continued): ([String], [String]) = ([], [])
        var receipts: [Digest] = []
        for bond in bonds {
            // Tokens of another spelling are equal, and another look-up.
            if case .appAccountToken(let token) = bond {
                tokens.append(token)
            } else if asked.insert(bond).inserted {
                switch bond {
                case .appAccountToken: break
                case .appTransactionId(let id, _): appTransactions.append(id)
                case .appReceipt(let digest): receipts.append(digest)
                case .transactionId(let id): transactions.append(id)
                case .webOrderLineItemId(let id): lineItems.append(id)
                case .previousOriginalTransactionId(let id): continued.append(id)
                }
            }
        }
        // A token may be the app's own name for the customer.
        return try await log.streams(ofAppAccountTokens: tokens)
            + log.streams(ofCustomers: tokens.flatMap(\.spellingsOfUUID))
            + log.streams(ofAppTransactionIds: appTransactions)
            + log.streams(provenBy: receipts)
            + log.streams(ofTransactionIds: transactions)
            + log.streams(ofWebOrderLineItemIds: lineItems)
            + log.streams(continuing: continued)
            + continued.map(stream)
    }

    private func stream(_ id: String) -> StreamID {
        StreamID(environment: environment, originalTransactionId: id)
    }
}
