import CPostgres

extension ConnectionSettings {
    /// The settings as a URI, for programs that accept nothing else; includes the password if the
    /// connection string has one.
    ///
    /// - Throws: `invalidSettings` if libpq cannot parse the connection string.
    package func uri() throws(PostgresError) -> String {
        let text = fullConnectionString
        if ["postgresql://", "postgres://"].contains(where: text.hasPrefix) { return text }
        guard let options = PQconninfoParse(text, nil) else {
            throw PostgresError(
                .invalidSettings,
                "The connection string\(source.map { " from \($0)" } ?? "") is not one libpq "
                    + "understands: expected key=value pairs or a postgresql:// URI."
            )
        }
        // libpq's defaults apply to everything else, as they do for the connection string.
        let query = namedOptions(options).map { "\($0.name)=\(Self.percentEncoded($0.value))" }
        return "postgresql://" + (query.isEmpty ? "" : "/?" + query.joined(separator: "&"))
    }

    private static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95, 126:
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}
