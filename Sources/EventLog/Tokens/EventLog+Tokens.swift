package import Events
internal import Postgres

/// A token as stored in the ledger: everything except its text.
package struct TokenRecord: Hashable, Sendable {
    /// Its name, which is never reused.
    package let name: String
    /// What its bearer may do.
    package let roles: Set<TokenRole>
    /// When it was created, on the server's clock.
    package let createdAt: Instant
    /// When it was last used, to within a minute; nil if it never was.
    package let lastUsedAt: Instant?
    /// When it was revoked; nil if it was not.
    package let revokedAt: Instant?
    /// From when on it is refused; nil for never.
    package let expiresAt: Instant?
    /// The most requests that one service answers in a minute; nil for any number.
    package let requestsPerMinute: Int?
}

extension EventLog {
    /// The age, in seconds, at which the recorded last use of a token is updated.
    package static let tokenUseSecondsMax = 60

    /// Stores a new token.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - roles: What its bearer may do.
    ///   - lifetime: Milliseconds until it expires; nil for never.
    ///   - requestsPerMinute: The most requests that one service answers in a minute; nil for any
    ///     number.
    /// - Returns: Whether it was stored; false if the name was used before.
    /// - Throws: `permissionDenied` unless the login is a member of `ledger_owner`.
    package func add(
        _ token: AccessToken,
        _ roles: Set<TokenRole>,
        lifetime: Int64? = nil,
        requestsPerMinute: Int? = nil
    ) async throws(EventLogError) -> Bool {
        let sql = """
            INSERT INTO operation.token (name, roles, digest, expires_at, requests_per_minute)
            VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond', $5)
            ON CONFLICT DO NOTHING RETURNING name
            """
        let words = roles.map(\.rawValue).sorted()
        return try await reading("add the token \(token.name)") { session in
            let rows = try await session.query(
                sql,
                [
                    .text(token.name), .textArray(words), .bytea(token.digest.bytes),
                    .int8(lifetime), .int4(requestsPerMinute.map { Int32(clamping: $0) }),
                ]
            )
            return !rows.isEmpty
        }
    }

    /// Revokes a token permanently; one that was revoked before stays unchanged.
    ///
    /// - Returns: Whether a token with that name exists.
    /// - Throws: `permissionDenied` unless the login is a member of `ledger_owner`.
    package func revokeToken(named name: String) async throws(EventLogError) -> Bool {
        let sql = """
            UPDATE operation.token SET revoked_at = coalesce(revoked_at, clock_timestamp())
            WHERE name = $1 RETURNING name
            """
        return try await reading("revoke the token \(name)") { session in
            try await !session.query(sql, [.text(name)]).isEmpty
        }
    }

    /// All tokens, by name.
    package func tokens() async throws(EventLogError) -> [TokenRecord] {
        let sql = """
            SELECT name, roles, created_at, last_used_at, revoked_at, expires_at,
                requests_per_minute
            FROM operation.token ORDER BY name
            """
        return try await reading("list the tokens") { session in
            try await session.query(sql).map { row in
                TokenRecord(
                    name: try row.text(0),
                    roles: EventLog.roles(try row.textArray(1)),
                    createdAt: Instant(microseconds: try row.timestamptz(2)),
                    lastUsedAt: try row.timestamptzIfPresent(3).map(Instant.init(microseconds:)),
                    revokedAt: try row.timestamptzIfPresent(4).map(Instant.init(microseconds:)),
                    expiresAt: try row.timestamptzIfPresent(5).map(Instant.init(microseconds:)),
                    requestsPerMinute: try row.int4IfPresent(6).map(Int.init)
                )
            }
        }
    }

    /// All tokens by name, with the digests to compare with.
    package func grants() async throws(EventLogError) -> [String: TokenGrant] {
        let sql = """
            SELECT name, digest, roles, revoked_at IS NOT NULL, expires_at, requests_per_minute
            FROM operation.token
            """
        return try await reading("read the tokens", on: tokenPool) { session in
            let grants = try await session.query(sql).map { row in
                let roles: Set<TokenRole> =
                    try row.bool(3) ? [] : EventLog.roles(try row.textArray(2))
                let grant = TokenGrant(
                    digest: try row.bytea(1),
                    roles: roles,
                    expiresAt: try row.timestamptzIfPresent(4).map(Instant.init(microseconds:)),
                    requestsPerMinute: try row.int4IfPresent(5).map(Int64.init)
                )
                return (try row.text(0), grant)
            }

            // Without its key, the table accepts a name twice: then it names no token.
            return Dictionary(
                grants,
                uniquingKeysWith: { first, _ in
                    TokenGrant(
                        digest: first.digest,
                        roles: [],
                        expiresAt: nil,
                        requestsPerMinute: nil
                    )
                }
            )
        }
    }

    /// Records that tokens were used, if their recorded last use is older than a minute.
    package func recordUse(ofTokens names: Set<String>) async throws(EventLogError) {
        let sql = """
            UPDATE operation.token SET last_used_at = clock_timestamp()
            WHERE name = ANY ($1) AND revoked_at IS NULL AND coalesce(
                last_used_at < clock_timestamp() - interval '\(EventLog.tokenUseSecondsMax) seconds',
                true)
            """
        try await reading("record the use of tokens", on: tokenPool) { session in
            _ = try await session.query(sql, [.textArray(names.sorted())])
        }
    }

    private static func roles(_ words: [String?]?) -> Set<TokenRole> {
        Set((words ?? []).compactMap { $0 }.compactMap(TokenRole.init(rawValue:)))
    }
}

/// What a token grants, and the digest to compare its text with.
package struct TokenGrant: Sendable {
    let digest: [UInt8]
    /// What its bearer may do; empty if it was revoked.
    package let roles: Set<TokenRole>
    /// From when on it is refused; nil for never.
    package let expiresAt: Instant?
    /// The most requests in a minute; nil for any number.
    package let requestsPerMinute: Int64?

    /// Whether a text is that of the token; compared in constant time, so timing reveals nothing.
    package func isOf(_ token: AccessToken) -> Bool {
        let other = token.digest.bytes
        guard digest.count == other.count else { return false }
        return zip(digest, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
