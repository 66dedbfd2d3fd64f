public import Events

/// What the log did with one fact.
public enum AppendOutcome: Hashable, Sendable {
    /// It was news: it is an event now, at that position.
    case appended(Position)
    /// The log knew it already, from the event at that position.
    case duplicate(Position)

    /// Where the log says what the fact says.
    public var position: Position {
        switch self {
        case .appended(let position), .duplicate(let position): position
        }
    }
}
