internal import Events
internal import Postgres

/// The distribution of a ledger's tables by lane over the servers of a Citus cluster.
///
/// Citus calls a part of a table on one server a shard. Every lane gets a shard of its own, and
/// the shards of one lane in all tables are on the same server. Tables of schema `operation` and
/// the tables of projections stay on the coordinator.
struct Distribution: Sendable {
    /// The number of lanes of the ledger.
    let lanes: LaneCount
    /// Tables that are still on the coordinator only, with their schema: those with a lane.
    private let localTables: [String]
    /// The same for tables without a lane, which every server gets a copy of.
    private let localReferences: [String]
    /// Roles that cannot log in on some server, and whether this server is one of those: servers
    /// connect to each other as the role of SET ROLE.
    private let rolesWithoutLogin: [(name: String, isHere: Bool)]
    /// Functions that only the coordinator has, because they name tables, with their arguments.
    private let localFunctions: [String]
    /// Whether each lane has a shard of its own.
    private let isSplit: Bool
    /// Whether an erasure runs on the server that has the lane.
    private let isErasureDelegated: Bool
    /// The lanes whose ids are not all in the directory of lanes.
    let unlistedLanes: LaneDirectory.Unlisted

    /// Reads the state of a ledger; nil if it is not distributed, and was not asked to be.
    ///
    /// - Parameters:
    ///   - isAsked: Whether the operator wants it to be distributed.
    ///   - identity: The ledger.
    ///   - session: A session in a transaction.
    /// - Throws: Errors of the database.
    init?(
        isAsked: Bool,
        _ identity: LedgerIdentity,
        in session: isolated PostgresSession
    ) throws {
        guard try session.query(Distribution.hasCitus).single().bool(0) else { return nil }
        let isDistributed = try session.query(Distribution.isDistributed).single().bool(0)
        guard isAsked || isDistributed else { return nil }
        lanes = identity.lanes
        let tables = try session.query(Distribution.local).map { row in
            (try row.text(0), try row.bool(1))
        }
        localTables = tables.filter { $0.1 }.map(\.0)
        localReferences = tables.filter { !$0.1 }.map(\.0)
        localFunctions = try session.query(Distribution.functionsHere).map { try $0.text(0) }
        rolesWithoutLogin = try session.query(
            Distribution.withoutLogin,
            [.textArray(LedgerRole.allCases.map(\.rawValue))]
        ).map { (try $0.text(0), try $0.bool(1)) }
        isSplit =
            isDistributed
            ? try session.query(Distribution.shardCount).single().int8(0) == lanes.value
            : false
        isErasureDelegated = try session.query(Distribution.erasureIsDelegated).single().bool(0)
        // Citus joins no distributed table to a local one.
        unlistedLanes =
            localTables.isEmpty
            ? try Distribution.unlistedLanes(identity, in: session)
            : LaneDirectory.Unlisted(lanes: lanes == .one ? [] : Array(0..<lanes.value))
    }

    // Every id of a single lane leads there. In a dry run, the directory may not exist.
    private static func unlistedLanes(
        _ identity: LedgerIdentity,
        in session: isolated PostgresSession
    ) throws -> LaneDirectory.Unlisted {
        guard identity.lanes != .one else { return LaneDirectory.Unlisted() }
        guard try AppliedSchema.isThere("operation.lookup_lane", in: session) else {
            return LaneDirectory.Unlisted(lanes: Array(0..<identity.lanes.value))
        }
        return try LaneDirectory.unlisted(identity, in: session)
    }

    /// What is missing, as text.
    var missing: [String] {
        rolesWithoutLogin.map { role in
            "login of role \(role.name)" + (role.isHere ? "" : " on other servers")
        }
            + (isSplit ? [] : ["a shard for each lane"])
            + localReferences.map { "copies of \($0) on every server" }
            + localTables.map { "distribution of \($0)" }
            + localFunctions.map { "copies of function \($0) on every server" }
            + (isErasureDelegated ? [] : ["delegation of ledger.erase to the server of the lane"])
            + unlisted
    }

