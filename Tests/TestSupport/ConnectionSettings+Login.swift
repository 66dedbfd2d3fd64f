package import Postgres

extension ConnectionSettings {
    /// The same database for another role.
    package func loggedIn(as role: String) -> ConnectionSettings {
        ConnectionSettings(connectionString(with: "user=\(role)"))
    }

    /// The connection string with one more parameter: if one is given twice, the last one counts.
    package func connectionString(with parameter: String) -> String {
        let given = fullConnectionString
        guard given.contains("://") else { return "\(given) \(parameter)" }
        return "\(given)\(given.contains("?") ? "&" : "?")\(parameter)"
    }
}
