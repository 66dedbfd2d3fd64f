internal import EventLog
internal import Events
internal import Projections

/// The result of a fold for one subscription.
enum FoldOutcome {
    case rows([ProjectionRow])
    case refused(FoldRefusal)

    /// The rows; empty for a refused subscription.
    var rows: [ProjectionRow] {
        switch self {
        case .rows(let rows): rows
        case .refused: []
        }
    }

    /// Why there are none; nil if it was not refused.
    var refusal: FoldRefusal? {
        switch self {
        case .rows: nil
        case .refused(let refusal): refusal
        }
    }
}

/// One subscription, read and interpreted, to be folded into any number of projections.
struct StreamFold {
    let stream: StreamID
    let lane: Lane
    /// The number of its events.
    let eventCount: Int
    private let timeline: Timeline
    private let unreadable: FoldRefusal?
    private let firstPosition: Position?

    init(_ history: StreamHistory) {
        self.init(Timeline(history), history.events, history.unreadable)
    }

    /// The same with when each part became known.
    init(_ recorded: RecordedHistory) {
        self.init(Timeline(recorded), recorded.events, recorded.unreadable)
    }

    private init(_ timeline: Timeline, _ events: [Event], _ unreadable: [UnreadableEvent]) {
        self.timeline = timeline
        stream = timeline.stream
        eventCount = events.count
        firstPosition = events.first?.position
        lane = firstPosition?.lane ?? .only
        self.unreadable = unreadable.first.map { FoldRefusal($0.position, $0.reason) }
    }

    /// The rows of a projection; refused if the history has an event that cannot be read, because
    /// without it nothing is certain, or if a row has an instant that does not fit in a table.
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

extension EventLog {
    /// The ranges of a lane, with everything that these projections read.
    func streamRanges(
        for projections: [any Projection],
        lane: Int,
        upTo head: Head,
        atLeast: Int = 1
    ) async throws(EventLogError) -> [StreamRange] {
        try await streamRanges(
            lane: lane,
            upTo: head,
            atLeast: atLeast,
            isComplete: projections.contains(where: \.readsRecordedTimes)
        )
    }

    /// Interprets the streams of such a range for these projections, one after the other.
    func foldStreams<State: Sendable>(
        for projections: [any Projection],
        in range: StreamRange,
        upTo head: Head,
        into state: State,
        _ take: @escaping @Sendable (inout State, StreamFold) throws -> Void,
        atEnd: @escaping @Sendable (inout State) throws -> Void
    ) async throws(EventLogError) -> State {
        guard projections.contains(where: \.readsRecordedTimes) else {
            return try await foldStreams(
                in: range,
                upTo: head,
                into: state,
                { try take(&$0, StreamFold($1)) },
                atEnd: atEnd
            )
        }
        return try await foldRecordedStreams(
            in: range,
            upTo: head,
            into: state,
            { try take(&$0, StreamFold($1)) },
            atEnd: atEnd
        )
    }
}
