internal import EventLog
internal import Events
internal import Postgres
internal import Projections
internal import Projector

/// The state of the tables that answer a report or fill an export.
struct AnalyticsGround: Sendable {
    /// The newest commit included, of each lane.
    var heads: [Int: EventLog.Head] = [:]
    /// The newest version of the catalog used by the folds; 0 for none.
    var catalogVersion = 0
    /// Subscriptions that a fold refused.
    var refused = 0
    /// The latest import time that counts; nil for all imports.
    var recordedUntil: Instant?
    /// Whether temporary tables of the session answer, and not the live ones.
    var isTemporary = false

    /// The folds that build the tables, with their versions.
    var folds: [String: Int] = [:]
    /// Apple's newest signature by then in the environment of the reports; nil if it was not looked
    /// up yet, which can read the whole log.
    var newestSignature: Instant?

    /// The offset of each lane that has events.
    var offsets: [Int: Int64] { heads.mapValues(\.offset).filter { $0.value > 0 } }

    /// A query over schema `analytics`, directed to these tables.
    func sql(_ text: String) -> String {
        isTemporary ? AnalyticsRelation.temporary(text) : text
    }
}

extension Ledger {
    /// Reads tables of schema `analytics` in a session of their own, in one transaction that sees
    /// one state: that of the live tables, or of temporary ones filled with what was known then.
    ///
    /// - Parameters:
    ///   - subject: What asks, for messages.
    ///   - query: SQL that names the tables.
    ///   - knownAt: How much of the log is used; nil for the live tables.
    ///   - body: Reads in the session.
    /// - Returns: What the body returns.
    /// - Throws: `QuestionError` if the live tables cannot answer; otherwise what the body throws.
    func readingAnalytics<Answer>(
        _ subject: String,
        of query: String,
        knownAt: KnownAt?,
        _ body: (PostgresSession, AnalyticsGround) async throws -> Answer
    ) async throws -> Answer {
        try await withAnalytics(subject, of: query) { reading in
            try await reading.answer(knownAt: knownAt, body)
        }
    }

    /// Lends a session of its own to a query over schema `analytics`, outside of a transaction.
    ///
    /// - Parameters:
    ///   - subject: What asks, for messages.
    ///   - query: SQL that names the tables.
    ///   - body: Fills tables and reads.
    /// - Returns: What the body returns.
    /// - Throws: `QuestionError` if the tables cannot answer; otherwise what the body throws.
    func withAnalytics<Answer>(
        _ subject: String,
        of query: String,
        _ body: (AnalyticsReading) async throws -> Answer
    ) async throws -> Answer {
        let session = try await PostgresSession.connect(log.settings)
        let reading = AnalyticsReading(
            subject: subject,
            ledger: self,
            session: session,
            query: query
        )
        do {
            // Queries over these views have many small expressions: compiling them would cost more
            // time than it saves.
            try await session.execute("SET jit = off")
            let answer = try await body(reading)
            await session.close()
            return answer
        } catch let error as PostgresError
            where ["42P01", "3F000", "42703", "42883"].contains(error.sqlState)
        {
            await session.close()
            throw reading.unbuilt(
                "its tables are missing, or another version of this program built them "
                    + "(\(error.primaryMessage ?? "\(error)")); `subledger rebuild` rebuilds them"
            )
        } catch {
            await session.close()
            throw await log.outage(behind: error, doing: subject) ?? error
        }
    }

    /// The offsets with every lane named, because a lane that is not named would count whole.
    func whole(_ offsets: [Int: Int64]) -> [Int: Int64] {
        Dictionary(
            uniqueKeysWithValues: (0..<log.identity.lanes.value).map { ($0, offsets[$0] ?? 0) }
        )
    }
}

/// How much a fold may use: of the log, and of what the operator imported.
struct AnalyticsKnowledge: Sendable {
    /// The newest commit of each lane.
    var heads: [Int: EventLog.Head]
    /// The versions of the catalog.
    var catalogs: CatalogHistory
    /// The latest import time that counts; nil for all imports.
    var recordedUntil: Instant?
}

/// A query over schema `analytics`, and the tables that it reads.
struct AnalyticsReading {
    let subject: String
    let ledger: Ledger
    let session: PostgresSession
    let relations: [AnalyticsRelation]
    let projections: Set<String>
    let folds: [String: Int]

    init(subject: String, ledger: Ledger, session: PostgresSession, query: String) {
        let relations = AnalyticsRelation.needed(by: query)
        let projections = AnalyticsRelation.projections(of: relations, and: query)
        self.subject = subject
        self.ledger = ledger
        self.session = session
        self.relations = relations
        self.projections = projections
        folds = ledger.projector.folds.filter { projections.contains($0.key) }
    }

    func answer<Answer>(
        knownAt: KnownAt?,
        _ body: (PostgresSession, AnalyticsGround) async throws -> Answer
    ) async throws -> Answer {
        var known: AnalyticsGround?
        if let knownAt { known = try await fold(try await knowledge(knownAt)) }
        try await session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var ground = if let known { known } else { try await live() }
        ground.folds = folds
        let answer = try await body(session, ground)
        try await session.execute("COMMIT")
        return answer
    }

    /// The error of live tables that another build, or another log, made.
    func unbuilt(_ message: String) -> QuestionError {
        QuestionError(.tablesNotBuilt, "\(subject): \(message)")
    }

