internal import Events
internal import Postgres

/// One statement that looks subscriptions up by keys.
///
/// A statement without a lane goes to every shard of a distributed ledger. So keys that may lead
/// anywhere share one statement: its conditions are an OR over the indexes of one table.
struct StreamLookUp {
    /// The keys, by their kind; a kind that cannot share a statement has its own.
    private let keys: [(kind: StreamKeyKind, keys: [StreamKey])]
    /// The only lane; nil for all.
    private let lane: Int?

    /// The statements that together look up all these keys.
    ///
    /// - Parameters:
    ///   - keys: What to look up.
    ///   - lanes: The number of lanes of the ledger.
    ///   - places: The lanes to search for keys that decide none; nil for all.
    /// - Returns: The statements; each is sent to one lane, or to all.
    static func all(
        for keys: [StreamKey],
        _ lanes: LaneCount,
        in places: [Int]? = nil
    ) -> [StreamLookUp] {
        let anywhere = places.map { $0.map(Optional.some) } ?? [nil]
        let kinds = Dictionary(grouping: keys, by: \.kind)
            .sorted { $0.key.rawValue < $1.key.rawValue }
        var lookUps: [StreamLookUp] = []
        var shared: [(kind: StreamKeyKind, keys: [StreamKey])] = []
        for (kind, keys) in kinds {
            switch kind {
            case .originalTransactionId:
                let places = Dictionary(grouping: keys) { lanes.lane(of: $0.text) }
                lookUps += places.map { StreamLookUp(keys: [(kind, $1)], lane: $0) }
            case .receipt:
                lookUps += anywhere.map { StreamLookUp(keys: [(kind, keys)], lane: $0) }
            default: shared.append((kind, keys))
            }
        }
        if !shared.isEmpty { lookUps += anywhere.map { StreamLookUp(keys: shared, lane: $0) } }
        return lookUps
    }

    /// The same, with a statement for each kind of keys.
    var parts: [StreamLookUp] { keys.map { StreamLookUp(keys: [$0], lane: lane) } }

    /// The error for keys of one kind that lead to more than `EventLog.customerStreamsMax`.
    var tooManyStreams: EventLogError {
        .tooManyStreams(keys.first?.keys.first?.text ?? "", keys.first?.kind.name ?? "")
    }

    /// It returns `EventLog.customerStreamsMax` subscriptions, and one more if there are more.
    var statement: PostgresStatement {
        let place = lane.map { [PostgresValue.int4(Int32($0))] } ?? []
        return PostgresStatement(
            sql,
            keys.flatMap { $0.kind.parameters($0.keys) }
                + [.int8(Int64(EventLog.customerStreamsMax + 1))] + place
        )
    }

    /// The subscriptions in its rows.
    static func streams(in rows: PostgresRows) throws -> [StreamID] {
        try rows.map { try $0.stream(0) }
    }

    private var sql: String {
        switch keys.first?.kind {
        case .originalTransactionId:
            """
            SELECT DISTINCT environment, original_transaction_id FROM ledger.event
            WHERE original_transaction_id = ANY ($1) AND lane = $3 LIMIT $2
            """
        case .receipt: receiptSQL
        default: sharedSQL
        }
    }

    // DISTINCT before LIMIT: a stream has one event per renewal, but counts once. Only the kinds
    // that are asked for are in the statement, because one that leads to half the table would make
    // PostgreSQL read all of it. `lane` is there for Citus, which then asks each shard once.
    private var sharedSQL: String {
        let limit = keys.count + 1
        let place = lane == nil ? "" : " AND lane = $\(limit + 1)"
        let numbered = keys.enumerated().map { (kind: $1.kind, parameter: "$\($0 + 1)") }
        let conditions = numbered.compactMap { $0.kind.condition($0.parameter) }
        let owner =
            numbered.first { $0.kind == .customer }
            .map { " OR customer_id = ANY (\($0.parameter))" } ?? ""
        let events = """
            SELECT lane, environment, original_transaction_id FROM ledger.event
            WHERE (\(conditions.joined(separator: " OR ")))
                AND (original_transaction_id <> ''\(owner))\(place)
            """
        let confirmations = numbered.first { $0.kind == .transactionId }.map {
            """
             UNION ALL
            SELECT lane, environment, original_transaction_id FROM ledger.confirmation
            WHERE transaction_ids && \($0.parameter) AND original_transaction_id <> ''\(place)
            """
        }
        return """
            SELECT DISTINCT environment, original_transaction_id
            FROM (\(events)\(confirmations ?? "")) AS found LIMIT $\(limit)
            """
    }

