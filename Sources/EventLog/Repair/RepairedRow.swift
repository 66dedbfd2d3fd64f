/// A row that `repair` removed, or would remove.
package struct RepairedRow: Codable, Hashable, Sendable {
    /// The lane.
    package let lane: Int
    /// The table in schema `ledger`.
    package let table: String
    /// The row's number or key within the lane.
    package let key: String
    /// Why it could be removed.
    package let reason: String
}