    /// What was known then; nil for all that is known, with what was imported after the newest
    /// event.
    func knowledge(_ knownAt: KnownAt?) async throws -> AnalyticsKnowledge {
        let heads = try await ledger.log.heads(knownAt: knownAt ?? .latest)
        var importsKnownAt = KnownAt.offsets(ledger.whole(heads.mapValues(\.offset)))
        switch knownAt {
        case nil: importsKnownAt = .latest
        case .time(let instant): importsKnownAt = .time(instant)
        case .latest, .offsets: break
        }
        return AnalyticsKnowledge(
            heads: heads,
            catalogs: try await ledger.catalogs(knownAt: importsKnownAt),
            recordedUntil: try await ledger.log.recordingBound(of: importsKnownAt)
        )
    }

    /// Folds the log as known then into temporary tables, so nothing changes for other readers.
    func fold(_ knowledge: AnalyticsKnowledge) async throws -> AnalyticsGround {
        let refused = try await fill(AnalyticsRelation.readState, relations, knowing: knowledge)
        if relations.contains(where: { $0.name == "last_signed_at" }) {
            try await bound(knowledge.heads)
        }
        return AnalyticsGround(
            heads: knowledge.heads,
            catalogVersion: knowledge.catalogs.newestVersion,
            refused: refused,
            recordedUntil: knowledge.recordedUntil,
            isTemporary: true,
            folds: folds
        )
    }

    /// Folds another state into further tables of the session, which no relation reads.
    ///
    /// - Returns: How many subscriptions the folds refused.
    func fill(_ state: String, knowing knowledge: AnalyticsKnowledge) async throws -> Int {
        try await fill(state, [], knowing: knowledge)
    }

    private func fill(
        _ state: String,
        _ relations: [AnalyticsRelation],
        knowing knowledge: AnalyticsKnowledge
    ) async throws -> Int {
        try await ledger.projector.fillTemporary(
            of: projections,
            for: relations,
            knowing: FoldContext(catalogs: knowledge.catalogs),
            upTo: knowledge.heads,
            as: state,
            in: session
        )
    }

    // What was signed later was not known then.
    private func bound(_ heads: [Int: EventLog.Head]) async throws {
        let lanes = heads.sorted { $0.key < $1.key }
        let newest = try await session.query(
            NewestSignature.sql(
                upTo: "unnest($1::int[], $2::bigint[]) AS h (lane, lane_offset)",
                isKept: false
            ),
            [.int4Array(lanes.map { Int32($0.key) }), .int8Array(lanes.map(\.value.offset))]
        ).single().int8IfPresent(0)
        try await session.execute(
            """
            CREATE OR REPLACE FUNCTION pg_temp.last_signed_at() RETURNS timestamptz
            LANGUAGE sql STABLE AS $$
                SELECT 'epoch'::timestamptz
                    + \(newest.map(String.init) ?? "NULL")::bigint * interval '1 millisecond'
            $$
            """
        )
    }

    // The live tables must be built by this program's folds from this log, all at the same position.
    private func live() async throws -> AnalyticsGround {
        var ground = AnalyticsGround()
        var found: Set<String> = []
        for row in try await session.query(
            ReportSQL.text(embeddedFile("find-live-tables.sql")),
            [.textArray(folds.keys.sorted())]
        ) {
            let table = try LiveTable(row)
            try check(table)
            guard table.head == ground.heads[table.lane, default: table.head] else {
                throw QuestionError(
                    .tablesNotReady,
                    "\(subject): the live tables are at different positions; `subledger follow "
                        + "--once` brings them to the same position"
                )
            }
            ground.heads[table.lane] = table.head
            ground.catalogVersion = max(ground.catalogVersion, table.catalogVersion)
            ground.refused = max(ground.refused, table.refused)
            found.insert(table.name)
        }
        let missing = folds.keys.filter { !found.contains($0) }.sorted()
        guard missing.isEmpty else {
            throw unbuilt(
                "there is no live table \(missing.joined(separator: ", ")); "
                    + "`subledger rebuild \(missing.joined(separator: " "))` builds it"
            )
        }
        return ground
    }

    private func check(_ table: LiveTable) throws {
        let version = folds[table.name] ?? 0
        guard table.version == version else {
            throw unbuilt(
                "the live table \(table.name) was built by version \(table.version) of its fold, but "
                    + "this program has version \(version); `subledger rebuild` rebuilds it"
            )
        }
        guard table.head.commit == 0 || table.digestInLog == table.head.digest else {
            throw unbuilt(
                "the live table \(table.name) contains commit \(table.head.commit) of lane "
                    + "\(table.lane), which this log does not have: the log was restored or forked "
                    + "since. `subledger verify` reports whether the log is intact; if this is the "
                    + "right log, `subledger rebuild` rebuilds the tables"
            )
        }
    }
}

/// A lane of a live table.
private struct LiveTable {
    let name: String
    let lane: Int
    let version: Int
    let catalogVersion: Int
    let refused: Int
    /// The commit up to which it was followed.
    let head: EventLog.Head
    /// The digest of that commit in the log; nil if the log does not have the commit.
    let digestInLog: Digest?

    init(_ row: PostgresRow) throws {
        name = try row.text(0)
        lane = Int(try row.int4(1))
        version = Int(try row.int4(2))
        catalogVersion = Int(try row.int4(4))
        refused = Int(try row.int8(5))
        head = EventLog.Head(
            offset: try row.int8(3),
            commit: try row.int8(6),
            digest: Digest(bytes: try row.bytea(7)) ?? .zero
        )
        digestInLog = try row.byteaIfPresent(8).flatMap { Digest(bytes: $0) }
    }
}
