import CPostgres

extension ConnectionSettings {
    /// Checks with libpq's `PQping` whether a server accepts sessions there.
    ///
    /// Uses only the connection string, and blocks the calling thread until the result is known.
    package func isServerReady() -> Bool { PQping(connectionString) == PQPING_OK }
}
