internal import Postgres
internal import Projections

/// The columns of the two tables of a projection, and how each is compared.
struct PairShape: Sendable {
    let pair: TableDifference.Pair
    let compared: ComparedTable
    /// Whether there is an old table at all, with the columns that identify the subscription of a
    /// row.
    let hasOld: Bool
    /// The types to which the common columns are cast for comparison, in order; nil for no cast.
    let casts: [String?]

    init(
        _ pair: TableDifference.Pair,
        in session: isolated PostgresSession
    ) throws(PostgresError) {
        self.pair = pair
        let old = try TableColumns(of: pair.oldTable, in: session)
        let new = try TableColumns(of: pair.newTable, in: session)
        hasOld = old.haveRows(comparableWith: new)
        compared = ComparedTable(
            name: pair.projection.name,
            oldVersion: hasOld ? pair.oldVersion : nil,
            newVersion: pair.projection.version,
            oldColumns: hasOld ? old.ownNames : [],
            newColumns: new.ownNames,
            comparison: pair.projection.comparison
        )
        casts = compared.columns.map { name in
            let types = (old.all + new.all).filter { $0.name == name }.map(\.type)
            return PairShape.cast(types)
        }
    }

    // The types of a projection's values are compared without a cast; another version of the fold
    // may have widened one of a column's two types, and every other type can be cast to text.
    private static func cast(_ types: [PostgresType]) -> String? {
        let own: [PostgresType] = [.bool, .int4, .int8, .timestamptz, .int8Array]
        let texts: [PostgresType] = [.text, .textArray]
        guard let first = types.first else { return nil }
        let areAlike = types.allSatisfy { $0 == first }
        if areAlike, own.contains(first) { return nil }
        if areAlike, texts.contains(first) { return collated }
        let integers: [PostgresType] = [.int2, .int4, .int8]
        return types.allSatisfy(integers.contains) ? "::bigint" : "::text" + collated
    }

    // Compared by bytes, whatever collation a column has.
    private static let collated = " COLLATE \"C\""
}

extension TableDifference.Pair {
    var oldTable: String { ProjectionSchema.table(projection.name, in: old) }
    var newTable: String { ProjectionSchema.table(projection.name, in: new) }
}

/// The parts for one projection in the statement that finds and fetches the differences.
struct DifferenceQuery {
    private let shape: PairShape
    private let number: Int

    static let oldSide: Int32 = 0
    static let newSide: Int32 = 1

    /// The columns of the statement's rows.
    ///
    /// In a row without a side, `ordinal` is the number of subscriptions in a table.
    enum Column {
        static let table = 0
        static let side = 1
        static let lane = 2
        static let environment = 3
        static let originalTransactionId = 4
        static let ordinal = 5
        static let values = 6
        static let positions = 7
    }

    init(_ shape: PairShape, number: Int) {
        self.shape = shape
        self.number = number
    }

    /// The COPY of all rows of the subscriptions that differ, subscription by subscription.
    static func statement(_ queries: [DifferenceQuery]) -> String {
        """
        COPY (WITH \(queries.map(\.findings).joined(separator: ", "))
        SELECT * FROM (\(queries.map(\.rows).joined(separator: " UNION ALL ")))
            AS found (t, side, lane, environment, id, ordinal, payload, positions)
        ORDER BY lane NULLS FIRST, environment, id, t, side, ordinal) TO STDOUT (FORMAT BINARY)
        """
    }

    private var found: String { "found_\(number)" }

    // One row for each subscription that differs, and one without a key for all rows that do not;
    // their counts of first rows add up to the number of subscriptions. OFFSET 0 keeps the server
    // from evaluating the comparison once for each column of the key.
    private var findings: String {
        """
        \(found) AS MATERIALIZED (
            SELECT CASE WHEN differs THEN lane END AS lane,
                CASE WHEN differs THEN environment END AS environment,
                CASE WHEN differs THEN original_transaction_id END AS id,
                count(*) FILTER (WHERE ordinal = 1) AS streams
            FROM (
                SELECT lane, environment, original_transaction_id, ordinal, \(differs) AS differs
                FROM \(shape.pair.oldTable) o FULL JOIN \(shape.pair.newTable) n
                    USING (lane, environment, original_transaction_id, ordinal)
                OFFSET 0
            ) joined
            WHERE differs OR ordinal = 1
            GROUP BY 1, 2, 3
        )
        """
    }

    private var differs: String {
        let columns = zip(shape.compared.columns, shape.casts).map { name, cast in
            let column = ProjectionSchema.quoted(name) + (cast ?? "")
            return "o.\(column) IS DISTINCT FROM n.\(column)"
        }
        return (["o.ordinal IS NULL", "n.ordinal IS NULL"] + columns).joined(separator: " OR ")
    }

    private var rows: String {
        """
        SELECT \(number), NULL::int, NULL::int, NULL::text COLLATE "C", NULL::text COLLATE "C",
            coalesce(sum(streams), 0)::bigint, NULL::bytea, NULL::bigint[] FROM \(found)
        UNION ALL \(rows(of: shape.pair.oldTable, DifferenceQuery.oldSide))
        UNION ALL \(rows(of: shape.pair.newTable, DifferenceQuery.newSide))
        """
    }

    private func rows(of table: String, _ side: Int32) -> String {
        let values = zip(shape.compared.columns, shape.casts).map { column, cast in
            "r." + ProjectionSchema.quoted(column) + (cast ?? "")
        }
        return """
            SELECT \(number), \(side), r.lane, r.environment COLLATE "C",
                r.original_transaction_id COLLATE "C", r.ordinal::bigint,
                record_send(ROW(\(values.joined(separator: ", ")))), r.positions
            FROM \(found) f JOIN \(table) r ON r.lane = f.lane
                AND r.environment = f.environment AND r.original_transaction_id = f.id
            """
    }
}