    // Everything that cites a payload is in the commit that brought it. An index has the beginnings
    // of the digests.
    private var receiptSQL: String {
        func place(_ table: String) -> String { lane == nil ? "" : " AND \(table).lane = $4" }
        return """
            WITH proof AS (
                SELECT c.lane, c.commit_no, c.first_offset, c.count, v.evidence_no
                FROM ledger.evidence v JOIN ledger.commit c USING (lane, commit_no)
                WHERE v.digest = ANY ($1) AND substr(v.digest, 1, 7) = ANY ($2)
                    AND v.kind IN (\(StreamLookUp.receiptKinds))\(place("v")))
            SELECT e.environment, e.original_transaction_id
            FROM proof p JOIN ledger.event e ON e.lane = p.lane AND e.lane_offset >= p.first_offset
                AND e.lane_offset < p.first_offset + p.count AND e.evidence_no = p.evidence_no
            WHERE e.environment <> '' AND e.original_transaction_id <> ''\(place("e"))
            UNION
            SELECT c.environment, c.original_transaction_id
            FROM proof p JOIN ledger.confirmation c ON c.lane = p.lane AND c.commit_no = p.commit_no
                CROSS JOIN LATERAL \(EventRows.repetitions) r
            WHERE r.evidence_no = p.evidence_no
                AND c.environment <> '' AND c.original_transaction_id <> ''\(place("c"))
            LIMIT $3
            """
    }
}

extension StreamLookUp {
    /// The kinds of payloads that join subscriptions, as a list in SQL.
    static let receiptKinds = PayloadKind.receipts.map { "'\($0.rawValue)'" }
        .joined(separator: ", ")

    /// Selects events that name the subscription which they continue.
    ///
    /// Matches the index: the format is that of a signed transaction, the byte the tag of
    /// previousOriginalTransactionId.
    static let isContinuation = """
        substr(content, 2, 1) = '\\x01'::bytea AND position('\\x18'::bytea IN content) > 0
            AND ledger.content_text(content, 24) IS NOT NULL
        """
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
        case .receipt: .receipt
        }
    }

    // The key as text and, except for receipts, as an SQL parameter.
    fileprivate var text: String {
        switch self {
        case .originalTransactionId(let text), .customer(let text), .appAccountToken(let text),
            .transactionId(let text), .webOrderLineItemId(let text), .appTransactionId(let text),
            .previousOriginalTransactionId(let text):
            text
        case .receipt(let digest): digest.hex
        }
    }

    /// Whether it matches nothing: an empty text, or a placeholder where only an identity counts.
    var isEmpty: Bool {
        switch self {
        case .appAccountToken(let text), .webOrderLineItemId(let text),
            .appTransactionId(let text):
            text.isPlaceholder
        default: text.isEmpty
        }
    }

    /// Its keys in the directory of lanes: none if it decides its lane.
    var directoryKeys: [Int64] {
        switch self {
        case .originalTransactionId: []
        case .receipt(let digest): [LaneDirectory.key(digest)]
        case .appAccountToken(let token): token.spellingsOfUUID.map { LaneDirectory.key($0.utf8) }
        default: [LaneDirectory.key(text.utf8)]
        }
    }

    /// Its kind and text: strings compare by their characters, keys by their bytes.
    var bytes: [UInt8] { [UInt8(kind.rawValue)] + text.utf8 }
}

private enum StreamKeyKind: Int {
    case originalTransactionId, customer, appAccountToken, transactionId, webOrderLineItemId
    case appTransactionId, previousOriginalTransactionId, receipt

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
        case .receipt: "receipt"
        }
    }

    /// The keys as parameters of a statement, without lane and limit.
    func parameters(_ keys: [StreamKey]) -> [PostgresValue] {
        let texts = keys.map(\.text)
        switch self {
        case .appAccountToken: return [.textArray(texts.flatMap(\.spellingsOfUUID))]
        case .receipt:
            let digests = keys.compactMap {
                if case .receipt(let digest) = $0 { digest.bytes } else { nil }
            }
            return [.byteaArray(digests), .byteaArray(digests.map { Array($0.prefix(7)) })]
        default: return [.textArray(texts)]
        }
    }

    /// Selects events by keys that may lead anywhere; nil for kinds with a statement of their own.
    func condition(_ parameter: String) -> String? {
        switch self {
        case .originalTransactionId, .receipt: nil
        case .customer: "customer_id = ANY (\(parameter))"
        case .appAccountToken: "app_account_token = ANY (\(parameter))"
        case .transactionId: "transaction_id = ANY (\(parameter))"
        case .webOrderLineItemId: "web_order_line_item_id = ANY (\(parameter))"
        case .appTransactionId:
            // Consumables have tag 5, `type`; a person may have more of these than any answer
            // accepts.
            """
            (app_transaction_id = ANY (\(parameter)) AND (expires_date_ms <> 0
                OR ledger.content_text(content, 5) IS DISTINCT FROM 'Consumable'))
            """
        case .previousOriginalTransactionId:
            """
            (\(StreamLookUp.isContinuation)
                AND ledger.content_text(content, 24) COLLATE "C" = ANY (\(parameter)))
            """
        }
    }
}
