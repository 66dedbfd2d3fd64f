import EmbeddedPostgres

extension Program {
    /// A program that is installed with the server that embedded servers run, such as `pg_dump`.
    public init(ofServer name: String) throws {
        self.init(path: try "\(EmbeddedServer.binaries())/\(name)")
    }
}
