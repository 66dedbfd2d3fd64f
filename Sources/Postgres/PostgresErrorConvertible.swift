/// An error that can carry a failure of the database.
///
/// A transaction or a borrowed session throws one error type: the one of the caller's closure.
/// Conforming lets the database's own failures travel in it.
public protocol PostgresErrorConvertible: Error {
    /// Wraps a failure of the database.
    init(_ error: PostgresError)
}
