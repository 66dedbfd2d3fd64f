import HummingbirdTesting

extension TestClient {
    /// Lends a client of a service on this machine, which waits ten minutes for an answer: a busy
    /// machine is no fault of the service.
    static func withClient<Value>(
        port: Int,
        operation: @escaping @Sendable (TestClient) async throws -> Value
    ) async throws -> Value {
        try await withClient(
            host: "127.0.0.1",
            port: port,
            configuration: Configuration(timeout: .seconds(600)),
            operation: operation
        )
    }
}
