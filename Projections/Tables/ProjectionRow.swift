public import Events

/// One row of a projection's table, without the columns that identify its subscription.
///
/// It is its own canonical form, like the content of an event: the table is filled from the same
/// bytes that the digest covers, and `values` decodes them.
public struct ProjectionRow: Hashable, Sendable {
    /// The columns with which every table begins: the subscription, and the number of the row
    /// within it, from 1.
    public static let streamColumns = [
        "lane", "environment", "original_transaction_id", "ordinal",
    ]

    /// The lines of a table's DDL for all its columns, around those of its own.
    static func lines(around ownLines: [String]) -> String {
        let types = ["integer", "text COLLATE \"C\"", "text COLLATE \"C\"", "integer"]
        let first = zip(streamColumns, types).map { "    \($0) \($1) NOT NULL" }
        return (first + ownLines + ["    positions bigint[] NOT NULL"]).joined(separator: ",\n")
    }

    /// The row's bytes for digests: its values, without the positions.
    ///
    /// A 32-bit count, then each value: a type byte, then integers and instants (milliseconds) as
    /// 64 bits, texts with a 32-bit byte count, lists with a 32-bit count.
    public let canonicalBytes: [UInt8]
    /// The events that caused the row, ascending, without duplicates: the last column, `positions`.
    ///
    /// They depend on the order of arrival, and are not covered by any digest.
    public let positions: [Position]
    /// The first value, counted from 0, whose instant is outside
    /// `ColumnValue.timestampMilliseconds`; nil if all fit into a table.
    package let unfitValue: Int?

    /// A row that was written.
    init(canonicalBytes: [UInt8], positions: [Position], unfitValue: Int?) {
        self.canonicalBytes = canonicalBytes
        self.positions = positions
        self.unfitValue = unfitValue
    }

    /// A row with these values: one for each of the projection's own columns, in order.
    public init(values: [ColumnValue], positions: [Position]) {
        var writer = RowWriter()
        for value in values { writer.value(value) }
        self = writer.row(citing: positions)
    }

    /// A row with these values and the causes of other rows, in any order.
    public init(_ values: ColumnValue..., causedBy causes: [Position]) {
        let positions: [Position] = causes.sorted().reduce(into: []) { unique, position in
            if unique.last != position { unique.append(position) }
        }
        self.init(values: values, positions: positions)
    }

    /// A value for each of the projection's own columns, in order.
    public var values: [ColumnValue] {
        canonicalBytes.withUnsafeBytes { bytes in
            var reader = RowReader(bytes)
            var values: [ColumnValue] = []
            values.reserveCapacity(reader.valueCount)
            while let value = reader.next() { values.append(ColumnValue(value)) }
            return values
        }
    }
}
