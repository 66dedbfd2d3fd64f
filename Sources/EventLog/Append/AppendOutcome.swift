public import Events

/// What the log did with one fact.
public struct AppendOutcome: Hashable, Sendable {
    /// The event that states the fact.
    public let position: Position
    /// Whether the fact was new, and so is the event at that position; otherwise the log already
    /// knew it from that event.
    public let isNew: Bool
    /// Whether the fact gave a known purchase a transaction id that was not known for it.
    ///
    /// A restore made the id (Apple's data: trap 4). The fact may be new for another reason, or be
    /// kept only as an alias.
    public let isRestore: Bool
    /// Whether the fact was not new but is kept as a confirmation: as of another instant, by
    /// stronger proof, or under a new transaction id.
    public let isConfirmation: Bool
    /// Whether it was refused because it dates from before the erasure of its subscription; the
    /// position is that of the erasure.
    public let isErased: Bool

    /// It was new, and is now an event at that position.
    public static func appended(_ position: Position, isRestore: Bool = false) -> AppendOutcome {
        AppendOutcome(
            position: position,
            isNew: true,
            isRestore: isRestore,
            isConfirmation: false,
            isErased: false
        )
    }

    /// It was refused: what the log contained about it was erased, by the event at that position.
    public static func erased(_ position: Position) -> AppendOutcome {
        AppendOutcome(
            position: position,
            isNew: false,
            isRestore: false,
            isConfirmation: false,
            isErased: true
        )
    }

    /// The log already knew it from the event at that position.
    public static func duplicate(
        _ position: Position,
        isRestore: Bool = false,
        isConfirmation: Bool = false
    ) -> AppendOutcome {
        AppendOutcome(
            position: position,
            isNew: false,
            isRestore: isRestore,
            isConfirmation: isConfirmation,
            isErased: false
        )
    }
}
