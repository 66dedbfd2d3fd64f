internal import Events

/// What was known of some subscriptions, step by step in the order of our clock.
struct KnowledgeCourse {
    /// The subscriptions.
    let accesses: [KnownAccess]
    private let moves: [Move]
    // Whether what became known at an instant was imported.
    private let imports: [Instant: Bool]

    /// A step of one subscription, which replaces what was known of it.
    private struct Move {
        let knownFrom: Instant
        let access: Int
        let step: Int
    }

    /// The steps of these subscriptions.
    init(_ accesses: [KnownAccess]) {
        self.accesses = accesses
        moves = accesses.indices.flatMap { access in
            accesses[access].steps.indices.map { step in
                Move(
                    knownFrom: accesses[access].steps[step].knownFrom,
                    access: access,
                    step: step
                )
            }
        }.sorted { $0.knownFrom < $1.knownFrom }
        var imports: [Instant: Bool] = [:]
        for access in accesses {
            for event in access.history.events {
                imports[event.recordedAt, default: true] =
                    imports[event.recordedAt, default: true]
                    && event.isImported
            }
        }
        self.imports = imports
    }

    /// The instants at which anything became known, ascending, without duplicates.
    var instants: [Instant] {
        var unique: [Instant] = []
        for move in moves where unique.last != move.knownFrom { unique.append(move.knownFrom) }
        return unique
    }

    /// Whether all events that became known at an instant of our clock came from an import.
    func isImported(at recordedAt: Instant) -> Bool { imports[recordedAt] ?? false }

    /// The answers for an instant, one for each instant of knowledge, ascending.
    func answers(at instant: Instant, askedFor stream: StreamID? = nil) -> [KnownAnswer] {
        var parts = accesses.map { _ in AccessDeciders?.none }
        var answers: [KnownAnswer] = []
        var next = 0
        while next < moves.count {
            let known = moves[next].knownFrom
            while next < moves.count, moves[next].knownFrom == known {
                let step = step(of: moves[next])
                parts[moves[next].access] = AccessDeciders(
                    step.rows,
                    step.oneTime,
                    isKnown: true,
                    at: instant,
                    askedFor: stream
                )
                next += 1
            }
            let deciders = AccessDeciders(parts.lazy.compactMap(\.self))
            answers.append(
                KnownAnswer(
                    knownFrom: known,
                    answer: AccessAnswer(deciders, at: instant),
                    firstPurchase: deciders.firstPurchase
                )
            )
        }
        return answers
    }

    /// The last instant of knowledge at which the answer for an instant stopped being wrong, and
    /// the one before it; the instant itself for both if that never happened.
    ///
    /// - Parameters:
    ///   - instant: The instant asked about.
    ///   - wrong: The answer that is wrong: true for access.
    /// - Returns: Both instants of knowledge, not before the instant asked about.
    func turn(
        at instant: Instant,
        fromWrong wrong: Bool
    ) -> (before: Instant, after: Instant) {
        var grants = accesses.map { $0.step(knownAt: instant)?.grants(at: instant) ?? false }
        var (before, turn) = (instant, (before: instant, after: instant))
        var next = moves.partitioningIndex { instant < $0.knownFrom }
        while next < moves.count {
            let known = moves[next].knownFrom
            let wasWrong = grants.contains(true) == wrong
            while next < moves.count, moves[next].knownFrom == known {
                grants[moves[next].access] = step(of: moves[next]).grants(at: instant)
                next += 1
            }
            if wasWrong, grants.contains(true) != wrong { turn = (before, known) }
            before = known
        }
        return turn
    }

    private func step(of move: Move) -> KnownAccess.Step {
        accesses[move.access].steps[move.step]
    }
}
