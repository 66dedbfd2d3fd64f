internal import EventLog
internal import Events
internal import Postgres
internal import Projections

/// The views that people read, and the page that says what is behind each.
enum LiveViews {
    /// One rebuild of a database at a time; the number spells "Rebuild".
    ///
    /// Its session is idle while tables are filled, which no server's housekeeping may end.
    static let lock = """
        SET idle_session_timeout = 0;
        SELECT pg_advisory_lock(x'52656275696c64'::bigint)
        """

    /// Made once; `ledger_projection` says what every view shows.
    static let bootstrap = """
        BEGIN;
        SET LOCAL client_min_messages = warning;
        SELECT pg_advisory_xact_lock(x'50726f6a'::bigint);
        CREATE SCHEMA IF NOT EXISTS projection AUTHORIZATION ledger_owner;
        GRANT USAGE ON SCHEMA projection TO ledger_writer, ledger_reader;
        CREATE TABLE IF NOT EXISTS projection.ledger_projection (
            name         text        NOT NULL,
            version      int         NOT NULL,
            build_schema text        NOT NULL,
            row_count    bigint      NOT NULL,
            digest       bytea       NOT NULL,
            positions    jsonb       NOT NULL,
            rebuilt_at   timestamptz NOT NULL,
            CONSTRAINT ledger_projection_pkey PRIMARY KEY (name)
        );
        ALTER TABLE projection.ledger_projection OWNER TO ledger_owner;
        GRANT SELECT ON projection.ledger_projection TO ledger_writer, ledger_reader;
        COMMENT ON TABLE projection.ledger_projection IS 'What each view of this schema shows: which fold, up to which events, with which content.';
        COMMENT ON COLUMN projection.ledger_projection.digest IS 'Of all rows, without cited positions: equal for two ledgers that hold the same facts.';
        COMMENT ON COLUMN projection.ledger_projection.positions IS 'Newest folded offset of each lane.';
        COMMIT
        """

    /// Points a view at its new table.
    ///
    /// Replaced, not dropped, so that grants and views upon it stay; only columns that changed,
    /// other than by new ones at the end, make a new view necessary.
    static func point(_ name: String, to schema: String) -> String {
        """
        DO $$
        BEGIN
            CREATE OR REPLACE VIEW projection.\(name) AS SELECT * FROM \(schema).\(name);
        EXCEPTION WHEN invalid_table_definition THEN
            DROP VIEW projection.\(name);
            CREATE VIEW projection.\(name) AS SELECT * FROM \(schema).\(name);
        END
        $$;
        GRANT SELECT ON projection.\(name) TO ledger_writer, ledger_reader
        """
    }

    static let record = """
        INSERT INTO projection.ledger_projection
            (name, version, build_schema, row_count, digest, positions, rebuilt_at)
        VALUES ($1, $2, $3, $4, $5, $6, now())
        ON CONFLICT (name) DO UPDATE SET version = excluded.version,
            build_schema = excluded.build_schema, row_count = excluded.row_count,
            digest = excluded.digest, positions = excluded.positions,
            rebuilt_at = excluded.rebuilt_at
        """

    /// Drops the schemas of builds that no view shows and nobody is filling.
    ///
    /// A reader that still holds the old tables delays the drop; it is then left to the next
    /// rebuild, rather than making new readers queue behind it.
    static let dropUnused = """
        DO $$
        DECLARE
            unused text;
        BEGIN
            SET LOCAL lock_timeout = '200ms';
            FOR unused IN
                SELECT nspname FROM pg_namespace n
                WHERE nspname ~ '^projection_[0-9]{1,9}$' AND nspname NOT IN
                    (SELECT build_schema FROM projection.ledger_projection)
            LOOP
                BEGIN
                    EXECUTE format('DROP SCHEMA %I CASCADE', unused);
                EXCEPTION WHEN lock_not_available THEN
                    NULL;  -- somebody still reads or fills it
                END;
            END LOOP;
        END
        $$
        """
}

extension Build {
    /// How long a promotion waits for the lock on a view: as long, new readers wait behind it.
    static let promotionLockMilliseconds = 200

    /// How long readers get between two attempts at a promotion.
    static let promotionPause = Duration.milliseconds(500)

    /// Attempts at a promotion before a rebuild is given up: some ten minutes of a transaction that
    /// has read a view and does not end.
    static let promotionAttemptsMax = 900

    /// Points the views at the new tables, in one short transaction, and drops the old tables.
    func promote(
        _ folded: Folded,
        heads: [Int: EventLog.Head],
        in session: PostgresSession
    ) async throws -> [Projector.Rebuilt] {
        let rebuilt = zip(projections, folded.digests).map { projection, digest in
            Projector.Rebuilt(
                name: projection.name,
                version: projection.version,
                rows: digest.rowCount,
                streams: folded.streams,
                events: folded.events,
                digest: digest.digest,
                positions: heads.mapValues(\.offset)
            )
        }
        try await promoteOnceReadersAllow(rebuilt, heads, in: session)
        try await session.execute(LiveViews.dropUnused)
        return rebuilt
    }

    private func promoteOnceReadersAllow(
        _ rebuilt: [Projector.Rebuilt],
        _ heads: [Int: EventLog.Head],
        in session: PostgresSession
    ) async throws {
        for _ in 0..<Build.promotionAttemptsMax {
            do throws(PostgresError) {
                return try await promoteAtOnce(rebuilt, heads, in: session)
            } catch {
                guard error.sqlState == "55P03" else { throw error }
            }
            try await Task.sleep(for: Build.promotionPause)
        }
        throw ProjectorError(
            .viewsInUse,
            "rebuild: the new tables are ready, but an open transaction reads the views of schema "
                + "projection and does not end; pg_stat_activity shows it. End it and run "
                + "`subledger rebuild` again"
        )
    }

    private func promoteAtOnce(
        _ rebuilt: [Projector.Rebuilt],
        _ heads: [Int: EventLog.Head],
        in session: PostgresSession
    ) async throws(PostgresError) {
        let positions =
            "{"
            + heads.sorted { $0.key < $1.key }
            .map { "\"\($0.key)\":\($0.value.offset)" }.joined(separator: ",") + "}"
        try await session.transaction { session throws(PostgresError) in
            try session.execute(
                "SET LOCAL ROLE ledger_owner; "
                    + "SET LOCAL lock_timeout = \(Build.promotionLockMilliseconds)"
            )
            for projection in rebuilt {
                try session.execute(LiveViews.point(projection.name, to: schema))
                try session.query(
                    LiveViews.record,
                    [
                        .text(projection.name), .int4(Int32(projection.version)), .text(schema),
                        .int8(Int64(projection.rows)), .bytea(projection.digest.bytes),
                        .jsonb(positions),
                    ]
                )
            }
        }
    }
}
