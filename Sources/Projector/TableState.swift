internal import Postgres

extension Projector.Table {
    /// The purpose of a table, in the order in which tables are listed.
    public enum State: String, CaseIterable, Codable, Sendable {
        /// Shown by the view.
        case live
        /// Complete, and ready to be promoted.
        case ready
        /// Kept next to the live one, in a schema of its own.
        case kept
        /// The same, up to a given position of the log, where it stays.
        case pinned
        /// Being filled; or, if no rebuild is running, left by one that was killed.
        case filling
    }
}

/// The possible changes of a table's state, and their SQL.
///
/// A table begins as `filling`; it may be dropped in every state.
extension Projector.Table.State {
    /// The states to which a table in this state may change.
    var next: [Self] {
        switch self {
        case .filling: [.live, .ready, .kept, .pinned]
        case .ready: [.live]
        case .live, .kept, .pinned: []
        }
    }

    /// The states whose tables `follow` keeps up to date.
    static let followed: [Self] = [.live, .ready, .kept]

    /// The states whose tables stay until `discard` drops their schema.
    static let lasting: [Self] = [.kept, .pinned]

    /// The place of tables in this state in a list.
    var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }

    /// The SQL condition that a row of `ledger_projection` has this state.
    var condition: String { [self].condition }

    /// Changes tables to this state, as far as their current state allows, within a transaction of
    /// the role that owns them.
    func set(
        _ tables: ShadowTables,
        in session: isolated PostgresSession
    ) throws(PostgresError) {
        let before = Self.allCases.filter { $0.next.contains(self) }
        try session.query(
            """
            UPDATE projection.ledger_projection SET state = $3
            WHERE build_schema = $1 AND name = ANY($2) AND \(before.condition)
            """,
            [.text(tables.schema), .textArray(tables.names), .text(rawValue)]
        )
    }

    /// Deletes the records about tables in this state and the streams they refuse, within a
    /// transaction of the role that owns them; the tables themselves are left to `LeftOvers`.
    func unregister(
        _ names: [String],
        in session: isolated PostgresSession
    ) throws(PostgresError) {
        for table in ["refused_stream", "ledger_projection"] {
            try session.query(
                """
                DELETE FROM projection.\(table) t
                WHERE name = ANY($1) AND build_schema IN (
                    SELECT build_schema FROM projection.ledger_projection p
                    WHERE \(condition) AND p.name = t.name)
                """,
                [.textArray(names)]
            )
        }
    }
}

extension [Projector.Table.State] {
    /// The SQL condition that a row of `ledger_projection` has one of these states.
    var condition: String {
        "state IN (\(map { ProjectionSchema.literal($0.rawValue) }.joined(separator: ", ")))"
    }
}
