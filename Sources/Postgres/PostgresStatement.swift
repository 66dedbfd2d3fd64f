/// One statement of SQL with its parameters `$1`, `$2`, ….
package struct PostgresStatement: Sendable, Equatable {
    /// The text; it is prepared once per session, so values belong in the parameters.
    package var sql: String

    /// The values of the parameters, in order.
    package var parameters: [PostgresValue]

    /// Pairs a text with its parameters.
    package init(_ sql: String, _ parameters: [PostgresValue] = []) {
        self.sql = sql
        self.parameters = parameters
    }

    var cacheKey: StatementCache.Key {
        StatementCache.Key(sql: sql, types: parameters.map(\.type.rawValue))
    }

    /// The protocol counts parameters in 16 bits.
    static let parametersMax = 65_535

    /// Refuses text and parameters that libpq would silently cut short.
    func check() throws(PostgresError) {
        try Self.check(sql)
        guard parameters.count <= Self.parametersMax else {
            throw PostgresError(
                .misuse,
                "A statement has \(parameters.count) parameters; at most \(Self.parametersMax) are "
                    + "allowed. Pass arrays and unnest them."
            )
        }
    }

    static func check(_ sql: String) throws(PostgresError) {
        guard !sql.utf8.contains(0) else {
            throw PostgresError(
                .misuse,
                "The text of a statement contains a zero byte, which ends a C string. Remove it."
            )
        }
    }
}
