public import EventLog
public import Events
public import Projections

extension Ledger {
    /// All subscriptions of a customer in one environment, with who claimed them when.
    ///
    /// Found by the app's own id for the customer, an app account token, an `appTransactionId`, a
    /// transaction id or an original transaction id. Folded directly from the log.
    ///
    /// - Parameters:
    ///   - name: Any of the customer's ids.
    ///   - environment: Where the purchases were made; environments are never mixed.
    ///   - knownAt: How much of the log is used.
    /// - Returns: The customer; without any subscription if nothing is known of the id.
    /// - Throws: `tooManyStreams` above `EventLog.customerStreamsMax`, `databaseUnavailable`.
    public func customer(
        _ name: String,
        in environment: StoreEnvironment = .production,
        knownAt: KnownAt = .latest
    ) async throws(EventLogError) -> Customer {
        try await CustomerSearch.finished(name, in: environment, knownAt: knownAt, log).customer
    }

    /// The customer of a subscription; nil, after a notice, if there are too many subscriptions.
    func customer(
        of stream: StreamID,
        ifTooMany notice: (String) -> Void = { _ in }
    ) async throws(EventLogError) -> Customer? {
        do throws(EventLogError) {
            return try await customer(stream.originalTransactionId, in: stream.environment)
        } catch {
            guard error.code == .tooManyStreams else { throw error }
            notice(error.message)
            return nil
        }
    }

    /// The environments in which an id leads to any subscription, in the order of listings.
    public func environments(
        ofCustomer name: String
    ) async throws(EventLogError) -> [StoreEnvironment] {
        let streams = try await log.streams(with: [
            .originalTransactionId(name), .customer(name), .appAccountToken(name),
            .transactionId(name), .appTransactionId(name), .webOrderLineItemId(name),
            .previousOriginalTransactionId(name),
        ])
        let found = Set(streams.map(\.environment))
        return found.sorted { $0.word.utf8.lexicographicallyPrecedes($1.word.utf8) }
    }
}
