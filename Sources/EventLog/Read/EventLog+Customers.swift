public import Events
internal import Postgres

extension EventLog {
    /// Most subscriptions that one look-up gives.
    ///
    /// Those of a person are few, also of one who lets trials lapse for years, and all of them are
    /// read and folded at once to answer about one customer. What leads to more is no person: a
    /// token that an app gives everybody.
    public static let customerStreamsMax = 1000

    /// The subscriptions that a link ever named any of these customers for, sorted; whose they are
    /// now is for `StreamClaims` to say. Names are compared by bytes.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        ofCustomers customers: [String]
    ) async throws(EventLogError) -> [StreamID] {
        try await streams(of: customers, by: EventLog.byCustomer, named: "customer")
    }

    /// The subscriptions in which Apple ever named any of these app account tokens, sorted.
    ///
    /// A UUID is found in lower case, in upper case and as it is given: the log keeps the letters
    /// that Apple signed. One that was signed in mixed case is found by that spelling alone,
    /// because the index is over what was signed.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        ofAppAccountTokens tokens: [String]
    ) async throws(EventLogError) -> [StreamID] {
        let spellings = tokens.flatMap(\.spellingsOfUUID)
        return try await streams(of: spellings, by: EventLog.byToken, named: "app account token")
    }

    /// The subscriptions that hold any of these transaction ids, as an event's own or as the alias
    /// of a repetition (Apple's data: trap 4), sorted.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        ofTransactionIds ids: [String]
    ) async throws(EventLogError) -> [StreamID] {
        try await streams(of: ids, by: EventLog.byTransaction, named: "transaction id")
    }

    /// The subscriptions with a purchase of any of these web order line item ids, sorted.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        ofWebOrderLineItemIds ids: [String]
    ) async throws(EventLogError) -> [StreamID] {
        try await streams(of: ids, by: EventLog.byWebOrder, named: "web order line item id")
    }

    /// The subscriptions that Apple ever gave any of these app transaction ids, sorted.
    ///
    /// One id is one Apple account in one app. Consumables are left out.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        ofAppTransactionIds ids: [String]
    ) async throws(EventLogError) -> [StreamID] {
        try await streams(of: ids, by: EventLog.byAppTransaction, named: "app transaction id")
    }

    /// The subscriptions that, as Apple says, continue any of these, sorted: after a migration the
    /// new one names the old one's `originalTransactionId`, and not the other way round.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        continuing originalTransactionIds: [String]
    ) async throws(EventLogError) -> [StreamID] {
        try await streams(
            of: originalTransactionIds,
            by: EventLog.byContinuation,
            named: "previous original transaction id"
        )
    }

    /// The subscriptions of which payloads with these digests proved or confirmed anything, sorted:
    /// those of one app receipt are of one Apple account.
    ///
    /// - Throws: `tooManyStreams` above `customerStreamsMax`, `databaseUnavailable`.
    public func streams(
        provenBy digests: [Digest]
    ) async throws(EventLogError) -> [StreamID] {
        guard let first = digests.first else { return [] }
        return try await streams(
            .byteaArray(digests.map(\.bytes)),
            by: EventLog.byProof,
            first.hex,
            named: "payload"
        )
    }

    /// A line in the list of customers.
    public struct LinkedCustomer: Hashable, Sendable {
        /// The app's own name for the customer.
        public let customerId: String
        /// Number of the subscriptions that a link ever named the customer for.
        public let streams: Int64
        /// When the first of these links was committed, on our clock.
        public let firstRecordedAt: Instant
        /// When the newest of them was.
        public let lastRecordedAt: Instant
    }

    /// A page of the customers that links name, by UTF-8.
    ///
    /// - Parameters:
    ///   - after: The last customer of the page before; empty for the first page.
    ///   - limit: Most lines of the page.
    /// - Returns: The lines; fewer than `limit` on the last page.
    /// - Throws: `databaseUnavailable`.
    public func customers(
        after: String = "",
        limit: Int
    ) async throws(EventLogError) -> [LinkedCustomer] {
        try await reading("list the customers") { session in
            let rows = try await session.query(
                EventLog.customersSQL,
                [.text(after), .int8(Int64(limit))]
            )
            return try (0..<rows.count).map { row in
                LinkedCustomer(
                    customerId: try rows[row].text(0),
                    streams: try rows[row].int8(1),
                    firstRecordedAt: Instant(microseconds: try rows[row].timestamptz(2)),
                    lastRecordedAt: Instant(microseconds: try rows[row].timestamptz(3))
                )
            }
        }
    }

    /// Which subscriptions a list of claims is about.
    public enum ClaimedBy: Sendable {
        /// A link, or more than one app account token.
        case anybody
        /// Links to more than one customer: only these can be contested.
        case severalCustomers
        /// By any app account token.
        case token
    }

    /// A page of the subscriptions that are claimed, by lane, id and environment.
    ///
    /// - Parameters:
    ///   - claimed: Which.
    ///   - after: The last of the page before; nil for the first page.
    ///   - limit: Most of the page.
    /// - Returns: The subscriptions; fewer than `limit` on the last page.
    /// - Throws: `databaseUnavailable`.
    public func streams(
        claimedBy claimed: ClaimedBy,
        after: StreamID? = nil,
        limit: Int
    ) async throws(EventLogError) -> [StreamID] {
        let lane = after.map { identity.lanes.lane(of: $0.originalTransactionId) } ?? -1
        let parameters: [PostgresValue] = [
            .int4(Int32(lane)), .text(after?.environment.word ?? ""),
            .text(after?.originalTransactionId ?? ""), .int8(Int64(limit)),
        ]
        return try await reading("list the claimed streams") { session in
            let rows = try await session.query(EventLog.claimedSQL(claimed), parameters)
            return try (0..<rows.count).map { row in
                StreamID(
                    environment: Environment(try rows[row].text(1)),
                    originalTransactionId: try rows[row].text(2)
                )
            }
        }
    }

    private func streams(
        of keys: [String],
        by sql: String,
        named name: String
    ) async throws(EventLogError) -> [StreamID] {
        let keys = keys.filter { !$0.isEmpty }
        guard let first = keys.first else { return [] }
        return try await streams(.textArray(keys), by: sql, first, named: name)
    }

    private func streams(
        _ keys: PostgresValue,
        by sql: String,
        _ first: String,
        named name: String
    ) async throws(EventLogError) -> [StreamID] {
        let parameters = [keys, .int8(Int64(EventLog.customerStreamsMax + 1))]
        let found = try await reading("look up streams by \(name)") { session in
            let rows = try await session.query(sql, parameters)
            return try (0..<rows.count).map { row in
                StreamID(
                    environment: Environment(try rows[row].text(0)),
                    originalTransactionId: try rows[row].text(1)
                )
            }
        }
        guard found.count <= EventLog.customerStreamsMax else {
            throw EventLogError.tooManyStreams(first, name)
        }
        return found.sorted()
    }

    // DISTINCT before LIMIT: a stream has an event a renewal, and counts once.
    private static let byCustomer = """
        SELECT DISTINCT environment, original_transaction_id FROM ledger.event
        WHERE customer_id = ANY ($1) LIMIT $2
        """

    private static let byToken = """
        SELECT DISTINCT environment, original_transaction_id FROM ledger.event
        WHERE app_account_token = ANY ($1) AND original_transaction_id <> '' LIMIT $2
        """

    private static let byTransaction = """
        SELECT environment, original_transaction_id FROM ledger.event
        WHERE transaction_id = ANY ($1) AND original_transaction_id <> ''
        UNION SELECT environment, original_transaction_id FROM ledger.confirmation
        WHERE transaction_ids && $1 AND original_transaction_id <> ''
        LIMIT $2
        """

    private static let byWebOrder = """
        SELECT DISTINCT environment, original_transaction_id FROM ledger.event
        WHERE web_order_line_item_id = ANY ($1) AND original_transaction_id <> '' LIMIT $2
        """

    // Consumables have tag 5, `type`; of these a person may have more than any answer takes.
    private static let byAppTransaction = """
        SELECT DISTINCT environment, original_transaction_id FROM ledger.event
        WHERE app_transaction_id = ANY ($1) AND original_transaction_id <> ''
            AND (expires_date_ms <> 0
                OR ledger.content_text(content, 5) IS DISTINCT FROM 'Consumable')
        LIMIT $2
        """

    // As the index has it: the form is that of a signed transaction, the byte the tag of
    // previousOriginalTransactionId.
    private static let byContinuation = """
        SELECT DISTINCT environment, original_transaction_id FROM ledger.event
        WHERE substr(content, 2, 1) = '\\x01'::bytea
            AND position('\\x18'::bytea IN content) > 0
            AND ledger.content_text(content, 24) IS NOT NULL
            AND ledger.content_text(content, 24) COLLATE "C" = ANY ($1)
            AND original_transaction_id <> ''
        LIMIT $2
        """

    // All that cites a payload is in the commit that brought it.
    private static let byProof = """
        WITH proof AS (
            SELECT c.lane, c.commit_no, c.first_offset, c.count, v.evidence_no
            FROM unnest($1::bytea[]) AS asked (digest)
            CROSS JOIN LATERAL (
                SELECT * FROM ledger.evidence WHERE \(EvidenceSummary.isAsked) OFFSET 0) v
            JOIN ledger.commit c USING (lane, commit_no))
        SELECT e.environment, e.original_transaction_id
        FROM proof p JOIN ledger.event e ON e.lane = p.lane AND e.lane_offset >= p.first_offset
            AND e.lane_offset < p.first_offset + p.count AND e.evidence_no = p.evidence_no
        WHERE e.environment <> '' AND e.original_transaction_id <> ''
        UNION
        SELECT c.environment, c.original_transaction_id
        FROM proof p JOIN ledger.confirmation c ON c.lane = p.lane AND c.commit_no = p.commit_no
            CROSS JOIN LATERAL ledger.repetitions(c) r
        WHERE r.evidence_no = p.evidence_no
            AND c.environment <> '' AND c.original_transaction_id <> ''
        LIMIT $2
        """

    private static let customersSQL = """
        SELECT customer_id, count(DISTINCT (environment, original_transaction_id)),
            min(recorded_at), max(recorded_at)
        FROM ledger.event WHERE customer_id IS NOT NULL AND customer_id > $1
        GROUP BY customer_id ORDER BY customer_id LIMIT $2
        """

    // Links to customers are few and have an index; tokens are looked for in the order of streams.
    private static func claimedSQL(_ claimed: ClaimedBy) -> String {
        let (some, all) =
            switch claimed {
            case .anybody:
                (
                    "environment <> '' AND original_transaction_id <> ''",
                    "bool_or(kind = 'link') OR count(DISTINCT lower(app_account_token)) > 1"
                )
            case .severalCustomers: ("customer_id IS NOT NULL", "count(DISTINCT customer_id) > 1")
            case .token: ("app_account_token IS NOT NULL", "true")
            }
        return """
            SELECT lane, environment, original_transaction_id FROM ledger.event
            WHERE \(some) AND (lane, original_transaction_id, environment) > ($1, $3, $2)
            GROUP BY lane, original_transaction_id, environment HAVING \(all)
            ORDER BY lane, original_transaction_id, environment LIMIT $4
            """
    }
}

extension EventLogError {
    /// The refusal to answer about a customer with more subscriptions than a person has.
    public static func tooManyStreams(_ key: String, _ name: String) -> EventLogError {
        EventLogError(
            .tooManyStreams,
            "the \(name) \(key) leads to more than \(EventLog.customerStreamsMax) subscriptions, "
                + "more than one answer can cover; ask about one of them by its "
                + "originalTransactionId (`periods`, `state`, `explain --alone`)"
        )
    }
}
