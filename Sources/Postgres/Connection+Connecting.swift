import CPostgres
import Foundation

/// The way to a connection.
extension Connection {
    static func connect(
        _ settings: ConnectionSettings
    ) throws(PostgresError) -> OpaquePointer {
        try check(settings)
        var pairs = [("fallback_application_name", settings.applicationName)]
        // Before dbname, so that the connection string has the last word; libpq's environment and
        // service have it too, where they speak of it.
        let named = namedByDefault()
        for (keyword, value) in settings.defaults where !named.contains(keyword) {
            pairs.append((keyword, String(value)))
        }
        pairs.append(("dbname", settings.connectionString))
        if let database = settings.database { pairs.append(("dbname", database)) }
        pairs.append(("client_encoding", "UTF8"))
        let handle = withCStrings(pairs.map(\.0)) { keywords in
            withCStrings(pairs.map(\.1)) { values in PQconnectdbParams(keywords, values, 1) }
        }
        guard let handle else {
            throw PostgresError(.couldNotConnect, "libpq has no memory for a connection.")
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            defer { PQfinish(handle) }
            throw refused(handle)
        }
        return handle
    }

    /// Finds mistakes in the text before libpq quotes pieces of it in an error.
    private static func check(_ settings: ConnectionSettings) throws(PostgresError) {
        let text = settings.connectionString
        guard text.contains("=") || text.contains("://") else { return }
        var reason: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(text, &reason)
        defer {
            PQconninfoFree(options)
            PQfreemem(reason)
        }
        guard options == nil else { return }
        var error = PostgresError(
            .invalidSettings,
            "The connection string is not one libpq understands: expected key=value pairs or a "
                + "postgresql:// URI. Percent-encode special characters in a URI's password."
        )
        error.detail = reason.map { String(cString: $0) }
        throw error
    }

    /// What libpq's environment and service file speak of.
    private static func namedByDefault() -> Set<String> {
        guard let defaults = PQconndefaults() else { return [] }
        defer { PQconninfoFree(defaults) }
        var named: Set<String> = []
        var option = defaults
        while let name = option.pointee.keyword {
            if option.pointee.val != nil { named.insert(String(cString: name)) }
            option += 1
        }
        return named
    }

    /// The value of a libpq option that is in force; nil for none.
    func option(_ keyword: String) -> String? {
        guard let options = PQconninfo(handle) else { return nil }
        defer { PQconninfoFree(options) }
        var option = options
        while let name = option.pointee.keyword {
            if String(cString: name) == keyword {
                return option.pointee.val.map { String(cString: $0) }
            }
            option += 1
        }
        return nil
    }

    private static func refused(_ handle: OpaquePointer) -> PostgresError {
        let words = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        // libpq quotes host and port, and a password with `/` or `@` in a URI is read as those;
        // so only phrases known to be harmless are repeated.
        let reason = refusalReasons.first { words.contains($0) } ?? "see the debug description"
        var error = PostgresError(
            .couldNotConnect,
            "No session with the database could be opened (\(reason)). Check that the server runs "
                + "and that DATABASE_URL or the PG* variables name it and a user it admits."
        )
        error.primaryMessage = words
        return error
    }

    private static let refusalReasons = [
        "Connection refused", "No such file or directory", "Permission denied",
        "authentication failed", "no password supplied", "too many clients", "too many connections",
        "the database system is starting up", "the database system is shutting down",
        "the database system is in recovery mode", "timeout expired",
        "could not translate host name", "requirepeer", "does not exist", "no pg_hba.conf entry",
        "SSL", "definition of service",
    ]
}

/// Lends C copies of strings, ended by a null pointer.
func withCStrings<R>(
    _ strings: [String],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?) throws -> R
) rethrows -> R {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    var pointers = copies.map { UnsafePointer<CChar>($0) }
    pointers.append(nil)
    return try pointers.withUnsafeBufferPointer { try body($0.baseAddress) }
}
