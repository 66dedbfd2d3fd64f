internal import Events
internal import LedgerSchema
internal import Postgres

/// A role, owner, privilege, trigger, storage option, column or constraint that differs from the
/// required state.
struct SchemaDifference: Sendable {
    /// What differs, as text.
    let what: String
    /// The statements that correct it; nil if ``Schema/bootstrap`` does.
    let statements: String?

    /// All differences, in the order in which they are corrected.
    ///
    /// Reads catalogs only. Definitions of tables are those after all migrations.
    static func all(
        withDefinitions: Bool = true,
        in session: isolated PostgresSession
    ) throws -> [SchemaDifference] {
        var rows = try session.query(Schema.differences).map { $0 }
        if withDefinitions {
            rows += try session.query(
                Schema.definitions,
                [.textArray(definitions.map(\.table)), .textArray(definitions.map(\.line))]
            )
        }
        return try rows.map {
            SchemaDifference(what: try $0.text(0), statements: try $0.textIfPresent(1))
        }
    }

    // The columns and CHECK constraints in the snapshot: a line each within CREATE TABLE.
    private static let definitions: [(table: String, line: String)] = {
        var definitions: [(table: String, line: String)] = []
        var table: String?
        for line in Schema.snapshot.split(separator: "\n") {
            if line.hasPrefix("CREATE TABLE ") {
                table = line.dropFirst("CREATE TABLE ".count).split(separator: " ").first
                    .map(String.init)
            } else if line.hasPrefix(")") {
                table = nil
            } else if let table {
                let end = line.last == "," ? line.dropLast() : line
                definitions.append((table, String(end.drop { $0 == " " })))
            }
        }
        return definitions
    }()
}

/// The file of a function in schema `ledger`.
struct FunctionSource {
    /// The function's name, with its schema.
    let name: String
    private let sql: String
    private let header: String
    private let body: String
    private let comment: String

    /// Functions that tables refer to.
    static func before(lanes: LaneCount) throws -> [FunctionSource] {
        try Schema.functionsBefore.map {
            try FunctionSource($0.replacing("{{lanes}}", with: "\(lanes.value)"))
        }
    }

    /// Functions that refer to tables.
    static var after: [FunctionSource] {
        get throws { try Schema.functionsAfter.map { try FunctionSource($0) } }
    }

    private init(_ sql: String) throws {
        guard let create = sql.firstRange(of: "CREATE OR REPLACE FUNCTION ledger."),
            let begin = sql.firstRange(of: "AS $$"),
            let end = sql[begin.upperBound...].firstRange(of: "$$;"),
            let word = sql[end.upperBound...].firstRange(of: " IS"),
            let open = sql[word.upperBound...].firstRange(of: "'"),
            let close = sql.lastIndex(of: "'"), open.upperBound <= close
        else { preconditionFailure("not the file of one function with its comment: \(sql)") }
        self.sql = sql
        header = String(sql[create.upperBound..<begin.lowerBound])
        name = "ledger.\(header.prefix { $0 != "(" })"
        body = String(sql[begin.upperBound..<end.lowerBound])
        comment = String(sql[open.upperBound..<close]).replacing("''", with: "'")
    }

    /// Creates or replaces it if it differs.
    func replace(in session: isolated PostgresSession) throws {
        if try !isThere(in: session) { try session.execute(sql) }
    }

    /// Whether the database has this function, with the same text and properties.
    func isThere(in session: isolated PostgresSession) throws -> Bool {
        let values: [PostgresValue] = [
            .text(String(name.dropFirst("ledger.".count))), .text(body), .text(comment),
            .text(property(after: "LANGUAGE ")), .bool(header.contains("STRICT")),
            .bool(header.contains("SECURITY DEFINER")),
            .text(header.contains("IMMUTABLE") ? "i" : header.contains("STABLE") ? "s" : "v"),
            .text(header.contains("PARALLEL SAFE") ? "s" : "u"),
            .text(property(after: "SET ").filter { !$0.isWhitespace }),
            .text(property(after: "GRANT EXECUTE", " TO ", in: sql)),
        ]
        return try session.query(FunctionSource.lookUp, values).single().bool(0)
    }

    /// The functions of the schemas of the log, with their arguments, that are none of ours, or have
    /// the name of one and other arguments.
    static func further(
        than ours: [FunctionSource],
        in session: isolated PostgresSession
    ) throws -> [String] {
        try session.query(
            """
            SELECT p.oid::regprocedure::text FROM (
                SELECT p.*, count(*) OVER (PARTITION BY p.pronamespace, p.proname) AS same_name
                FROM pg_proc p
                WHERE p.pronamespace IN (to_regnamespace('ledger')::oid,
                    to_regnamespace('operation')::oid)) p
            LEFT JOIN unnest($1::text[], $2::text[]) AS our (name, body)
                ON our.name = p.pronamespace::regnamespace || '.' || p.proname
            WHERE our.name IS NULL OR p.same_name > 1 AND p.prosrc <> our.body
            ORDER BY 1
            """,
            [.textArray(ours.map(\.name)), .textArray(ours.map(\.body))]
        ).map { try $0.text(0) }
    }

    // The text after a word, up to the end of the line or statement or, for a single word, a space.
    private func property(after word: String, _ next: String = "", in text: String? = nil) -> String
    {
        let text = text ?? header
        guard let start = text.firstRange(of: word),
            let found = next.isEmpty ? start : text[start.upperBound...].firstRange(of: next)
        else { return "" }
        let rest = text[found.upperBound...]
        let isWord = word.hasPrefix("LANGUAGE")
        return String(rest.prefix { $0 != "\n" && $0 != ";" && !(isWord && $0 == " ") })
    }

    // Without a grant in its file, a function has the default privileges of new functions in its
    // database.
    private static let lookUp = """
        SELECT EXISTS (
            SELECT FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE p.pronamespace = to_regnamespace('ledger')::oid AND p.proname = $1
                AND p.prosrc = $2 AND obj_description(p.oid, 'pg_proc') = $3 AND l.lanname = $4
                AND p.proisstrict = $5 AND p.prosecdef = $6 AND p.provolatile::text = $7
                AND p.proparallel::text = $8
                AND replace(coalesce(array_to_string(p.proconfig, ','), ''), ' ', '') = $9
                AND ($10 = '' OR $10 = (
                    SELECT string_agg(coalesce(r.rolname, 'PUBLIC'), ', ' ORDER BY r.rolname)
                    FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                    LEFT JOIN pg_roles r ON r.oid = a.grantee
                    WHERE a.grantee <> p.proowner)))
        """
}
