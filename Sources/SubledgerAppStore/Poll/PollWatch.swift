public import EventLog
public import Events

/// The progress of a round or a backfill.
public enum PollProgress: Hashable, Sendable {
    /// That many notifications of an environment were read so far.
    case notifications(Int, StoreEnvironment)
    /// Another process does the same work, or was killed doing it; waits for it.
    case waiting(PollHolder)
    /// That many subscriptions of the total are done.
    case subscriptions(Int, of: Int)
}

/// Observes a round, and can end it between two requests.
struct PollWatch: Sendable {
    let isStopped: @Sendable () -> Bool
    let progress: @Sendable (PollProgress) -> Void

    /// Thrown between two pages if the round is to end.
    struct Stopped: Error {}
}
