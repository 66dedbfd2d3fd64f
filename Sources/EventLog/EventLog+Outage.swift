internal import Events
internal import Postgres

// What cannot be read while another server of a distributed ledger does not answer.
extension EventLog {
    /// Converts an error of the database; if another server does not answer, it names the lanes
    /// that cannot be reached.
    func failure(_ error: any Error, doing action: String) async -> EventLogError {
        await outage(behind: error, doing: action) ?? EventLog.error(error, doing: action)
    }

    /// The error that names the lanes that cannot be reached, because another server does not
    /// answer; nil if that is not the reason for an error of the database.
    package func outage(behind error: any Error, doing action: String) async -> EventLogError? {
        guard EventLog.isOfOtherServer(error) else { return nil }
        let missing: [MissingLanes]
        do {
            missing = try await missingLanes()
        } catch {
            // Whatever this is, the first error is the one to report.
            return nil
        }
        guard !missing.isEmpty else { return nil }
        let count = missing.reduce(0) { $0 + $1.lanes.count }
        let words = missing.map { "\($0.server) has \($0.text)" }.joined(separator: "; ")
        return EventLogError(
            .lanesUnavailable,
            "\(action): \(count) of \(identity.lanes.value) lanes cannot be reached, because the "
                + "coordinator cannot connect to their server: \(words). Start each server named here, "
                + "or read in its log why it refuses connections; questions that need only other "
                + "lanes are answered"
        )
    }

    // A server that answers reports a lost connection only of its own connection to another one.
    private static func isOfOtherServer(_ error: any Error) -> Bool {
        switch error {
        case let thrown as Thrown: isOfOtherServer(thrown.error)
        case let error as PostgresError:
            if case .server(let state) = error.code { state.hasPrefix("08") } else { false }
        default: false
        }
    }

    // On the connection of the question, which is not in a transaction; another may not be free.
    private func missingLanes() async throws -> [MissingLanes] {
        let lanes = PostgresValue.int4(Int32(identity.lanes.value))
        let read = { @Sendable (session: PostgresSession) async throws in
            try await session.query(MissingLanes.sql, [lanes]).map(MissingLanes.init)
        }
        if let session = heldSession { return try await read(session) }
        return try await payloadPool.borrowing(read)
    }
}

/// Lanes of a server that does not answer.
private struct MissingLanes: Sendable {
    /// Its host and port.
    let server: String
    /// Ascending.
    let lanes: [Int]

    init(_ row: PostgresRow) throws {
        server = try row.text(0)
        lanes = try row.text(1).split(separator: ",").compactMap { Int($0) }
    }

    /// The lanes, neighbours as a range.
    var text: String {
        // These ranges start at 1, lanes at 0.
        let ranges = NumberRanges(lanes.map { Int64($0) + 1 }).ranges.map { range in
            let (first, last) = (range.lowerBound - 1, range.upperBound - 1)
            return first == last ? "\(first)" : "\(first)–\(last)"
        }
        return (lanes.count == 1 ? "lane " : "lanes ") + ranges.joined(separator: ", ")
    }

    // Runs only where Citus is installed; the coordinator tries to connect to every server.
    static let sql = """
        WITH server AS MATERIALIZED (
            SELECT nodename, nodeport, groupid FROM pg_dist_node
            WHERE noderole = 'primary' AND NOT citus_check_connection_to_node(nodename, nodeport))
        SELECT format('%s:%s', s.nodename, s.nodeport),
            string_agg(l.lane::text, ',' ORDER BY l.lane)
        FROM generate_series(0, $1 - 1) AS l (lane)
        JOIN pg_dist_placement p
            ON p.shardid = get_shard_id_for_distribution_column('ledger.lane', l.lane)
        JOIN server s USING (groupid)
        GROUP BY s.nodename, s.nodeport ORDER BY min(l.lane)
        """
}
