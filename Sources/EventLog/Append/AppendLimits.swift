internal import Postgres

/// How long the appends of one log may take.
struct AppendLimits: Sendable {
    /// Seconds from the call of an append to its answer.
    let secondsMax: Double
    /// Once set, ends all of them sooner.
    let end = DeadlineLimit()

    /// The most appends that may wait for one appender.
    let waitingMax: Int

    /// The most bytes of appends that may wait for one appender, packed payloads and facts: more
    /// than ingest can hold, because a payload of `Ledger.ingestBytesMax` does not grow in packing.
    static let waitingBytesMax = 128 << 20

    /// Seconds for one attempt at a database that was unavailable for the previous append.
    static let probeSecondsMax = 5.0

    /// The name of the command's setting, for messages.
    static let variable = "SUBLEDGER_APPEND_SECONDS_MAX"

    /// The range of the time for an append: PostgreSQL counts a statement limit in 32 bits of
    /// milliseconds, and no caller waits longer than a day.
    private static let seconds = 0.001...86_400

    /// A limit of this many seconds, clamped to the allowed range.
    init(secondsMax: Double, waitingMax: Int) {
        self.waitingMax = waitingMax
        let range = AppendLimits.seconds
        self.secondsMax = min(max(secondsMax, range.lowerBound), range.upperBound)
    }

    /// `secondsMax` as text: without decimals if it has none.
    var secondsText: String {
        secondsMax == secondsMax.rounded() ? "\(Int64(secondsMax))" : "\(secondsMax)"
    }

    /// The deadline of an append that begins now.
    func deadline() -> Deadline { Deadline(after: .seconds(secondsMax), limit: end) }

    /// Waits before another attempt: a server that is restarting needs seconds, not retries.
    static func backOff(attempt: Int) async {
        let milliseconds = min(500, 10 << min(attempt, 6))
        // A cancelled caller still learns the outcome of its append, so cancellation may only
        // shorten the wait.
        do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { await Task.yield() }
    }
}
