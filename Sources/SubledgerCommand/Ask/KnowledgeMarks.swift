import EventLog
import Events

/// Up to where the log was used: the newest commit of each lane that a question touches.
struct KnowledgeMarks {
    /// By ascending lane; empty where nothing was committed.
    let commits: [CommitMark]
    /// The instant that was asked for; nil where it was a position, or all.
    let asked: Instant?

    /// The marks of a bound of knowledge.
    init(of customer: AskedCustomer, knownAt: KnownAt, in log: EventLog) async throws {
        var commits: [CommitMark] = []
        for lane in customer.usedLanes {
            if let mark = try await log.newestCommit(lane: lane, knownAt: knownAt) {
                commits.append(mark)
            }
        }
        self.commits = commits
        if case .time(let instant) = knownAt { asked = instant } else { asked = nil }
    }

    /// The marks at an instant, but none newer than others: what was known then, as far as one may
    /// know.
    init(
        of customer: AskedCustomer,
        at instant: Instant,
        notAfter bound: KnowledgeMarks,
        in log: EventLog
    ) async throws {
        let own = try await KnowledgeMarks(of: customer, knownAt: .time(instant), in: log)
        commits = own.commits.compactMap { mark in
            let limit = bound.commits.first { $0.commit.lane == mark.commit.lane }
            return limit.map { $0.commit.number < mark.commit.number ? $0 : mark }
        }
        asked = bound.asked.map { min($0, instant) } ?? instant
    }

    /// The instant: the one asked for, else that of the newest commit; nil where there is none.
    var time: Instant? { asked ?? commits.map(\.commit.committedAt).max() }

    /// The position as `--known-at` takes it: an offset, or lane:offset pairs.
    func position(lanes: LaneCount) -> JSONTree {
        if lanes == .one { return .number(commits.first?.offset ?? 0) }
        return .text(text(lanes: lanes))
    }

    /// The same for people.
    func text(lanes: LaneCount) -> String {
        if lanes == .one { return "\(commits.first?.offset ?? 0)" }
        return commits.map { "\($0.commit.lane):\($0.offset)" }.joined(separator: ",")
    }

    /// What the answer can be held against later: the head of the chain it rests on.
    func proof(lanes: LaneCount) -> JSONTree {
        let single = commits.count == 1 ? commits.first : nil
        return .object([
            "chainHead": JSONTree(single.map { "sha256:" + $0.digest.hex }),
            "verifiedTo": position(lanes: lanes),
            "heads": .array(
                commits.map { mark in
                    .object([
                        "lane": .number(Int64(mark.commit.lane)), "offset": .number(mark.offset),
                        "commit": .number(mark.commit.number),
                        "digest": .text(mark.digest.hex),
                    ])
                }
            ),
        ])
    }
}
