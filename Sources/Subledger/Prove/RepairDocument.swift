package import EventLog

/// What a repair removed, or would remove.
public struct RepairDocument: Codable, Hashable, Sendable {
    /// Whether it was done; false for a dry run.
    public let repaired: Bool
    /// The removed rows.
    public let rows: [Row]

    /// A removed row.
    public struct Row: Codable, Hashable, Sendable {
        /// The table in schema `ledger`.
        public let table: String
        /// The lane.
        public let lane: Int
        /// The row's number or key within the lane.
        public let key: String
        /// Why it could be removed.
        public let reason: String
    }

    /// The document of a repair.
    package init(_ rows: [RepairedRow], isDone: Bool) {
        repaired = isDone
        self.rows = rows.map {
            Row(table: $0.table, lane: $0.lane, key: $0.key, reason: $0.reason)
        }
    }
}
