public import Events
internal import Postgres

/// A token as the ledger keeps it: everything but its text.
public struct TokenRecord: Hashable, Sendable {
    /// Its name, unique for ever.
    public let name: String
    /// What its bearer may do.
    public let roles: Set<TokenRole>
    /// When it was made, on the server's clock.
    public let createdAt: Instant
    /// When it was used last, to within a minute; nil where it never was.
    public let lastUsedAt: Instant?
    /// When it was revoked; nil while it holds.
    public let revokedAt: Instant?
}

extension EventLog {
    /// How old the recorded last use of a token may grow before it is written again.
    private static let useSecondsMax = 60

    /// Keeps a new token.
    ///
    /// - Returns: Whether it was kept; false where the name was given before.
    /// - Throws: `permissionDenied` for whoever is no member of `ledger_owner`.
    public func add(
        _ token: AccessToken,
        _ roles: Set<TokenRole>
    ) async throws(EventLogError) -> Bool {
        let sql = """
            INSERT INTO operation.token (name, roles, digest) VALUES ($1, $2, $3)
            ON CONFLICT DO NOTHING RETURNING name
            """
        let words = roles.map(\.rawValue).sorted()
        return try await reading("add the token \(token.name)") { session in
            let rows = try await session.query(
                sql,
                [.text(token.name), .textArray(words), .bytea(token.digest.bytes)]
            )
            return !rows.isEmpty
        }
    }

    /// Revokes a token for ever; one that was revoked before stays as it is.
    ///
    /// - Returns: Whether there is a token of that name.
    /// - Throws: `permissionDenied` for whoever is no member of `ledger_owner`.
    public func revokeToken(named name: String) async throws(EventLogError) -> Bool {
        let sql = """
            UPDATE operation.token SET revoked_at = coalesce(revoked_at, clock_timestamp())
            WHERE name = $1 RETURNING name
            """
        return try await reading("revoke the token \(name)") { session in
            try await !session.query(sql, [.text(name)]).isEmpty
        }
    }

    /// All tokens, by name.
    public func tokens() async throws(EventLogError) -> [TokenRecord] {
        let sql = """
            SELECT name, roles, created_at, last_used_at, revoked_at
            FROM operation.token ORDER BY name
            """
        return try await reading("list the tokens") { session in
            try await session.query(sql).map { row in
                TokenRecord(
                    name: try row.text(0),
                    roles: EventLog.roles(try row.textArray(1)),
                    createdAt: Instant(microseconds: try row.timestamptz(2)),
                    lastUsedAt: try row.timestamptzIfPresent(3).map(Instant.init(microseconds:)),
                    revokedAt: try row.timestamptzIfPresent(4).map(Instant.init(microseconds:))
                )
            }
        }
    }

    /// What the bearer of a token may do; empty for one that is not known, or was revoked.
    ///
    /// Its use is recorded where the last one is older than a minute. The digests are compared in
    /// constant time, so that nothing can be learnt by measuring.
    public func roles(of token: AccessToken) async throws(EventLogError) -> Set<TokenRole> {
        let find = """
            SELECT digest, roles, coalesce(
                last_used_at < clock_timestamp() - interval '\(EventLog.useSecondsMax) seconds', true)
            FROM operation.token WHERE name = $1 AND revoked_at IS NULL
            """
        let use = "UPDATE operation.token SET last_used_at = clock_timestamp() WHERE name = $1"
        return try await reading("look up a token") { session in
            guard let row = try await session.query(find, [.text(token.name)]).first,
                EventLog.isEqual(try row.bytea(0), token.digest.bytes)
            else { return [] }
            if try row.bool(2) { try await session.query(use, [.text(token.name)]) }
            return EventLog.roles(try row.textArray(1))
        }
    }

    private static func roles(_ words: [String?]?) -> Set<TokenRole> {
        Set((words ?? []).compactMap { $0 }.compactMap(TokenRole.init(rawValue:)))
    }

    private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
