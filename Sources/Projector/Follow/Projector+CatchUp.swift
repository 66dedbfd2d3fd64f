internal import EventLog
internal import Events
internal import Postgres
internal import Projections

extension Projector {
    /// The most events and repetitions of one step: some seconds of work, after which the result is
    /// saved.
    ///
    /// A touched stream is folded as a whole in every step, so fewer steps mean fewer folds.
    static let stepStatementsMax: Int64 = 250_000

    /// Brings tables to these heads, by the folds that built them; tables that are further along
    /// stay.
    func catchUp(
        _ tables: ShadowTables,
        to heads: [Int: EventLog.Head],
        in session: PostgresSession
    ) async throws {
        let context = try await self.context()
        try await catchUp(tables, by: { followed($0, context) }, in: session) { heads[$0.lane] }
    }

    /// Brings each table to the head that `target` returns for its part, by the fold that
    /// `followed` returns for it; a part for which either returns nil stays.
    func catchUp(
        _ tables: ShadowTables,
        by followed: (ProjectionPart) -> FollowedPart?,
        in session: PostgresSession,
        to target: (ProjectionPart) -> EventLog.Head?
    ) async throws {
        var lane: Int?
        repeat {
            let parts = try await parts(of: tables, session)
            // The first lane in which a part is behind.
            lane = nil
            for number in Set(parts.map(\.lane)).sorted() where lane == nil {
                let here = parts.filter { $0.lane == number }.compactMap(followed)
                guard let step = try await step(of: here, lane: number, to: target) else {
                    continue
                }
                _ = try await step.run(in: session, waits: true)
                lane = number
            }
        } while lane != nil
    }

    /// The fold of this program that built a part, with its context; nil if none did.
    func followed(_ part: ProjectionPart, _ context: FoldContext) -> FollowedPart? {
        projections.first { part.isMade(by: $0) }.map { projection in
            FollowedPart(
                part: part,
                projection: projection,
                context: context.knowing(catalog: part.catalogVersion)
            )
        }
    }

    /// The next step of those parts of a lane that are furthest behind their target.
    ///
    /// Nil if none is behind. Throws `logForked` if the log lacks the commit at which they are.
    func step(
        of parts: [FollowedPart],
        lane: Int,
        to target: (ProjectionPart) -> EventLog.Head?
    ) async throws -> CatchUp? {
        let behind = parts.compactMap { part in
            target(part.part).flatMap { $0.commit > part.part.head.commit ? (part, $0) : nil }
        }
        guard let (first, end) = behind.min(by: { $0.0.part.head.commit < $1.0.part.head.commit })
        else { return nil }
        let from = first.part.head
        try await check(from, lane: lane)
        let next = try await log.head(
            lane: lane,
            after: from,
            statements: Projector.stepStatementsMax
        )
        let to = next.map { $0.commit < end.commit ? $0 : end } ?? end
        return CatchUp(
            log: log,
            lane: lane,
            parts: behind.filter { $0.0.part.head == from && $0.1.commit >= to.commit }.map(\.0),
            from: from,
            to: to
        )
    }

    /// Throws if the log lacks a commit: it was restored, or replaced by another one.
    func check(_ head: EventLog.Head, lane: Int) async throws {
        let known = try await log.head(lane: lane, commit: head.commit)
        if let known, known.digest == head.digest, head.offset <= known.offset { return }
        let found =
            known.map { "ends at offset \($0.offset) with digest \($0.digest)" } ?? "does not exist"
        throw ProjectorError(
            .logForked,
            "lane \(lane): the tables contain the log up to commit \(head.commit), offset "
                + "\(head.offset), with digest \(head.digest), but in this log that commit \(found). The log was restored or "
                + "forked since. `subledger verify` reports whether the log is intact; if it is "
                + "the right one, `subledger rebuild` rebuilds the tables"
        )
    }
}
