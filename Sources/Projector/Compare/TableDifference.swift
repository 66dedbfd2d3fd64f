public import Events
public import Postgres
public import Projections

/// Reads the difference between two builds of projections from their tables.
///
/// The server finds the subscriptions that differ, with one merge join of the two primary keys for
/// each projection; only their rows are transferred, for all tables together and subscription by
/// subscription, so memory grows neither with the tables nor with the differences. Ordinals are
/// used only for finding rows: an inserted row shifts all rows after it, but counts as one row
/// added.
public enum TableDifference {
    /// The two tables of one projection.
    public struct Pair: Sendable {
        let projection: any Projection
        let old: String
        let oldVersion: Int?
        let new: String

        /// The tables of a projection in two schemas; if the old one is missing, it counts as
        /// empty.
        ///
        /// - Parameters:
        ///   - projection: The projection, in the version that built the new table.
        ///   - old: The schema of the old table, unquoted.
        ///   - oldVersion: The version that built it; nil if unknown.
        ///   - new: The schema of the new table, unquoted.
        public init(
            _ projection: any Projection,
            old: String,
            oldVersion: Int?,
            new: String
        ) {
            self.projection = projection
            self.old = old
            self.oldVersion = oldVersion
            self.new = new
        }
    }

    /// The server's work_mem for the comparison: each sort and hash spills to disk beyond it.
    static let workMemory = "64MB"

    /// Reads the difference of some projections, as the open transaction sees them.
    ///
    /// Must be called within a transaction, and leaves nothing behind in it. A projection that was
    /// never built before is compared with no rows. In the result, `streamsCompared` is the number
    /// of subscriptions in the largest table; a caller that knows the exact number may set it.
    ///
    /// - Parameters:
    ///   - pairs: The tables, each projection once.
    ///   - lanes: The lanes of the ledger.
    ///   - excluded: Subscriptions that are not compared.
    ///   - samplesMax: The most subscriptions to keep as samples.
    ///   - session: A session with an open transaction, preferably `readOnlySnapshot`.
    /// - Returns: The difference, `isEqual` if there is none.
    /// - Throws: The server's error, above all if a new table is missing, or may not be read.
    public static func read(
        _ pairs: [Pair],
        of lanes: LaneCount = .one,
        without excluded: Set<StreamID> = [],
        samplesMax: Int = ProjectionDifference.samplesDefault,
        in session: isolated PostgresSession
    ) throws(PostgresError) -> ProjectionDifference {
        var shapes: [PairShape] = []
        for pair in pairs { shapes.append(try PairShape(pair, in: session)) }
        var difference = ProjectionDifference(shapes.map(\.compared), samplesMax: samplesMax)
        let queries = shapes.enumerated().filter(\.element.hasOld).map {
            DifferenceQuery($0.element, number: $0.offset)
        }
        guard !queries.isEmpty else { return difference }

        // The settings are for this statement alone. A hash of one table with a scan of the other
        // took half as long again as the merge, and EXCEPT four times as long; compiling the
        // comparisons costs more than running them.
        try session.execute(
            """
            SAVEPOINT table_difference;
            SET LOCAL work_mem = '\(workMemory)';
            SET LOCAL enable_hashjoin = off;
            SET LOCAL jit = off
            """
        )
        let reading = try session.copyOut(
            DifferenceQuery.statement(queries),
            into: DifferenceReading(difference, of: lanes, without: excluded)
        ) { reading, row throws(PostgresError) in try reading.take(row) }
        try session.execute(
            "ROLLBACK TO SAVEPOINT table_difference; RELEASE SAVEPOINT table_difference"
        )
        difference = reading.finished
        return difference
    }
}

extension TableDifference {
    /// The projections whose two tables have rows that cite different events.
    ///
    /// Positions are excluded from differences, because they depend on the order of arrival; for
    /// tables built from one log up to one commit they must be equal too.
    static func citationMismatches(
        _ pairs: [Pair],
        without excluded: Set<StreamID>,
        in session: isolated PostgresSession
    ) throws(PostgresError) -> [String] {
        var names: [String] = []
        for pair in pairs {
            let old = try session.query(
                "SELECT to_regclass($1) IS NOT NULL",
                [.text(pair.oldTable)]
            )
            guard try old.single().bool(0) else { continue }
            let found = try session.query(
                """
                SELECT EXISTS (SELECT FROM \(pair.oldTable) o JOIN \(pair.newTable) n
                    USING (original_transaction_id, environment, lane, ordinal)
                    WHERE o.positions <> n.positions
                        AND (environment, original_transaction_id) NOT IN (
                            SELECT * FROM unnest($1::text[], $2::text[])))
                """,
                excluded.parameters
            )
            if try found.single().bool(0) { names.append(pair.projection.name) }
        }
        return names
    }
}

