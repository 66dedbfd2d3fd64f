internal import EventLog
internal import Events
internal import Postgres
internal import Projections

extension Projector {
    /// Most events of one step: some seconds of work, after which what is done is kept.
    static let stepEventsMax: Int64 = 100_000

    /// Brings the tables of a schema to these heads; those that are further stay.
    ///
    /// The caller sees to it that nobody else moves them for long.
    func catchUp(
        _ schema: String,
        to heads: [Int: EventLog.Head],
        in session: PostgresSession
    ) async throws {
        for (lane, target) in heads.sorted(by: { $0.key < $1.key }) {
            while let step = try await nextStep(schema, lane: lane, to: target, session) {
                _ = try await step.run(in: session, waits: true)
            }
        }
    }

    private func nextStep(
        _ schema: String,
        lane: Int,
        to target: EventLog.Head,
        _ session: PostgresSession
    ) async throws -> CatchUp? {
        let parts = try await session.query(
            ProjectionPart.select("lane = $1 AND build_schema = $2"),
            [.int4(Int32(lane)), .text(schema)]
        ).map { try ProjectionPart($0) }
        return try await step(of: parts, lane: lane, to: target)
    }

    /// The next step of the parts that are furthest behind a head; nil where none is behind.
    ///
    /// - Throws: `logForked` where the log lacks the commit at which they stand.
    func step(
        of parts: [ProjectionPart],
        lane: Int,
        to target: EventLog.Head
    ) async throws -> CatchUp? {
        let followed = parts.compactMap { part in
            projections.first { part.isMade(by: $0) }.map { projection in
                FollowedPart(
                    part: part,
                    projection: projection,
                    context: context(ofCatalogue: part.catalogueVersion)
                )
            }
        }
        guard
            let from = followed.map(\.part.head).min(by: { $0.commit < $1.commit }),
            from.commit < target.commit
        else { return nil }
        try await check(from, lane: lane)
        let next = try await log.head(lane: lane, after: from, events: Projector.stepEventsMax)
        let to = next.map { $0.commit < target.commit ? $0 : target } ?? target
        return CatchUp(
            log: log,
            lane: lane,
            parts: followed.filter { $0.part.head == from },
            from: from,
            to: to
        )
    }

    /// Refuses a commit that the log does not have: it was restored, or another one was put in its
    /// place.
    func check(_ head: EventLog.Head, lane: Int) async throws {
        let known = try await log.head(lane: lane, commit: head.commit)
        guard known != head else { return }
        let found = known.map { "has the digest \($0.digest)" } ?? "is not there"
        throw ProjectorError(
            .logForked,
            "lane \(lane): the tables hold the log up to commit \(head.commit) with digest "
                + "\(head.digest), and in this log that commit \(found). The log was restored or "
                + "forked since. `subledger verify` tells whether the log is whole; if it is the "
                + "right one, `subledger rebuild` makes the tables anew"
        )
    }
}
