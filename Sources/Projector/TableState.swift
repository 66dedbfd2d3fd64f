internal import Postgres

extension Projector.Table {
    /// What a table is there for, in the order in which tables are listed.
    public enum State: String, Sendable, CaseIterable {
        /// Behind the view.
        case live
        /// Whole, and waiting to be promoted.
        case ready
        /// Kept beside the live one, under a name of its own.
        case beside
        /// The same, up to a given place of the log, where it stays.
        case fixed
        /// Being filled; or, where no rebuild runs, left by one that was killed.
        case filling
    }
}

/// What may become of a table, and the SQL of it. A table begins as `filling`; from every state it
/// may be dropped.
extension Projector.Table.State {
    /// The states that a table of this one may change to.
    var next: [Self] {
        switch self {
        case .filling: [.live, .ready, .beside, .fixed]
        case .ready: [.live]
        case .live, .beside, .fixed: []
        }
    }

    /// The states whose tables `follow` brings on.
    static let followed: [Self] = [.live, .ready, .beside]

    /// The states whose tables stay until `discard` drops their schema.
    static let kept: [Self] = [.beside, .fixed]

    /// Where the tables of this state come in a list.
    var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }

    /// The SQL condition that a row of `ledger_projection` is of this state.
    var condition: String { [self].condition }

    /// Changes tables to this state, as far as theirs allows it, within a transaction of the role
    /// that owns them.
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

    /// Forgets tables of this state and the streams they refuse, within a transaction of the role
    /// that owns them; the tables themselves are left to `LeftOvers`.
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
    /// The SQL condition that a row of `ledger_projection` is of one of these states.
    var condition: String {
        "state IN (\(map { ProjectionSchema.literal($0.rawValue) }.joined(separator: ", ")))"
    }
}