extension Set<StreamID> {
    /// Their environments and their ids, as two arrays in the same order.
    var parameters: [PostgresValue] {
        let streams = sorted()
        return [
            .textArray(streams.map(\.environment.word)),
            .textArray(streams.map(\.originalTransactionId)),
        ]
    }
}

/// Assembles the rows of a comparison, subscription by subscription.
private struct DifferenceReading: Sendable {
    private var difference: ProjectionDifference
    private var rows: StreamRows?
    private var lane: Int32 = 0
    private var streams = 0
    private let lanes: LaneCount
    private let excluded: Set<StreamID>

    init(_ difference: ProjectionDifference, of lanes: LaneCount, without excluded: Set<StreamID>) {
        self.difference = difference
        self.lanes = lanes
        self.excluded = excluded
    }

    /// The difference, including the last subscription.
    var finished: ProjectionDifference {
        var last = self
        last.flush()
        last.difference.streamsCompared = streams
        return last.difference
    }

    mutating func take(_ row: borrowing CopyBinaryRow) throws(PostgresError) {
        let table = Int(try row.int4(DifferenceQuery.Column.table))
        guard let side = try row.int4IfPresent(DifferenceQuery.Column.side) else {
            streams = max(streams, Int(try row.int8(DifferenceQuery.Column.ordinal)))
            return
        }
        try begin(row)
        let projected = try projected(row)
        if rows?.tables.last?.table != table { rows?.tables.append(.init(table: table)) }
        guard let last = rows?.tables.indices.last else { return }
        if side == DifferenceQuery.oldSide {
            rows?.tables[last].old.append(projected)
        } else {
            rows?.tables[last].new.append(projected)
        }
    }

    private mutating func begin(_ row: borrowing CopyBinaryRow) throws(PostgresError) {
        let nextLane = try row.int4(DifferenceQuery.Column.lane)
        let environment = try row.text(DifferenceQuery.Column.environment)
        let id = try row.text(DifferenceQuery.Column.originalTransactionId)
        let stream = StreamID(
            environment: StoreEnvironment(environment),
            originalTransactionId: id
        )
        guard nextLane != lane || rows?.stream != stream else { return }
        flush()
        lane = nextLane
        rows = StreamRows(stream: stream)
    }

    private mutating func flush() {
        if let rows, !excluded.contains(rows.stream) { difference.add(rows) }
        rows = nil
    }

    private func projected(
        _ row: borrowing CopyBinaryRow
    ) throws(PostgresError) -> ProjectionRow {
        let offsets = try row.int8Array(DifferenceQuery.Column.positions) ?? []
        let values = try row.withBytes(DifferenceQuery.Column.values) {
            (bytes) throws(PostgresError) in
            let record = try PostgresRecord(bytes ?? UnsafeRawBufferPointer(start: nil, count: 0))
            var values: [ColumnValue] = []
            values.reserveCapacity(record.fieldCount)
            for column in 0..<record.fieldCount {
                values.append(try ColumnValue(record, column))
            }
            return values
        }
        return ProjectionRow(
            values: values,
            positions: offsets.compactMap { $0 }.map {
                Position(lane: lanes[Int(lane)], offset: $0)
            }
        )
    }
}

extension ColumnValue {
    /// A field of a record; a type without a case of its own is transferred as text.
    fileprivate init(
        _ record: borrowing PostgresRecord,
        _ column: Int
    ) throws(PostgresError) {
        guard try !record.isNull(column) else {
            self = .null
            return
        }
        switch record.type(of: column) {
        case .bool: self = .boolean(try record.bool(column))
        case .int4: self = .int32(try record.int4(column))
        case .int8: self = .integer(try record.int8(column))
        case .timestamptz:
            self = .timestamp(Instant(milliseconds: try record.timestamptz(column) / 1000))
        case .int8Array: self = .integers((try record.int8Array(column) ?? []).compactMap { $0 })
        case .textArray: self = .texts((try record.textArray(column) ?? []).compactMap { $0 })
        default: self = .text(try record.text(column))
        }
    }
}
