internal import EventLog
internal import Events
internal import Postgres
internal import Projections

/// The part of a projection's table that one lane fills: a row of `ledger_projection`.
struct ProjectionPart: Sendable {
    let lane: Int
    let schema: String
    let name: String
    var state: State
    let version: Int
    let catalogVersion: Int
    let policy: String?
    /// The newest commit included in the rows.
    var head: EventLog.Head
    /// Number and digest of the rows.
    var content: ProjectionDigest
    /// The fold's module and type; nil where an older version of this program built the table.
    let fold: String?

    /// The purpose of a table.
    typealias State = Projector.Table.State

    /// Whether a fold of this program built it, with the policy in force: it has the same name and
    /// version, because a fold that gives different rows gets a new version.
    func isMade(by projection: any Projection) -> Bool {
        name == projection.name && version == projection.version && policy == nil
    }

    /// The beginning of the folds of this package; their tables without a fold are of older versions.
    static let ownModule = "Projections."

    /// Module and type of a fold, such as `App.Trials`: whose the table is.
    static func fold(_ projection: any Projection) -> String {
        // Between both, the name of a private type contains an address.
        let parts = String(reflecting: type(of: projection)).prefix { $0 != "<" }
            .split(separator: ".")
        return [parts.first, parts.last].compactMap { $0 }.joined(separator: ".")
    }

    /// The table, for SQL.
    var table: String { ProjectionSchema.table(name, in: schema) }
}

extension PostgresSession {
    /// The parts with that condition, lane by lane; it may use `$1` and further parameters.
    func parts(
        where condition: String,
        _ parameters: [PostgresValue] = [],
        _ suffix: String = ""
    ) throws(PostgresError) -> [ProjectionPart] {
        try query(ProjectionPart.select(condition, suffix), parameters)
            .map { row throws(PostgresError) in try ProjectionPart(row) }
    }

    /// The parts of the live tables of these projections.
    func liveParts(
        of names: [String],
        _ suffix: String = ""
    ) throws(PostgresError) -> [ProjectionPart] {
        let condition = "\(ProjectionPart.State.live.condition) AND name = ANY($1)"
        return try parts(where: condition, [.textArray(names)], suffix)
    }
}

extension [ProjectionPart] {
    /// The content of all of them.
    var content: ProjectionDigest { reduce(into: ProjectionDigest()) { $0.add($1.content) } }

    /// The newest event of each lane that they include; lanes without events are left out.
    var positions: [Int: Int64] {
        let offsets = filter { $0.head.commit > 0 }.map { ($0.lane, $0.head.offset) }
        return Dictionary(offsets, uniquingKeysWith: Swift.min)
    }
}

extension ProjectionPart {
    private static let columns = """
        lane, build_schema, name, state, version, catalog_version, policy, lane_offset,
        commit_no, commit_digest, row_count, digest,
        -- Tables that an older version of this program built do not have this column.
        to_jsonb(ledger_projection) ->> 'fold'
        """

    fileprivate static func select(_ condition: String, _ suffix: String) -> String {
        """
        SELECT \(columns) FROM projection.ledger_projection WHERE \(condition)
        ORDER BY lane, build_schema, name \(suffix)
        """
    }

    /// The parts of a table that is not filled yet: `$1` the lanes, `$2` their origins' digests.
    static let insert = String(
        sql: embeddedFile("part-insertion.sql"),
        filling: ["filling": State.filling.rawValue]
    )

    /// Updates the part's record to its current state.
    var updated: PostgresStatement {
        PostgresStatement(
            String(sql: embeddedFile("part-update.sql")),
            [
                .int4(Int32(lane)), .text(schema), .text(name), .int8(head.offset),
                .int8(head.commit), .bytea(head.digest.bytes), .int8(Int64(content.rowCount)),
                .bytea(content.digest.bytes),
            ]
        )
    }

    init(_ row: PostgresRow) throws(PostgresError) {
        lane = Int(try row.int4(0))
        schema = try row.text(1)
        name = try row.text(2)
        let numbers = (try row.int8(7), try row.int8(8), try row.int8(10))
        guard let state = State(rawValue: try row.text(3)),
            let commit = Digest(bytes: try row.bytea(9)),
            let content = Digest(bytes: try row.bytea(11)),
            [numbers.0, numbers.1, numbers.2].allSatisfy((0...Position.offsetMax).contains)
        else {
            throw PostgresError.impossibleRow(
                "The row of \(schema).\(name) in projection.ledger_projection does not have the form "
                    + "that this program writes. Discard and rebuild the tables."
            )
        }
        self.state = state
        version = Int(try row.int4(4))
        catalogVersion = Int(try row.int4(5))
        policy = try row.textIfPresent(6)
        head = EventLog.Head(offset: numbers.0, commit: numbers.1, digest: commit)
        self.content = ProjectionDigest(content, rowCount: Int(numbers.2))
        fold = try row.textIfPresent(12)
    }
}
