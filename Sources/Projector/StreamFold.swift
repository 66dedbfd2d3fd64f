internal import EventLog
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

    init(_ history: StreamHistory) {
        timeline = Timeline(history)
        stream = history.stream
        lane = history.events.first?.position.lane ?? 0
        unreadable = history.unreadable.first.map { FoldRefusal($0.position, $0.reason) }
    }

    /// The rows of a projection; refused where the history holds an event that cannot be read,
    /// because without it nothing is certain.
    func rows(of projection: any Projection, in context: FoldContext) -> FoldOutcome {
        if let unreadable { return .refused(unreadable) }
        do throws(FoldRefusal) {
            return .rows(try projection.rows(of: timeline, in: context))
        } catch {
            return .refused(error)
        }
    }
}

/// A refused subscription, as `refused_stream` keeps it.
struct RefusedStream: Sendable {
    let stream: StreamID
    let refusal: FoldRefusal
}
