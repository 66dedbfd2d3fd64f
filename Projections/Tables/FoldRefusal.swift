public import Events

/// An event that a fold cannot interpret.
public struct FoldRefusal: Error, Hashable, Sendable {
    /// The event.
    public let position: Position
    /// What is wrong with it, in one sentence; safe to log.
    public let reason: String

    /// A refusal of that event.
    public init(_ position: Position, _ reason: String) {
        self.position = position
        self.reason = reason
    }
}
