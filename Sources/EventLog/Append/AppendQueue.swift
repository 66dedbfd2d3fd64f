internal import Postgres

/// An append that waits for its commit.
struct WaitingAppend {
    let submissions: [Submission]
    /// When its caller gets an answer, whatever the outcome.
    let deadline: Deadline
    let answer: CheckedContinuation<Result<[[AppendOutcome]], EventLogError>, Never>

    /// Its size in the queue, in bytes.
    var byteCount: Int { submissions.reduce(0) { $0 + $1.byteCount } }
}

/// The appends of one appender that are not in a batch yet, by lane and in order of arrival.
struct AppendQueue {
    private var lanes: [Int: [WaitingAppend]] = [:]
    private var order: [Int] = []

    /// The number of waiting appends.
    private(set) var count = 0
    /// Their size, in bytes.
    private(set) var byteCount = 0

    /// Whether there is room for an append of that size; there always is if no other is waiting.
    func hasRoom(forBytes bytes: Int, limits: AppendLimits) -> Bool {
        count == 0
            || count < limits.waitingMax && byteCount + bytes <= AppendLimits.waitingBytesMax
    }

    mutating func add(_ waiting: WaitingAppend, to lane: Int) {
        if lanes[lane, default: []].isEmpty { order.append(lane) }
        lanes[lane, default: []].append(waiting)
        count += 1
        byteCount += waiting.byteCount
    }

    /// The next batch: as many appends of a lane as one commit may take; nil if none are waiting.
    mutating func takeBatch() -> (lane: Int, [WaitingAppend])? {
        guard let lane = order.first else { return nil }
        order.removeFirst()
        var (facts, bytes, taken) = (0, 0, 0)
        for waiting in lanes[lane, default: []] {
            facts += waiting.submissions.reduce(0) { $0 + $1.facts.count }
            bytes += waiting.byteCount
            if taken > 0, facts > Appender.batchFactsMax || bytes > Appender.batchBytesMax { break }
            taken += 1
        }
        let batch = Array(lanes[lane, default: []].prefix(taken))
        lanes[lane]?.removeFirst(taken)
        if lanes[lane]?.isEmpty == false { order.append(lane) } else { lanes[lane] = nil }
        note(batch)
        return (lane, batch)
    }

    /// Removes and returns all waiting appends.
    mutating func takeAll() -> [WaitingAppend] {
        let all = order.flatMap { lanes[$0, default: []] }
        (lanes, order) = ([:], [])
        note(all)
        return all
    }

    private mutating func note(_ taken: [WaitingAppend]) {
        count -= taken.count
        byteCount -= taken.reduce(0) { $0 + $1.byteCount }
    }
}
