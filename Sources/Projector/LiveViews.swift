/// The views that people read.
enum LiveViews {
    /// One rebuild of a database at a time; the number spells "Rebuild".
    static let lock = "SELECT pg_advisory_lock(x'52656275696c64'::bigint)"

    /// The same, without waiting.
    static let tryLock = "SELECT pg_try_advisory_lock(x'52656275696c64'::bigint)"

    /// A session that is idle while others fill tables, which no server's housekeeping may end.
    static let patience = """
        SET idle_session_timeout = 0;
        SET idle_in_transaction_session_timeout = 0
        """

    /// Points a view at its new table.
    ///
    /// Replaced, not dropped, so that grants and views upon it stay; only columns that changed,
    /// other than by new ones at the end, make a new view necessary.
    static func point(_ name: String, to table: String) -> String {
        """
        DO $$
        BEGIN
            CREATE OR REPLACE VIEW projection.\(name) AS SELECT * FROM \(table);
        EXCEPTION WHEN invalid_table_definition THEN
            DROP VIEW projection.\(name);
            CREATE VIEW projection.\(name) AS SELECT * FROM \(table);
        END
        $$;
        GRANT SELECT ON projection.\(name) TO ledger_writer, ledger_reader
        """
    }
}
