package import Events
internal import Postgres

/// A key for looking up a subscription.
///
/// Texts are compared by bytes, except tokens; an empty one matches nothing.
package enum StreamKey: Hashable, Sendable {
    /// Its own id.
    case originalTransactionId(String)
    /// A customer whom a link ever named; `StreamClaims` decides who the current owner is.
    case customer(String)
    /// A token that Apple ever stated for it.
    ///
    /// A UUID is found in lower case, in upper case and as given, because the log keeps the letters
    /// that Apple signed. One that was signed in mixed case is found only by that spelling, because
    /// the index is over what was signed.
    case appAccountToken(String)
    /// A transaction id, as an event's own or as the alias of a repetition (Apple's data: trap 4).
    case transactionId(String)
    /// A `webOrderLineItemId` of a purchase.
    case webOrderLineItemId(String)
    /// An id that Apple ever gave it, of one Apple account in one app; consumables are left out.
    case appTransactionId(String)
    /// The subscription that, according to Apple, it continues: after a migration the new one names
    /// the old one's `originalTransactionId`, but not vice versa.
    case previousOriginalTransactionId(String)
    /// An app receipt, verifyReceipt response or version 1 notification that proved or confirmed
    /// anything about it: subscriptions in one receipt belong to one Apple account.
    case receipt(Digest)

    /// Equal if of the same kind and with the same UTF-8, ignoring Unicode equivalence.
    package static func == (left: StreamKey, right: StreamKey) -> Bool {
        switch (left, right) {
        case (.originalTransactionId(let first), .originalTransactionId(let second)),
            (.customer(let first), .customer(let second)),
            (.appAccountToken(let first), .appAccountToken(let second)),
            (.transactionId(let first), .transactionId(let second)),
            (.webOrderLineItemId(let first), .webOrderLineItemId(let second)),
            (.appTransactionId(let first), .appTransactionId(let second)),
            (.previousOriginalTransactionId(let first), .previousOriginalTransactionId(let second)):
            areSameBytes(first, second)
        case (.receipt(let first), .receipt(let second)): first == second
        default: false
        }
    }

    /// Hashes what `==` compares.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .originalTransactionId(let text), .customer(let text), .appAccountToken(let text),
            .transactionId(let text), .webOrderLineItemId(let text), .appTransactionId(let text),
            .previousOriginalTransactionId(let text):
            hasher.combine(FieldValue.text(text))
        case .receipt(let digest): hasher.combine(digest)
        }
    }
}

extension EventLog {
    /// The most subscriptions that one look-up returns.
    ///
    /// A person has few, even after years of expired trials, and all of them are read and folded at
    /// once to answer about one customer. A key with more is not a person's: an app may give every
    /// user the same token.
    package static let customerStreamsMax = 1000

    /// The subscriptions that any of these keys leads to, sorted.
    ///
    /// In one round trip, and one more on a distributed ledger.
    ///
    /// - Parameter keys: What to look up; memory grows with their number.
    /// - Returns: The subscriptions of every environment, each once.
    /// - Throws: `tooManyStreams` if the keys of one kind lead to more than `customerStreamsMax`,
    ///   `databaseUnavailable`.
    package func streams(with keys: [StreamKey]) async throws(EventLogError) -> [StreamID] {
        try await streams(withEach: [keys])[0]
    }

    /// The same for each of several groups of keys.
    ///
    /// Within `onOneConnection`, a group that was looked up before is not looked up again.
    package func streams(
        withEach groups: [[StreamKey]]
    ) async throws(EventLogError) -> [[StreamID]] {
        let lanes = identity.lanes
        let groups = groups.map { keys in keys.filter { !$0.isEmpty } }
        var streams = groups.map { $0.isEmpty ? [] : questionReads?[$0] }
        let asked = groups.indices.filter { streams[$0] == nil }
        guard !asked.isEmpty else { return streams.map { $0 ?? [] } }
        let keys = asked.map { groups[$0] }
        let hasDirectory = hasDirectory
        let found = try await reading("look up subscriptions") { session in
            try await session.together { session in
                try EventLog.streams(withEach: keys, lanes, hasDirectory, in: session)
            }
        }
        for (index, found) in zip(asked, found) {
            streams[index] = found
            questionReads?[groups[index]] = found
        }
        return streams.map { $0 ?? [] }
    }

    private static func streams(
        withEach groups: [[StreamKey]],
        _ lanes: LaneCount,
        _ hasDirectory: Bool,
        in session: isolated PostgresSession
    ) throws -> [[StreamID]] {
        let places = hasDirectory ? try places(of: groups, lanes, in: session) : nil
        let lookUps = groups.enumerated().flatMap { index, keys in
            StreamLookUp.all(for: keys, lanes, in: places?[index]).map { (index, $0) }
        }
        let found = try session.lookUp(lookUps.map(\.1.statement)).map(StreamLookUp.streams)
        var streams = [Set<StreamID>](repeating: [], count: groups.count)
        for ((group, lookUp), found) in zip(lookUps, found) {
            streams[group].formUnion(try complete(found, of: lookUp, in: session))
        }
        // The limit applies to each kind of key, in all lanes together.
        for (group, found) in streams.enumerated()
        where places?[group] != nil && found.count > customerStreamsMax {
            for lookUp in StreamLookUp.all(for: groups[group], lanes) {
                let again = try session.lookUp([lookUp.statement]).map(StreamLookUp.streams)
                _ = try complete(again[0], of: lookUp, in: session)
            }
        }
        return streams.map { $0.sorted() }
    }

    // For each group, the lanes that its keys may lead to; nil for groups that are looked up in all
    // lanes, because one statement for all is faster than many.
    private static func places(
        of groups: [[StreamKey]],
        _ lanes: LaneCount,
        in session: isolated PostgresSession
    ) throws -> [[Int]?] {
        let asked = groups.map { LaneDirectory.places(of: $0, lanes) }
        return try session.lookUp(asked).map { rows in
            let places = try rows.map { Int(try $0.int4(0)) }
            return places.count > lanes.value / 2 ? nil : places.sorted()
        }
    }

    // The limit applies to each kind of key.
    private static func complete(
        _ found: [StreamID],
        of lookUp: StreamLookUp,
        in session: isolated PostgresSession
    ) throws -> [StreamID] {
        guard found.count > customerStreamsMax else { return found }
        let parts = lookUp.parts
        guard parts.count > 1 else { throw lookUp.tooManyStreams }
        let each = try session.lookUp(parts.map(\.statement)).map(StreamLookUp.streams)
        return try zip(parts, each).flatMap { try complete($1, of: $0, in: session) }
    }
}

extension EventLogError {
    /// The error for a customer with more subscriptions than a person has.
    public static func tooManyStreams(_ key: String, _ name: String) -> EventLogError {
        EventLogError(
            .tooManyStreams,
            "the \(name) \(key) identifies more than \(EventLog.customerStreamsMax) subscriptions, "
                + "more than one answer can cover; ask about one of them by its "
                + "originalTransactionId (`periods`, `state`, `explain --alone`)"
        )
    }
}