    private var unlisted: [String] {
        switch unlistedLanes.lanes.count {
        case 0:
            unlistedLanes.unconfirmed.isEmpty
                ? [] : ["comparison of operation.lookup_lane with the lanes, after a failover"]
        case lanes.value: ["ids of all lanes in operation.lookup_key"]
        default:
            [
                "ids of lanes \(unlistedLanes.lanes.map(String.init).joined(separator: ", ")) in "
                    + "operation.lookup_key"
            ]
        }
    }

    /// The lanes of a distributed ledger whose ids are not all in the directory of lanes, as text.
    static func unlisted(
        _ identity: LedgerIdentity,
        in session: isolated PostgresSession
    ) throws -> [String] {
        try Distribution(isAsked: false, identity, in: session)?.unlisted ?? []
    }

    /// Distributes the lanes alone, in one shard: Citus splits a shard only in a transaction of its
    /// own, and an empty shard is split many times faster than all tables of the ledger.
    func distributeLanes(in session: isolated PostgresSession) throws {
        for role in rolesWithoutLogin {
            try allowLogin(role.name, isHere: role.isHere, in: session)
        }
        // Long before an append can find its rows moved.
        if lanes != .one { try LaneDirectory.open(lanes, in: session) }
        guard localTables.contains("ledger.lane") else { return }
        _ = try session.query(
            "SELECT create_distributed_table('ledger.lane', 'lane', shard_count := 1, "
                + "colocate_with := 'none')"
        )
        try removeLocalRows(of: "ledger.lane", in: session)
    }

    // Citus repeats a change of a role on the other servers only if it created the role there.
    private func allowLogin(
        _ role: String,
        isHere: Bool,
        in session: isolated PostgresSession
    ) throws {
        let change = "ALTER ROLE \(role) LOGIN"
        guard !isHere else { return try session.execute(change) }
        let refused = try session.query(Distribution.onWorkers, [.text(change)])
        guard let first = try refused.first.map({ (try $0.text(0), try $0.text(1)) }) else {
            return
        }
        throw EventLogError(
            .permissionDenied,
            "migrate: the role \(role) is not allowed to log in on \(first.0), and ALTER ROLE "
                + "failed there: \(first.1). Run \(change) there as a superuser, then migrate again"
        )
    }

    /// Gives each lane a shard of its own, on all servers in turn.
    func split(in session: isolated PostgresSession) throws {
        guard !isSplit else { return }
        let shards = try session.query(Distribution.sharedShards).map { try $0.int8(0) }
        for shard in shards { _ = try session.query(Distribution.splitShard, [.int8(shard)]) }
    }

    /// Distributes all other tables with their rows, in one transaction.
    func distributeTables(in session: isolated PostgresSession) throws {
        for table in localReferences {
            _ = try session.query(
                "SELECT create_reference_table($1::regclass)",
                [.text(table)]
            )
            try removeLocalRows(of: table, in: session)
        }
        for table in localTables where table != "ledger.lane" {
            _ = try session.query(
                "SELECT create_distributed_table($1::regclass, 'lane', "
                    + "colocate_with := 'ledger.lane')",
                [.text(table)]
            )
            try removeLocalRows(of: table, in: session)
        }
        for function in localFunctions {
            _ = try session.query(
                "SELECT create_distributed_function($1::regprocedure)",
                [.text(function)]
            )
        }
        if !isErasureDelegated { _ = try session.query(Distribution.delegateErasure) }
    }

    // The shards have the rows now, and the triggers. Only the empty table of the coordinator lets
    // go of its trigger, for this transaction, which has it locked.
    private func removeLocalRows(
        of table: String,
        in session: isolated PostgresSession
    ) throws {
        let triggers = try session.query(
            "SELECT tgname::text FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal "
                + "AND tgtype & 32 <> 0",
            [.text(table)]
        ).map { try $0.text(0) }
        try session.execute("SET LOCAL citus.enable_ddl_propagation = off")
        for name in triggers {
            try session.execute("ALTER TABLE \(table) DISABLE TRIGGER \(name)")
        }
        _ = try session.query(
            "SELECT truncate_local_data_after_distributing_table($1::regclass)",
            [.text(table)]
        )
        for name in triggers {
            try session.execute("ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \(name)")
        }
        try session.execute("SET LOCAL citus.enable_ddl_propagation = on")
    }

