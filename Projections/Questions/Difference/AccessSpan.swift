package import Events

/// A half-open interval with access, for pictures.
package struct AccessSpan: Hashable, Sendable {
    /// From its first instant to the first one without access.
    package let time: Range<Instant>
    /// Whether it is a grace period.
    package let isGrace: Bool

    /// This span.
    package init(time: Range<Instant>, isGrace: Bool) {
        self.time = time
        self.isGrace = isGrace
    }

    /// The last instant to which access is counted, the end of 2199: a later date cannot occur in
    /// Apple's data (`Instant.isPlausible`), but stands for "endless".
    package static let endMax = Instant(milliseconds: 7_258_118_400_000)

    /// The span of a row; nil if it is empty or has no start.
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
