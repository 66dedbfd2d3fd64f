import CPostgres

/// Messages for a session that could not be opened: what was refused, where, and what to do.
enum ConnectionRefusal {
    /// The error of a connection that libpq could not open.
    ///
    /// libpq quotes a password with `/` or `@` in a URI as host, port or database, so its own
    /// message is only searched for phrases that are known to be harmless.
    ///
    /// - Parameters:
    ///   - handle: The connection.
    ///   - source: Where its settings come from; nil if unknown.
    /// - Returns: The error.
    static func error(_ handle: OpaquePointer, from source: String?) -> PostgresError {
        let words = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let origin = source.map { " from \($0)" } ?? ""
        if let option = invalidOption(in: words) {
            var error = PostgresError(
                .invalidSettings,
                "libpq does not accept the value of \(option) in the connection settings\(origin). "
                    + "In a URI, percent-encode special characters of the password."
            )
            error.primaryMessage = words
            return error
        }
        let place = Place(handle)
        let (what, next) = refusal(in: words, at: place)
        let details = (place?.parts ?? []) + (source.map { ["from \($0)"] } ?? [])
        var error = PostgresError(
            .couldNotConnect,
            "Could not connect to the database: \(what)"
                + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))") + ". \(next)."
        )
        error.primaryMessage = words
        // libpq does not pass on the SQLSTATE of a connection that was refused.
        if isOutOfSlots(words) { error.sqlState = "53300" }
        return error
    }

    // All connections that the server, the database or the role may have are in use.
    private static func isOutOfSlots(_ words: String) -> Bool {
        slotPhrases.contains { words.contains($0) }
    }

    // The option whose value libpq refuses before it connects; the value may be a password.
    private static func invalidOption(in words: String) -> String? {
        if words.contains("invalid port number") { return "port" }
        if words.contains("invalid integer value"),
            let name = words.split(separator: "for connection option \"").last
        {
            return name.split(separator: "\"").first.map(String.init)
        }
        return ["sslmode", "target_session_attrs", "gssencmode", "channel_binding"].first {
            words.contains("invalid \($0) value: ")
        }
    }

    private static func refusal(
        in words: String,
        at place: Place?
    ) -> (what: String, next: String) {
        let database = place.map { "database \"\($0.database)\"" } ?? "the database"
        let user = place.map { "user \"\($0.user)\"" } ?? "the user"

        if words.contains("does not exist") {
            return words.contains("role \"")
                ? ("\(user) does not exist", "Create this role, or name another user")
                : ("\(database) does not exist", "Create it (CREATE DATABASE), or name another one")
        }
        if words.contains("no password supplied") {
            return (
                "\(user) needs a password, and no password supplied",
                "Give it in PGPASSWORD, in ~/.pgpass or in the connection string"
            )
        }
        if words.contains("authentication failed") {
            return ("authentication failed for \(user)", "Check the user and its password")
        }
        if words.contains("could not translate host name") {
            return ("could not translate host name", "Check the host name")
        }
        if words.contains("does not support SSL") {
            return ("the server does not offer TLS, which sslmode requires", "Check sslmode")
        }
        if let phrase = ["certificate verify failed", "root certificate file", "SSL"]
            .first(where: { words.contains($0) })
        {
            return (
                "TLS was refused (\(phrase))",
                "Check sslmode, sslrootcert and the server's certificate"
            )
        }
        if let phrase = slotPhrases.first(where: { words.contains($0) }) {
            return (
                "all its connection slots are in use (\(phrase))",
                "Close connections that are not needed, or raise max_connections, or the "
                    + "CONNECTION LIMIT of the role or database"
            )
        }

        let reason = phrases.first { words.contains($0) }
        return (
            reason.map { "no server answers there (\($0))" } ?? "the server refused",
            "Check that the server runs there, and that it admits this user"
        )
    }

    private static let slotPhrases = [
        "too many clients", "too many connections", "remaining connection slots are reserved",
        "no more connections allowed",
    ]

    private static let phrases = [
        "Connection refused", "No such file or directory", "Permission denied",
        "the database system is starting up",
        "the database system is shutting down", "the database system is in recovery mode",
        "timeout expired", "requirepeer", "no pg_hba.conf entry", "definition of service",
        "Network is unreachable", "No route to host",
    ]

    /// Where libpq tried to connect; never a password.
    private struct Place {
        let host: String
        let port: String
        let database: String
        let user: String

        /// Nil if a part may contain a piece of a password that was not percent-encoded.
        init?(_ handle: OpaquePointer) {
            func text(_ value: UnsafePointer<CChar>?) -> String {
                value.map { String(cString: $0) } ?? ""
            }
            host = text(PQhost(handle))
            port = text(PQport(handle))
            database = text(PQdb(handle))
            user = text(PQuser(handle))
            let isPlain = port.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ",") }
            guard isPlain, ![host, database, user].contains(where: { $0.contains("@") }) else {
                return nil
            }
        }

        var parts: [String] {
            [("host", host), ("port", port), ("database", database), ("user", user)]
                .filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1)" }
        }
    }
}
