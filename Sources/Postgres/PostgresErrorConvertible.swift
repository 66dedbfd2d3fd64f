/// An error that can carry a failure of the database.
///
/// A transaction or a borrowed session throws one error type: that of the caller's closure.
/// Conforming to this protocol lets it carry the database's own failures.
package protocol PostgresErrorConvertible: Error {
    /// Wraps a failure of the database.
    init(_ error: PostgresError)
}
