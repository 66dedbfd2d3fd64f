/// What a transaction sees and may do.
package enum TransactionMode: Sendable, Hashable {
    /// Each statement sees what was committed before it.
    case readCommitted
    /// All statements see one snapshot, and none may write.
    case readOnlySnapshot

    var beginStatement: String {
        switch self {
        case .readCommitted: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .readOnlySnapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        }
    }
}
