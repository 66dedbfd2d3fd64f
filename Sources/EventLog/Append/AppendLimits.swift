internal import Postgres

/// How long the appends of one log may take.
struct AppendLimits: Sendable {
    /// Seconds from the call of an append to its answer.
    let secondsMax: Double
    /// Ends all of them sooner, once it is set.
    let end = DeadlineLimit()

    /// Most waiting appends of one appender.
    let waitingMax: Int

    /// Most bytes of waiting appends of one appender, packed payloads and facts: more than ingest
    /// can hold, since a payload of `Ledger.ingestBytesMax` does not grow in packing.
    static let waitingBytesMax = 128 << 20

    /// Seconds that one try at a database may take that was unavailable for the append before.
    static let probeSecondsMax = 5.0

    /// The name of the command's setting, for messages.
    static let variable = "SUBLEDGER_APPEND_SECONDS_MAX"

    /// Longest time for an append: PostgreSQL counts a limit for statements in 32 bits of
    /// milliseconds, and nobody waits longer than a day.
    private static let seconds = 0.001...86_400

    /// A limit of so many seconds, brought into the range that makes sense.
    init(secondsMax: Double, waitingMax: Int) {
        self.waitingMax = waitingMax
        let range = AppendLimits.seconds
        self.secondsMax = min(max(secondsMax, range.lowerBound), range.upperBound)
    }

    /// `secondsMax` for people: without decimals where it has none.
    var secondsText: String {
        secondsMax == secondsMax.rounded() ? "\(Int64(secondsMax))" : "\(secondsMax)"
    }

    /// The end of an append that begins now.
    func deadline() -> Deadline { Deadline(after: .seconds(secondsMax), limit: end) }

    /// Waits before another attempt: a server that restarts needs seconds, not retries.
    static func backOff(attempt: Int) async {
        let milliseconds = min(500, 10 << min(attempt, 6))
        // A cancelled caller still learns the fate of its work, so the wait may be cut short only.
        do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { await Task.yield() }
    }
}
