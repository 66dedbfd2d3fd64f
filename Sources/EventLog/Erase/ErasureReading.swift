internal import Events
internal import Postgres

/// Finds the rows of a lane that an erasure must blank.
///
/// A payload is erased as a whole, so everything else it proves loses its proof too. All rows that
/// cite a payload are in the commit that brought it, so the rows are found commit by commit, until
/// no payload has only some of its rows blanked.
struct ErasureReading {
    /// The rows of one subscription to blank.
    struct Rows {
        var scope: Erasure.Scope
        var events: [BlankedEvent] = []
        var confirmations: [BlankedConfirmation] = []
        var evidence: Set<Int64> = []

        var erasure: Erasure {
            Erasure(
                scope: scope,
                events: NumberRanges(events.map(\.offset)),
                confirmations: NumberRanges(confirmations.map(\.commit)),
                evidence: NumberRanges(evidence)
            )
        }
    }

    /// What the rows no longer name once they are blanked.
    struct Removed {
        /// The ids, by their bytes: another row may still have them.
        var ids: Set<[UInt8]> = []
        var digests: [Digest] = []
    }

    /// An event after blanking.
    struct BlankedEvent {
        let offset: Int64
        let salt: [UInt8]
        let content: [UInt8]
        let key: [UInt8]
    }

    /// A row of confirmations after blanking.
    struct BlankedConfirmation {
        let commit: Int64
        let asOf: Int64
        let salt: [UInt8]
    }

    struct FoundEvent {
        let event: Event
        let keys: CommitmentKeys
        let store: String
        let isLate: Bool
    }

    struct FoundConfirmation {
        let row: ConfirmationRow
        let commit: Int64
        let keys: CommitmentKeys
        let erased: ErasedParts
        let numbers: [Int64]
        let repeated: [Int64]
    }

    struct FoundEvidence {
        let commit: Int64
        let digest: Digest
        let record: Digest
        let isKept: Bool
    }

    let lane: Lane
    private let target: ErasureTarget?
    var events: [Int64: FoundEvent] = [:]
    var confirmations: [FoundConfirmation] = []
    var known: [Int64: FoundEvidence] = [:]
    var commits: Set<Int64> = []
    private var taken: Set<Int64> = []
    private var removed = Removed()

    /// Reads what an erasure of `target` removes; nil removes only the payloads `seeds`.
    static func rows(
        lane: Lane,
        target: ErasureTarget?,
        evidence seeds: Set<Int64> = [],
        in session: isolated PostgresSession
    ) throws -> (rows: [StreamID: Rows], removed: Removed) {
        var reading = ErasureReading(lane: lane, target: target)
        return try reading.read(seeds, in: session)
    }

    private init(lane: Lane, target: ErasureTarget?) {
        self.lane = lane
        self.target = target
    }

    private mutating func read(
        _ seeds: Set<Int64>,
        in session: isolated PostgresSession
    ) throws -> (rows: [StreamID: Rows], removed: Removed) {
        var wanted = seeds
        var chosen: (events: Set<Int64>, confirmations: Set<Int64>) = ([], [])
        if let target {
            try readStream(target.stream, in: session)
            try readEvidence(
                Set(events.values.map(\.event.evidence))
                    .union(confirmations.flatMap(\.numbers)),
                in: session
            )
            chosen = choose(for: target)
            for offset in chosen.events {
                if let event = events[offset]?.event { wanted.insert(event.evidence) }
            }
            for found in confirmations where chosen.confirmations.contains(found.commit) {
                wanted.formUnion(found.numbers)
            }
        }
        try follow(wanted, in: session)
        let rows = gather(chosen)
        removed.digests = taken.compactMap { known[$0]?.digest }
        return (rows, removed)
    }

    // Follows payloads to all rows that cite them, and rows to all payloads that they cite.
    private mutating func follow(
        _ wanted: Set<Int64>,
        in session: isolated PostgresSession
    ) throws {
        var wanted = wanted
        while true {
            try readEvidence(wanted.subtracting(known.keys), in: session)
            let more = wanted.filter { known[$0] != nil }
            guard !more.isSubset(of: taken) else { return }
            taken.formUnion(more)
            let new = Set(taken.compactMap { known[$0]?.commit }).subtracting(commits)
            try readCommits(new, in: session)
            for found in confirmations
            where found.erased == .nothing && !taken.isDisjoint(with: found.numbers) {
                // Confirmation rows of a subscription are blanked by commit, as the erasure names
                // them.
                for other in confirmations
                where other.commit == found.commit && other.row.stream == found.row.stream {
                    wanted.formUnion(other.numbers)
                }
            }
        }
    }

