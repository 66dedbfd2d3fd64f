import CPostgres

extension ConnectionSettings {
    /// Asks whether a server accepts sessions there, with libpq's `PQping`.
    ///
    /// Uses the connection string alone, and blocks the calling thread until it knows.
    package func findReadyServer() -> Bool { PQping(connectionString) == PQPING_OK }
}
