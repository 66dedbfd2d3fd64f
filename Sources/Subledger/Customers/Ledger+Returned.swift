internal import EventLog
public import Events

/// A subscription that names the person of an erased customer again.
public struct ReturnedCustomer: Codable, Hashable, Sendable {
    /// Apple's id of the subscription.
    public let originalTransactionId: String
    /// Where the purchases were made.
    public let environment: StoreEnvironment
    /// Its first event with an app account token that came after the erasure.
    public let position: Position
    /// Apple's id of the subscription that was erased.
    public let erased: String
    /// The event that erased it.
    public let erasure: Position
}

extension Ledger {
    /// The subscriptions that came after an erasure of their customer and name that person again.
    ///
    /// An erasure covers the subscriptions that the log had. It keeps nothing by which the person
    /// could be recognised later: what can be compared with a token can be guessed from it, too. Two
    /// subscriptions of one Apple Account still share its `appTransactionId`, which Apple gave it
    /// for this app and which identifies nobody elsewhere; that is how these are found. Purchases
    /// from before Apple introduced the id, and accounts that share a customer, are not.
    ///
    /// - Returns: The first event of each subscription, by erasure.
    /// - Throws: `EventLogError`.
    public func returnedCustomers() async throws(EventLogError) -> [ReturnedCustomer] {
        var found: [ReturnedCustomer] = []
        for erasure in try await log.erasures() {
            guard let removed = Erasure(erasure.fact.content), removed.scope == .customer else {
                continue
            }
            let erased = erasure.fact.stream
            let ids = Set(
                try await log.history(of: erased).events.compactMap {
                    $0.fact.content.text(.appTransactionId)
                }
            )
            let keys = ids.sorted().map(StreamKey.appTransactionId)
            guard !keys.isEmpty else { continue }

            for stream in try await log.streams(with: keys).sorted()
            where stream != erased && stream.environment == erased.environment {
                let returned = try await log.history(of: stream).events.first {
                    $0.recordedAt >= erasure.recordedAt
                        && $0.fact.content.text(.appAccountToken) != nil
                }
                guard let returned else { continue }
                found.append(
                    ReturnedCustomer(
                        originalTransactionId: stream.originalTransactionId,
                        environment: stream.environment,
                        position: returned.position,
                        erased: erased.originalTransactionId,
                        erasure: erasure.position
                    )
                )
            }
        }
        return found
    }
}