    /// Whether the ledger is distributed.
    static func isInUse(in session: isolated PostgresSession) throws -> Bool {
        try session.query(hasCitus).single().bool(0)
            && session.query(isDistributed).single().bool(0)
    }

    /// The shards whose triggers differ from those of their tables, as text: there, rows of the log
    /// could be changed.
    ///
    /// - Returns: Empty if the ledger is not distributed.
    static func unguardedShards(in session: isolated PostgresSession) throws -> [String] {
        guard try isInUse(in: session) else { return [] }
        return try session.query(unguarded).flatMap { row -> [String] in
            let place = try row.text(0)
            guard try row.bool(1) else {
                return ["triggers of the shards on \(place), which cannot be reached"]
            }
            return try row.text(2).split(separator: ",").map {
                "triggers of shard \($0) on \(place)"
            }
        }
    }
}

// The checks before a distribution.
extension Distribution {
    private static let withoutCitus = """
        this database does not have the extension Citus. Install Citus on every server, run CREATE \
        EXTENSION citus in this database and add the servers with citus_add_node (article Scaling \
        out); or migrate without --distributed, for a ledger on one server
        """

    /// Throws `notDistributable` unless the tables of a ledger in this layout, or of the one that
    /// the database has, can be distributed.
    static func requireCluster(
        _ layout: Migrator.Layout,
        in session: isolated PostgresSession
    ) throws {
        guard try session.query(hasCitus).single().bool(0) else { throw refusal(withoutCitus) }
        let row = try session.query(servers).single()
        if try row.int8(0) == 0 {
            throw refusal(
                "Citus has no server to put lanes on. Add one with citus_add_node, or let the "
                    + "coordinator have shards with citus_set_node_property(…, "
                    + "'shouldhaveshards', true)"
            )
        }
        if try row.bool(1) || layout.partitions > 0 {
            throw refusal(
                "the tables of this ledger are partitioned (--partitions), which a distributed "
                    + "ledger does not need. Create a ledger without partitions"
            )
        }
    }

    private static func refusal(_ cause: String) -> EventLogError {
        EventLogError(.notDistributable, "migrate: cannot distribute the ledger: \(cause)")
    }
}

// The statements. Those on Citus' own tables run only where the extension is installed.
extension Distribution {
    private static let hasCitus =
        "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"

    private static let isDistributed = """
        SELECT EXISTS (SELECT FROM pg_dist_partition
            WHERE logicalrelid = to_regclass('ledger.lane'))
        """

    private static let servers = """
        SELECT (SELECT count(*) FROM pg_dist_node
                WHERE isactive AND shouldhaveshards AND noderole = 'primary'),
            coalesce((SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass('ledger.event')),
                false)
        """

    // A server that does not answer is left out.
    private static let withoutLogin = """
        WITH refused AS (
            SELECT rolname::text AS role, true AS is_here
            FROM pg_roles WHERE rolname = ANY ($1) AND NOT rolcanlogin
            UNION ALL
            SELECT role, false
            FROM run_command_on_workers(format($command$
                SELECT coalesce(string_agg(rolname, ','), '') FROM pg_roles
                WHERE rolname = ANY (%L) AND NOT rolcanlogin
                $command$, $1)) w
            CROSS JOIN LATERAL unnest(string_to_array(w.result, ',')) AS r (role)
            WHERE w.success)
        SELECT role, bool_or(is_here) FROM refused GROUP BY role ORDER BY role
        """

    private static let onWorkers = """
        SELECT format('%s:%s', nodename, nodeport), result
        FROM run_command_on_workers($1) WHERE NOT success
        """

    private static let local = """
        SELECT format('ledger.%I', c.relname), EXISTS (
                SELECT FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attname = 'lane' AND NOT a.attisdropped)
        FROM pg_class c
        WHERE c.relnamespace = to_regnamespace('ledger')::oid AND c.relkind = 'r'
            AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
        ORDER BY 1
        """

