/// The views that people read.
enum LiveViews {
    /// One rebuild of a database at a time; the number spells "Rebuild".
    ///
    /// Its session is idle while tables are filled, which no server's housekeeping may end.
    static let lock = """
        SET idle_session_timeout = 0;
        SELECT pg_advisory_lock(x'52656275696c64'::bigint)
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
