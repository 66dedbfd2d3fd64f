public import Events

/// What the log did with one fact.
public struct AppendOutcome: Hashable, Sendable {
    /// Where the log says what the fact says.
    public let position: Position
    /// Whether the fact was news, so that it is the event at that position; otherwise the log knew
    /// it already, from that event.
    public let isNew: Bool
    /// Whether the fact gave a known purchase a transaction id that was not known for it.
    ///
    /// A restore made the id (Apple's data: trap 4). The fact may be news for another reason, or be
    /// kept as an alias only.
    public let isRestore: Bool
    /// Whether the fact was not news but is kept as a confirmation: as of another instant, by
    /// stronger proof, or under a new transaction id.
    public let isConfirmation: Bool
    /// Whether it was refused because the subscription was erased, and the fact is from before; the
    /// position is that of the erasure.
    public let isErased: Bool

    /// It was news: it is an event now, at that position.
    public static func appended(_ position: Position, isRestore: Bool = false) -> AppendOutcome {
        AppendOutcome(
            position: position,
            isNew: true,
            isRestore: isRestore,
            isConfirmation: false,
            isErased: false
        )
    }

    /// It was refused: what the log held of it was erased, by the event at that position.
    public static func erased(_ position: Position) -> AppendOutcome {
        AppendOutcome(
            position: position,
            isNew: false,
            isRestore: false,
            isConfirmation: false,
            isErased: true
        )
    }

    /// The log knew it already, from the event at that position.
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