    private static let functionsHere = """
        SELECT p.oid::regprocedure::text FROM pg_proc p
        WHERE p.pronamespace = to_regnamespace('ledger')::oid
            AND NOT EXISTS (SELECT FROM pg_dist_object o
                WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
        ORDER BY 1
        """

    private static let erasureIsDelegated = """
        SELECT coalesce(bool_or(o.force_delegation), false) FROM pg_catalog.pg_dist_object o
        WHERE o.classid = 'pg_proc'::regclass AND o.objid = to_regproc('ledger.erase')::oid
        """

    // In one transaction with the event that records it, and with the rights of the function's owner:
    // only one session has both, that of the lane's server.
    private static let delegateErasure = """
        SELECT create_distributed_function(to_regproc('ledger.erase')::oid::regprocedure,
            'erasure_lane', colocate_with := 'ledger.lane', force_delegation := true)
        """

    private static let shardCount =
        "SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = 'ledger.lane'::regclass"

    private static let sharedShards = """
        SELECT get_shard_id_for_distribution_column('ledger.lane', l.lane) AS shard
        FROM generate_series(0, (SELECT lanes - 1 FROM ledger.ledger_config)) AS l (lane)
        GROUP BY 1 HAVING count(*) > 1 ORDER BY 1
        """

    // A shard holds a range of hashes; each lane but the last ends one.
    private static let splitShard = """
        \(hashed)
        SELECT citus_split_shard_by_split_points($1,
            (SELECT array_agg(h.hash::text ORDER BY h.number) FROM hashed h
                WHERE h.number < h.total),
            (SELECT array_agg(n.nodeid ORDER BY h.number)::int[] FROM hashed h
                JOIN node n ON n.number = h.number % n.total),
            'block_writes')
        """

    private static let hashed = """
        WITH hashed AS (
            SELECT worker_hash(l.lane) AS hash, count(*) OVER () AS total,
                row_number() OVER (ORDER BY worker_hash(l.lane)) AS number
            FROM generate_series(0, (SELECT lanes - 1 FROM ledger.ledger_config)) AS l (lane)
            WHERE get_shard_id_for_distribution_column('ledger.lane', l.lane) = $1),
        node AS (
            SELECT nodeid, count(*) OVER () AS total,
                row_number() OVER (ORDER BY nodeid) - 1 AS number
            FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary')
        """

    // What a guard does, without its name, which Citus changes on a shard. Every server compares its
    // shards with the triggers that the tables have here.
    private static let unguarded = """
        SELECT format('%s:%s', n.nodename, n.nodeport), r.success, r.result
        FROM run_command_on_all_nodes(format($command$
            SELECT coalesce(string_agg(s.name, ',' ORDER BY s.name), '')
            FROM (SELECT shard_name(d.logicalrelid, d.shardid) AS name, d.logicalrelid AS relation
                FROM pg_dist_shard d JOIN pg_dist_placement p USING (shardid)
                JOIN pg_dist_local_group g ON g.groupid = p.groupid) s
            JOIN (VALUES %s) AS wanted (name, guards)
                ON to_regclass(wanted.name)::oid = s.relation
            WHERE wanted.guards IS DISTINCT FROM \
        \(guards.replacing("$relation", with: "to_regclass(s.name)").replacing("%", with: "%%"))
            $command$, (SELECT string_agg(format('(%L, %L)', t.name, t.guards), ', ') FROM (
                SELECT format('ledger.%I', c.relname) AS name, \
        \(guards.replacing("$relation", with: "c.oid")) AS guards
                FROM pg_class c JOIN pg_dist_partition d ON d.logicalrelid = c.oid
                WHERE c.relnamespace = to_regnamespace('ledger')::oid AND c.relkind = 'r') t)
        )) r JOIN pg_dist_node n USING (nodeid) ORDER BY 1
        """

    private static let guards = """
        coalesce((SELECT string_agg(concat_ws(' ', t.tgtype, t.tgenabled, t.tgfoid::regproc, \
        encode(t.tgargs, 'hex'), t.tgqual IS NULL), '; ' \
        ORDER BY t.tgtype, t.tgfoid::regproc::text) FROM pg_trigger t WHERE t.tgrelid = $relation AND NOT t.tgisinternal), '')
        """
}
