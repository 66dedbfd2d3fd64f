package import Postgres

/// The roles that `migrate` creates.
///
/// They belong to the server, so a restored database may lack them.
package enum LedgerRole: String, CaseIterable {
    /// Owns the log.
    case owner = "ledger_owner"
    /// Appends.
    case writer = "ledger_writer"
    /// Reads.
    case reader = "ledger_reader"
    /// Owns the tables of projections; only reads the log.
    case projector = "ledger_projector"
    /// Erases, through one function.
    case eraser = "ledger_eraser"
    /// Reads schema `analytics`, and nothing else.
    case analyst = "ledger_analyst"

    /// The missing one among them that a refused statement names; nil for any other refusal.
    ///
    /// SET ROLE fails with SQLSTATE 22023, which has no field for the role: its name is the same in
    /// every language of the server's messages.
    package static func missing(from error: PostgresError) -> LedgerRole? {
        guard ["22023", "42704"].contains(error.sqlState), let text = error.primaryMessage else {
            return nil
        }
        return allCases.first { text.contains($0.rawValue) }
    }
}
