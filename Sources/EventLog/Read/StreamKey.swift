public import Events
internal import Postgres

/// A key for looking up a subscription.
///
/// Texts are compared by bytes, except tokens; an empty one matches nothing.
public enum StreamKey: Hashable, Sendable {
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
    /// A payload that proved or confirmed anything about it: subscriptions in one app receipt
    /// belong to one Apple account.
    case payload(Digest)
}

extension EventLog {
    /// The most subscriptions that one look-up returns.
    ///
    /// A person has few, even after years of expired trials, and all of them are read and folded at
    /// once to answer about one customer. A key with more is not a person's: an app may give every
    /// user the same token.
    public static let customerStreamsMax = 1000

    /// The subscriptions that any of these keys leads to, sorted, in one round trip.
    ///
    /// - Parameter keys: What to look up; memory grows with their number.
    /// - Returns: The subscriptions of every environment, each once.
    /// - Throws: `tooManyStreams` if the keys of one kind lead to more than `customerStreamsMax`,
    ///   `databaseUnavailable`.
    public func streams(with keys: [StreamKey]) async throws(EventLogError) -> [StreamID] {
        try await streams(withEach: [keys])[0]
    }

    /// The same for each of several groups of keys, in one round trip.
    package func streams(
        withEach groups: [[StreamKey]]
    ) async throws(EventLogError) -> [[StreamID]] {
        let asked = groups.enumerated().flatMap { index, keys in
            Dictionary(grouping: keys.filter { !$0.isEmpty }) { $0.place(among: identity.lanes) }
                .sorted { $0.key < $1.key }
                .map { (group: index, place: $0.key, keys: $0.value) }
        }
        guard !asked.isEmpty else { return groups.map { _ in [] } }
        let statements = asked.map { look in
            PostgresStatement(
                look.place.kind.sql,
                look.place.parameters(look.keys)
                    + [.int8(Int64(EventLog.customerStreamsMax + 1))]
            )
        }
        let found = try await reading("look up subscriptions") { session in
            try await session.lookUp(statements).map { rows in
                try rows.map { row in
                    StreamID(
                        environment: Environment(try row.text(0)),
                        originalTransactionId: try row.text(1)
                    )
                }
            }
        }
        var streams = [Set<StreamID>](repeating: [], count: groups.count)
        for (look, found) in zip(asked, found) {
            guard found.count <= EventLog.customerStreamsMax else {
                throw EventLogError.tooManyStreams(look.keys[0].text, look.place.kind.name)
            }
            streams[look.group].formUnion(found)
        }
        return streams.map { $0.sorted() }
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

extension StreamKey {
    fileprivate var kind: StreamKeyKind {
        switch self {
        case .originalTransactionId: .originalTransactionId
        case .customer: .customer
        case .appAccountToken: .appAccountToken
        case .transactionId: .transactionId
        case .webOrderLineItemId: .webOrderLineItemId
        case .appTransactionId: .appTransactionId
        case .previousOriginalTransactionId: .previousOriginalTransactionId
        case .payload: .payload
        }
    }

    // An id decides its lane, so the look-up reads one server of a distributed ledger; other keys
    // may lead anywhere.
    fileprivate func place(among lanes: LaneCount) -> KeyPlace {
        if case .originalTransactionId(let id) = self {
            KeyPlace(kind: kind, lane: lanes.lane(of: id))
        } else {
            KeyPlace(kind: kind, lane: nil)
        }
    }

    // The key as text and, except for payloads, as an SQL parameter.
    fileprivate var text: String {
        switch self {
        case .originalTransactionId(let text), .customer(let text), .appAccountToken(let text),
            .transactionId(let text), .webOrderLineItemId(let text), .appTransactionId(let text),
            .previousOriginalTransactionId(let text):
            text
        case .payload(let digest): digest.hex
        }
    }

    fileprivate var isEmpty: Bool { text.isEmpty }
}

/// Where one statement looks keys up.
private struct KeyPlace: Hashable, Comparable {
    let kind: StreamKeyKind
    /// The only lane; nil for all.
    let lane: Int?

    static func < (left: KeyPlace, right: KeyPlace) -> Bool {
        (left.kind.rawValue, left.lane ?? -1) < (right.kind.rawValue, right.lane ?? -1)
    }

    /// The keys as parameters of the kind's statement, without the limit.
    func parameters(_ keys: [StreamKey]) -> [PostgresValue] {
        lane.map { [.int4(Int32($0))] + kind.parameters(keys) } ?? kind.parameters(keys)
    }
}

/// Keys of one kind, and of one lane if they decide it, are looked up by one statement.
private enum StreamKeyKind: Int {
    case originalTransactionId, customer, appAccountToken, transactionId, webOrderLineItemId
    case appTransactionId, previousOriginalTransactionId, payload

    /// The kind as text.
    var name: String {
        switch self {
        case .originalTransactionId: "original transaction id"
        case .customer: "customer"
        case .appAccountToken: "app account token"
        case .transactionId: "transaction id"
        case .webOrderLineItemId: "web order line item id"
        case .appTransactionId: "app transaction id"
        case .previousOriginalTransactionId: "previous original transaction id"
        case .payload: "payload"
        }
    }

    /// The keys as parameters of `sql`, without lane and limit.
    func parameters(_ keys: [StreamKey]) -> [PostgresValue] {
        let texts = keys.map(\.text)
        switch self {
        case .appAccountToken: return [.textArray(texts.flatMap(\.spellingsOfUUID))]
        case .payload:
            let digests = keys.compactMap {
                if case .payload(let digest) = $0 { digest.bytes } else { nil }
            }
            // The beginnings are what the index has.
            return [.byteaArray(digests), .byteaArray(digests.map { Array($0.prefix(7)) })]
        default: return [.textArray(texts)]
        }
    }

    // DISTINCT before LIMIT: a stream has one event per renewal, but counts once.
    var sql: String {
        switch self {
        case .originalTransactionId:
            """
            SELECT DISTINCT environment, original_transaction_id FROM ledger.event
            WHERE lane = $1 AND original_transaction_id = ANY ($2) LIMIT $3
            """
        case .customer:
            """
            SELECT DISTINCT environment, original_transaction_id FROM ledger.event
            WHERE customer_id = ANY ($1) LIMIT $2
            """
        case .appAccountToken:
            """
            SELECT DISTINCT environment, original_transaction_id FROM ledger.event
            WHERE app_account_token = ANY ($1) AND original_transaction_id <> '' LIMIT $2
            """
        case .transactionId:
            """
            SELECT environment, original_transaction_id FROM ledger.event
            WHERE transaction_id = ANY ($1) AND original_transaction_id <> ''
            UNION SELECT environment, original_transaction_id FROM ledger.confirmation
            WHERE transaction_ids && $1 AND original_transaction_id <> ''
            LIMIT $2
            """
        case .webOrderLineItemId:
            """
            SELECT DISTINCT environment, original_transaction_id FROM ledger.event
            WHERE web_order_line_item_id = ANY ($1) AND original_transaction_id <> '' LIMIT $2
            """
        case .appTransactionId:
            // Consumables have tag 5, `type`; a person may have more of these than any answer
            // accepts.
            """
            SELECT DISTINCT environment, original_transaction_id FROM ledger.event
            WHERE app_transaction_id = ANY ($1) AND original_transaction_id <> ''
                AND (expires_date_ms <> 0
                    OR ledger.content_text(content, 5) IS DISTINCT FROM 'Consumable')
            LIMIT $2
            """
        case .previousOriginalTransactionId:
            // Matches the index: the format is that of a signed transaction, the byte the tag of
            // previousOriginalTransactionId.
            """
            SELECT DISTINCT environment, original_transaction_id FROM ledger.event
            WHERE substr(content, 2, 1) = '\\x01'::bytea
                AND position('\\x18'::bytea IN content) > 0
                AND ledger.content_text(content, 24) IS NOT NULL
                AND ledger.content_text(content, 24) COLLATE "C" = ANY ($1)
                AND original_transaction_id <> ''
            LIMIT $2
            """
        case .payload:
            // Everything that cites a payload is in the commit that brought it.
            """
            WITH proof AS (
                SELECT c.lane, c.commit_no, c.first_offset, c.count, v.evidence_no
                FROM ledger.evidence v JOIN ledger.commit c USING (lane, commit_no)
                WHERE v.digest = ANY ($1) AND substr(v.digest, 1, 7) = ANY ($2))
            SELECT e.environment, e.original_transaction_id
            FROM proof p JOIN ledger.event e ON e.lane = p.lane AND e.lane_offset >= p.first_offset
                AND e.lane_offset < p.first_offset + p.count AND e.evidence_no = p.evidence_no
            WHERE e.environment <> '' AND e.original_transaction_id <> ''
            UNION
            SELECT c.environment, c.original_transaction_id
            FROM proof p JOIN ledger.confirmation c ON c.lane = p.lane AND c.commit_no = p.commit_no
                CROSS JOIN LATERAL \(EventRows.repetitions) r
            WHERE r.evidence_no = p.evidence_no
                AND c.environment <> '' AND c.original_transaction_id <> ''
            LIMIT $3
            """
        }
    }
}
