import CPostgres
import Foundation

/// Opens libpq connections and reads their options.
extension Connection {
    static func connect(
        _ settings: ConnectionSettings
    ) throws(PostgresError) -> OpaquePointer {
        try check(settings)
        var pairs = [("fallback_application_name", settings.applicationName)]
        // Placed before dbname, so the connection string overrides them; so do libpq's environment
        // and service file, for the options they set.
        let defaulted = Set(namedOptions(PQconndefaults()).map(\.name))
        for (keyword, value) in settings.defaults where !defaulted.contains(keyword) {
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
            throw ConnectionRefusal.error(handle, from: settings.source)
        }
        return handle
    }

    /// Finds mistakes in the text before libpq can quote parts of it in an error.
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
        let origin = settings.source.map { " from \($0)" } ?? ""
        let foreign = foreignScheme(text)
        var error = PostgresError(
            .invalidSettings,
            "The connection string\(origin) "
                + (foreign.map { "is for another kind of database (\($0)://)" }
                    ?? "is not one libpq understands")
                + ": expected key=value pairs or a postgresql:// URI."
                + (foreign == nil ? " Percent-encode special characters in a URI's password." : "")
        )
        error.detail = reason.map { String(cString: $0) }
        throw error
    }

    /// The effective value of a libpq option; nil if it has none.
    func option(_ keyword: String) -> String? {
        namedOptions(PQconninfo(handle)).first { $0.name == keyword }?.value
    }

    // Returns only lower-case letters, digits and + before ://, so no secret is repeated.
    private static func foreignScheme(_ text: String) -> String? {
        guard let end = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<end.lowerBound]
        let isPlain = scheme.utf8.allSatisfy { byte in
            (97...122).contains(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "+")
        }
        return isPlain && !["postgres", "postgresql"].contains(String(scheme))
            ? String(scheme) : nil
    }
}

/// The options in a list of libpq that have a value, in its order; frees the list.
func namedOptions(
    _ list: UnsafeMutablePointer<PQconninfoOption>?
) -> [(name: String, value: String)] {
    defer { PQconninfoFree(list) }
    var found: [(name: String, value: String)] = []
    guard var option = list else { return found }
    while let name = option.pointee.keyword {
        if let value = option.pointee.val {
            found.append((String(cString: name), String(cString: value)))
        }
        option += 1
    }
    return found
}

/// Passes C copies of strings, terminated by a null pointer.
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
