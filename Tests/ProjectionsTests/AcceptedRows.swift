import Events
import Projections
import Testing

extension Projection {
    /// The rows of a timeline that no fold may refuse.
    func acceptedRows(
        of timeline: Timeline,
        in context: FoldContext = FoldContext()
    ) -> [ProjectionRow] {
        do throws(FoldRefusal) {
            return try rows(of: timeline, in: context)
        } catch {
            Issue.record("\(name) refused \(error.position): \(error.reason)")
            return []
        }
    }
}

extension ColumnValue {
    var number: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    var instant: Instant? {
        if case .timestamp(let instant) = self { instant } else { nil }
    }
}
