public import Events

/// The rows of one subscription in two builds, of the tables in which they differ.
public struct StreamRows: Sendable {
    /// The subscription.
    public let stream: StreamID
    /// The rows by table; a table that is missing does not differ.
    public var tables: [Sides]

    /// The rows of one table.
    public struct Sides: Sendable {
        /// The index of the table among those that are compared.
        public let table: Int
        /// The old rows, by ordinal, with a value for each column that both tables have.
        public var old: [ProjectionRow]
        /// The new rows, likewise.
        public var new: [ProjectionRow]

        /// These rows.
        public init(table: Int, old: [ProjectionRow] = [], new: [ProjectionRow] = []) {
            self.table = table
            self.old = old
            self.new = new
        }
    }

    /// These rows; each table at most once.
    public init(stream: StreamID, tables: [Sides] = []) {
        self.stream = stream
        self.tables = tables
    }
}

/// A half-open time with access, for pictures.
public struct AccessSpan: Hashable, Sendable {
    /// From its first instant to the first one without.
    public let time: Range<Instant>
    /// Whether it is a grace.
    public let isGrace: Bool

    /// This span.
    public init(time: Range<Instant>, isGrace: Bool) {
        self.time = time
        self.isGrace = isGrace
    }

    /// The last instant to which access is counted, the end of 2199: what is later is no date that
    /// Apple's data can carry (`Instant.isPlausible`), but stands for "endless".
    public static let endMax = Instant(milliseconds: 7_258_118_400_000)

    /// The spans of some rows; empty ones and those without a start are none.
    init?(_ row: ProjectionRow, _ columns: ComparedTable.Access) {
        guard let from = row.values[columns.from].integer.map(Instant.init(milliseconds:)) else {
            return nil
        }
        let end = row.values[columns.to].integer.map(Instant.init(milliseconds:))
        let to = min(end ?? AccessSpan.endMax, AccessSpan.endMax)
        guard from < to else { return nil }
        time = from..<to
        isGrace = columns.grace?.isTrue(of: row) ?? false
    }
}

extension Range<Instant> {
    /// Milliseconds from the first instant to the end; bounds of any size.
    var milliseconds: Int64 {
        let (length, isTooLong) = upperBound.milliseconds.subtractingReportingOverflow(
            lowerBound.milliseconds
        )
        return isTooLong ? .max : length
    }
}

extension Int64 {
    /// The sum of two numbers that are not negative, at most the greatest number: so every order of
    /// adding gives the same.
    func addingUpToMax(_ other: Int64) -> Int64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}
