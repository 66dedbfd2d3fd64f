internal import Postgres

extension Appender {
    /// The channel on which followers hear of commits.
    static let channel = "subledger_commit"

    /// The pause between two notifications: under load, followers hear of many commits at once.
    private static let wakePause = Duration.milliseconds(100)

    /// Wakes the followers of the log soon, after the callers of the commit were answered.
    ///
    /// A notification is a transaction of its own, which does not wait for its flush: it may get
    /// lost, and followers look for commits by themselves, too.
    func wakeFollowers() {
        guard !isWakeDue else { return }
        isWakeDue = true
        Task {
            if let wokeAt, ContinuousClock.now - wokeAt < Appender.wakePause {
                try await Task.sleep(for: Appender.wakePause)
            }
            await notifyIfDue()
        }
    }

    /// Sends a notification that is due.
    func notifyIfDue() async {
        guard isWakeDue else { return }
        (isWakeDue, wokeAt) = (false, .now)
        do {
            try await session?.execute(
                """
                SELECT set_config('synchronous_commit', 'off', true); NOTIFY \(Appender.channel)
                """
            )
        } catch {
            // The next append finds what is wrong with the session, and reports it.
            wokeAt = nil
        }
    }
}
