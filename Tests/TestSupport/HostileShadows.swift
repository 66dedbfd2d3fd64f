import Foundation
package import Postgres

/// Functions, operators and relations that lie before PostgreSQL's own in every search path that a
/// database or a role sets: whoever calls one of the first two gets an error.
package enum HostileShadows {
    /// Whether every database of the tests has them: the whole suite then shows that nothing of ours
    /// calls one.
    package static let areEverywhere =
        ProcessInfo.processInfo.environment["SUBLEDGER_TEST_SHADOWS"] == "1"

    /// The schema that has them.
    package static let schema = "hostile"

    /// Settings that decide how the server prints values and the definitions in its catalogs, each
    /// with another value than the usual one.
    package static let printing = [
        ("datestyle", "SQL, DMY"), ("intervalstyle", "sql_standard"),
        ("timezone", "Asia/Kathmandu"), ("bytea_output", "escape"), ("extra_float_digits", "-15"),
        ("quote_all_identifiers", "on"),
    ]

    /// The database's other settings that a careless session would take over.
    private static let settings =
        [
            ("search_path", "\(schema), pg_catalog, public"),
            ("standard_conforming_strings", "off"),
        ] + printing.map { name, value in (name, "''\(value)''") }

    /// Plants them in a database, for sessions that begin afterwards.
    ///
    /// - Returns: How many functions and operators there are.
    @discardableResult
    package static func plant(in settings: ConnectionSettings) async throws -> Int64 {
        let session = try await PostgresSession.connect(settings)
        try await session.execute(plant)
        try await mislead(session)
        let count = try await session.query(
            """
            SELECT (SELECT count(*) FROM pg_proc WHERE pronamespace = 'hostile'::regnamespace)
                + (SELECT count(*) FROM pg_operator WHERE oprnamespace = 'hostile'::regnamespace)
            """
        ).single().int8(0)
        await session.close()
        return count
    }

    /// Makes sessions of a database with shadows find them; a copy of a database lacks this.
    static func mislead(_ session: PostgresSession) async throws {
        for (name, value) in settings {
            try await session.execute(
                """
                DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET \(name) = \(value)',
                    current_database()); END $$
                """
            )
        }
    }

    // With the same arguments, because then the first schema of the path wins. What PostgreSQL does
    // not let a person write (internal types, VARIADIC "any") is left out.
    private static let plant = """
        CREATE SCHEMA hostile;
        GRANT USAGE ON SCHEMA hostile TO PUBLIC;
        DO $plant$
        DECLARE
            found record;
            refusal constant text := $$BEGIN RAISE EXCEPTION 'a hostile function ran'; END$$;
        BEGIN
            FOR found IN
                SELECT format('CREATE FUNCTION hostile.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L',
                    p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
                    refusal) AS statement
                FROM pg_proc p
                WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a')
                UNION ALL
                SELECT format('CREATE FUNCTION hostile.op_%1$s(%2$s) RETURNS %3$s '
                    'LANGUAGE plpgsql AS %4$L; CREATE OPERATOR hostile.%5$s (%6$s '
                    'FUNCTION = hostile.op_%1$s)', o.oid,
                    concat_ws(', ', nullif(o.oprleft, 0)::regtype, o.oprright::regtype),
                    o.oprresult::regtype, refusal, o.oprname, concat(
                        'LEFTARG = ' || nullif(o.oprleft, 0)::regtype || ', ',
                        'RIGHTARG = ' || o.oprright::regtype || ', '))
                FROM pg_operator o WHERE o.oprnamespace = 'pg_catalog'::regnamespace
                UNION ALL
                SELECT format('CREATE VIEW hostile.%1$I AS SELECT * FROM pg_catalog.%1$I '
                    'WHERE false; GRANT SELECT ON hostile.%1$I TO PUBLIC', c.relname)
                FROM pg_class c
                WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
            LOOP
                BEGIN
                    EXECUTE found.statement;
                EXCEPTION WHEN OTHERS THEN
                    NULL;
                END;
            END LOOP;
        END
        $plant$
        """
}
