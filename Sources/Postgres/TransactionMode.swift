/// What a transaction sees and may do.
public enum TransactionMode: Sendable, Hashable, CaseIterable {
    /// Each statement sees what was committed before it.
    case readCommitted
    /// All statements see one snapshot; overwriting a newer row fails with SQLSTATE 40001.
    case repeatableRead
    /// As if transactions ran one after another; fails with SQLSTATE 40001 if that is impossible.
    case serializable
    /// All statements see one snapshot, and none may write.
    case readOnlySnapshot

    var beginStatement: String {
        switch self {
        case .readCommitted: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
        case .readOnlySnapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        }
    }
}
