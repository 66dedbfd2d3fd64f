package import Events

/// The rows of one subscription in two builds, of the tables in which they differ.
package struct StreamRows: Sendable {
    /// The subscription.
    package let stream: StreamID
    /// The rows by table; a table that is missing does not differ.
    package var tables: [Sides]

    /// The rows of one table.
    package struct Sides: Sendable {
        /// The index of the table among those that are compared.
        package let table: Int
        /// The old rows, by ordinal, with a value for each column that both tables have.
        package var old: [ProjectionRow]
        /// The new rows, likewise.
        package var new: [ProjectionRow]

        /// These rows.
        package init(table: Int, old: [ProjectionRow] = [], new: [ProjectionRow] = []) {
            self.table = table
            self.old = old
            self.new = new
        }
    }

    /// These rows; each table at most once.
    package init(stream: StreamID, tables: [Sides] = []) {
        self.stream = stream
        self.tables = tables
    }
}

extension Range<Instant> {
    /// Milliseconds from the first instant to the end, for any bounds.
    var milliseconds: Int64 {
        let (length, isTooLong) = upperBound.milliseconds.subtractingReportingOverflow(
            lowerBound.milliseconds
        )
        return isTooLong ? .max : length
    }
}

extension Int64 {
    /// The sum of two non-negative numbers, capped at the greatest number: the order of adding does
    /// not matter.
    func addingUpToMax(_ other: Int64) -> Int64 {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? .max : sum
    }
}
