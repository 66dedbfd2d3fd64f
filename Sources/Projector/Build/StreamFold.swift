internal import Events
internal import Projections

/// What a fold makes of one subscription.
enum FoldOutcome {
    case rows([ProjectionRow])
    case refused(FoldRefusal)

    /// The rows, of which a refused subscription has none.
    var rows: [ProjectionRow] {
        switch self {
        case .rows(let rows): rows
        case .refused: []
        }
    }

    /// Why there are none.
    var refusal: FoldRefusal? {
        switch self {
        case .rows: nil
        case .refused(let refusal): refusal
        }
    }
}

/// One subscription, read and interpreted, of which any number of projections can be asked.
struct StreamFold {
    let stream: StreamID
    let lane: Int
    private let timeline: Timeline
    private let unreadable: FoldRefusal?
    private let firstPosition: Position?

    init(_ history: StreamHistory) {
        timeline = Timeline(history)
        stream = history.stream
        firstPosition = history.events.first?.position
        lane = firstPosition?.lane ?? 0
        unreadable = history.unreadable.first.map { FoldRefusal($0.position, $0.reason) }
    }

    /// The rows of a projection; refused where the history holds an event that cannot be read,
    /// because without it nothing is certain, or where a row has an instant that no table holds.
    func rows(of projection: any Projection, in context: FoldContext) -> FoldOutcome {
        if let unreadable { return .refused(unreadable) }
        do throws(FoldRefusal) {
            let rows = try projection.rows(of: timeline, in: context)
            if let unfit = rows.first(where: { $0.unfitValue != nil }) {
                return .refused(refusal(of: unfit, projection))
            }
            return .rows(rows)
        } catch {
            return .refused(error)
        }
    }

    private func refusal(of row: ProjectionRow, _ projection: any Projection) -> FoldRefusal {
        let number = row.unfitValue ?? 0
        let columns = projection.columns
        let column = columns.indices.contains(number) ? columns[number] : "\(number + 1)"
        return FoldRefusal(
            row.positions.first ?? firstPosition ?? Position(lane: lane, offset: 0),
            "the fold of \(projection.name) gives column \(column) an instant outside the range of "
                + "timestamptz, 4713 BC to 294247 AD"
        )
    }
}
