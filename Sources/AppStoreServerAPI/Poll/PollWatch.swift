public import EventLog
public import Events

/// How far a round or a backfill has come.
public enum PollProgress: Hashable, Sendable {
    /// Notifications of an environment were read, up to this many.
    case notifications(Int, Environment)
    /// Another process asks for the same now, or was killed while it did: it is waited for.
    case waiting(PollHolder)
    /// So many subscriptions of so many are done.
    case subscriptions(Int, of: Int)
}

/// Who watches a round, and may end it between two requests.
struct PollWatch: Sendable {
    let isStopped: @Sendable () -> Bool
    let progress: @Sendable (PollProgress) -> Void

    /// Thrown between two pages where the round is to end.
    struct Stopped: Error {}
}
