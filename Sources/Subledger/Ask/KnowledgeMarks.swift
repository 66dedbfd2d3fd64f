package import EventLog
package import Events

/// The last position used: the newest commit of each lane that a question reads.
package struct KnowledgeMarks: Sendable {
    /// By ascending lane; empty if nothing was committed.
    package let commits: [CommitMark]
    /// The instant that was requested; nil if a position was requested, or the whole log.
    let asked: Instant?
    /// Whether the bound leaves out what was committed by the instant: nothing was ever answered
    /// with this knowledge at that instant.
    private(set) var isBeforeInstant = false
    private let lanes: LaneCount

    /// The marks of a bound of knowledge.
    init(of customer: Known, knownAt: KnownAt, in log: EventLog) async throws {
        lanes = log.identity.lanes
        let used = customer.histories.map { $0.stream.originalTransactionId }
        var commits: [CommitMark] = []
        for lane in Set(used.map(log.identity.lanes.lane(of:))).sorted() {
            if let mark = try await log.newestCommit(lane: lane, knownAt: knownAt) {
                commits.append(mark)
            }
        }
        self.commits = commits
        if case .time(let instant) = knownAt { asked = instant } else { asked = nil }
    }

    // The clocks of a service and of its database differ by less.
    private static let skewMilliseconds: Int64 = 60_000

    /// The marks at an instant, none of them newer than those of `bound`.
    init(
        of customer: Known,
        at instant: Instant,
        notAfter bound: KnowledgeMarks,
        in log: EventLog
    ) async throws {
        let own = try await KnowledgeMarks(of: customer, knownAt: .time(instant), in: log)
        commits = own.commits.compactMap { mark in
            let limit = bound.commits.first { $0.commit.lane == mark.commit.lane }
            return limit.map { $0.commit.number < mark.commit.number ? $0 : mark }
        }
        isBeforeInstant = own.commits.contains { mark in
            let limit = bound.commits.first { $0.commit.lane == mark.commit.lane }
            guard let used = limit?.commit.committedAt.milliseconds else { return true }
            return mark.commit.committedAt.milliseconds - used > KnowledgeMarks.skewMilliseconds
        }
        asked = bound.asked.map { min($0, instant) } ?? instant
        lanes = own.lanes
    }

    /// The requested instant, or otherwise that of the newest commit; nil if there is none.
    package var time: Instant? { asked ?? commits.map(\.commit.committedAt).max() }

    /// The position as questions accept it: an offset, or lane:offset pairs.
    package var text: String {
        if lanes == .one { return "\(commits.first?.offset ?? 0)" }
        return commits.map { "\($0.commit.lane):\($0.offset)" }.joined(separator: ",")
    }

    /// The same for documents: a number if there is one lane.
    var value: PropertyValue {
        lanes == .one ? .number(commits.first?.offset ?? 0) : .text(text)
    }
}

extension Known {
    /// The payloads that the events came from.
    func evidence(in log: EventLog) async throws -> [Position: EvidenceSummary] {
        var found: [Position: EvidenceSummary] = [:]
        for history in histories {
            found.merge(try await log.eventSummaries(of: history.latest)) { first, _ in first }
        }
        return found
    }
}