    // The rows of the subscription itself that the erasure removes.
    private func choose(
        for target: ErasureTarget
    ) -> (events: Set<Int64>, confirmations: Set<Int64>) {
        func isKept(_ number: Int64) -> Bool { known[number]?.isKept ?? false }
        var offsets: Set<Int64> = []
        for (offset, found) in events {
            let fact = found.event.fact
            guard fact.stream == target.stream, fact.kind != .erasure, fact.kind != .erased,
                found.event.erased < target.scope.parts
            else { continue }
            let isTaken =
                switch target.scope {
                case .subscription: true
                // Only the links that name this customer are removed; an unlink does not name a
                // customer.
                case .customer:
                    (fact.content.identifiesPerson || isKept(found.event.evidence))
                        && (fact.kind != .link
                            || fact.content.carries(.customerId, target.customer ?? ""))
                case .link:
                    fact.kind == .link && fact.content.carries(.customerId, target.customer ?? "")
                case .payload: false
                }
            if isTaken { offsets.insert(offset) }
        }

        var commits: Set<Int64> = []
        for found in confirmations
        where found.row.stream == target.stream && found.erased < target.scope.parts {
            let isTaken =
                switch target.scope {
                case .subscription: true
                case .customer:
                    found.erased == .nothing && found.numbers.contains(where: isKept)
                        && found.repeated.allSatisfy { !isForeignLink(at: $0, target) }
                case .link: !offsets.isDisjoint(with: found.repeated)
                case .payload: false
                }
            if isTaken { commits.insert(found.commit) }
        }
        return (offsets, commits)
    }

    private func isForeignLink(at offset: Int64, _ target: ErasureTarget) -> Bool {
        guard let fact = events[offset]?.event.fact, fact.kind == .link else { return false }
        return !fact.content.carries(.customerId, target.customer ?? "")
    }

    private mutating func gather(
        _ chosen: (events: Set<Int64>, confirmations: Set<Int64>)
    ) -> [StreamID: Rows] {
        var rows: [StreamID: Rows] = [:]
        func scope(of stream: StreamID) -> Erasure.Scope {
            if let target, target.stream == stream { target.scope } else { .payload }
        }

        for (offset, found) in events {
            let event = found.event
            let stream = event.fact.stream
            let isOwn = stream == target?.stream && chosen.events.contains(offset)
            let isTakenWhole = taken.contains(event.evidence)
            guard isOwn || (isTakenWhole && event.erased == .nothing) else { continue }
            // All rows that an erasure names lose the same parts.
            let parts = scope(of: stream).parts
            removed.ids.formUnion(LaneDirectory.ids(of: event.fact, parts.ids))
            rows[stream, default: Rows(scope: scope(of: stream))].events.append(
                blank(found, parts)
            )
            if isTakenWhole {
                rows[stream]?.evidence.insert(event.evidence)
            }
        }

        for found in confirmations {
            let stream = found.row.stream
            let isOwn = stream == target?.stream && chosen.confirmations.contains(found.commit)
            let isTakenWhole = !taken.isDisjoint(with: found.numbers)
            guard isOwn || (isTakenWhole && found.erased == .nothing) else { continue }
            let parts =
                isOwn && scope(of: stream) == .subscription ? ErasedParts.everything : .payload
            if parts == .everything {
                removed.ids.formUnion(found.row.transactionIds.map { Array($0.utf8) })
            }
            rows[stream, default: Rows(scope: scope(of: stream))].confirmations.append(
                blank(found, parts)
            )
            rows[stream]?.evidence.formUnion(taken.intersection(found.numbers))
        }
        return rows
    }

    private func blank(_ found: FoundEvent, _ parts: ErasedParts) -> BlankedEvent {
        let (event, offset) = (found.event, found.event.position.offset)
        let commitments = event.commitments(
            keys: found.keys,
            evidence: known[event.evidence]?.record ?? .zero,
            store: found.store,
            isLate: found.isLate
        )
        let fact = event.fact
        let (content, key): (Content, FactKey) =
            switch parts {
            case .nothing, .payload: (fact.content, FactKey(fact))
            case .person:
                (fact.content.withoutPerson, FactKey(erasedAt: offset, of: fact.subject))
            case .everything:
                (Content(format: fact.content.format), FactKey(erasedAt: offset, of: nil))
            }
        return BlankedEvent(
            offset: offset,
            salt: found.keys.stored(without: parts, commitments),
            content: content.canonicalBytes,
            key: key.bytes
        )
    }

    private func blank(_ found: FoundConfirmation, _ parts: ErasedParts) -> BlankedConfirmation {
        let commitments = found.row.commitments(
            lane: lane.number,
            keys: found.keys,
            evidence: found.numbers.map { known[$0]?.record ?? .zero }
        )
        return BlankedConfirmation(
            commit: found.commit,
            asOf: found.row.asOf.milliseconds,
            salt: found.keys.stored(without: parts, commitments)
        )
    }
}

extension ErasedParts {
    /// The ids that an event loses.
    fileprivate var ids: [Field] {
        switch self {
        case .nothing, .payload: []
        case .person: [.appAccountToken, .customerId]
        case .everything: LaneDirectory.fields
        }
    }
}
