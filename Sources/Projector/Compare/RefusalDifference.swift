package import Events
internal import Postgres
internal import Projections

/// The subscriptions that are refused only by the live tables, or only by new ones.
///
/// For tables built from one log up to one commit: the same event must be refused for the same
/// reason.
package struct RefusalDifference: Codable, Hashable, Sendable {
    /// Refusals on both sides: one for each projection and subscription.
    package internal(set) var same = 0
    /// Subscriptions that both sides refuse identically in some projection.
    ///
    /// Only texts show it.
    package internal(set) var sameStreams = 0
    /// Refusals on only one side, or with another reason or event on each.
    package internal(set) var changedCount = 0
    /// The first of them, by projection and subscription; at most `changedMax`.
    package internal(set) var changed: [Changed] = []

    /// The most refusals that are listed, for a person to read.
    package static let changedMax = 100

    private enum CodingKeys: CodingKey { case same, changedCount, changed }

    /// A refusal that differs between the sides.
    package struct Changed: Codable, Hashable, Sendable {
        /// The projection's name.
        package let projection: String
        /// The subscription.
        package let originalTransactionId: String
        /// Where the purchases were made.
        package let environment: StoreEnvironment
        /// The refusal of the live table; nil if it refuses nothing.
        package let live: Refusal?
        /// The refusal of the new table; nil if it refuses nothing.
        package let rebuilt: Refusal?
    }

    /// Why a subscription has no row.
    package struct Refusal: Codable, Hashable, Sendable {
        /// The event that the fold refused.
        package let position: Position
        /// The fold's reason.
        package let reason: String
    }

    /// Creates an empty difference.
    package init() {}
}

extension RefusalDifference {
    /// Compares the records about the tables of two schemas; tables without an old one are left
    /// out.
    static func read(
        _ tables: [(name: String, old: String, new: String)],
        of lanes: LaneCount,
        without excluded: Set<StreamID>,
        in session: PostgresSession
    ) async throws -> RefusalDifference {
        let parameters: [PostgresValue] =
            [
                .textArray(tables.map(\.name)), .textArray(tables.map(\.old)),
                .textArray(tables.map(\.new)),
            ] + excluded.parameters
        let counts = try await session.query(countsSQL, parameters).single()
        var difference = RefusalDifference()
        difference.same = Int(try counts.int8(0))
        difference.sameStreams = Int(try counts.int8(1))
        difference.changedCount = Int(try counts.int8(2))
        guard difference.changedCount > 0 else { return difference }
        difference.changed = try await session.query(changedSQL, parameters).map { row in
            let lane = lanes[Int(try row.int4(1))]
            return Changed(
                projection: try row.text(0),
                originalTransactionId: try row.text(3),
                environment: StoreEnvironment(try row.text(2)),
                live: try refusal(row, 4, lane: lane),
                rebuilt: try refusal(row, 6, lane: lane)
            )
        }
        return difference
    }

    private static func refusal(_ row: PostgresRow, _ column: Int, lane: Lane) throws -> Refusal? {
        guard let offset = try row.int8IfPresent(column) else { return nil }
        return Refusal(
            position: Position(lane: lane, offset: offset),
            reason: try row.text(column + 1)
        )
    }

    private static let countsSQL = """
        \(sides)
        SELECT count(*) FILTER (WHERE NOT differs),
            count(DISTINCT (lane, environment, id)) FILTER (WHERE NOT differs),
            count(*) FILTER (WHERE differs)
        FROM both_sides
        """

    private static let changedSQL = """
        \(sides)
        SELECT name, lane, environment, id, live_offset, live_reason, new_offset, new_reason
        FROM both_sides WHERE differs ORDER BY name, lane, environment, id LIMIT \(changedMax)
        """

    private static let sides = String(sql: embeddedFile("refusals.sql"))
}
