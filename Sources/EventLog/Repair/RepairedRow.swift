/// A row that `repair` removed, or would remove.
public struct RepairedRow: Codable, Hashable, Sendable {
    /// The lane.
    public let lane: Int
    /// The table in schema `ledger`.
    public let table: String
    /// The row's number or key within the lane.
    public let key: String
    /// Why it could be removed.
    public let reason: String
}
