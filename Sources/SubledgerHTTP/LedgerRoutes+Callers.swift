internal import EventLog
internal import HTTPTypes
internal import Hummingbird

/// Names the token of a request that has one of the roles; nil if none is needed.
typealias Identification = @Sendable (Request, [TokenRole]) async throws -> String?

extension LedgerRoutes {
    /// The name of the request's token, if it has one of the roles.
    func caller(of request: Request, for wanted: [TokenRole]) async throws -> String? {
        guard !wanted.isEmpty else { return nil }
        let scheme = "Bearer "
        guard let header = request.headers[.authorization],
            header.lowercased().hasPrefix(scheme.lowercased())
        else {
            throw Problem(
                .unauthorized,
                "token-missing",
                "This route needs the header `Authorization: Bearer TOKEN`; `subledger tokens "
                    + "create` prints a token."
            )
        }
        guard let token = AccessToken(String(header.dropFirst(scheme.count))) else {
            throw Problem(
                .unauthorized,
                "token-unknown",
                "The header Authorization does not contain a token in the form that `subledger "
                    + "tokens create` prints."
            )
        }

        return try await name(of: token, for: wanted)
    }

    /// The name of a token, if it has one of the roles.
    ///
    /// - Throws: `Problem` 401 for a token that is unknown, expired or revoked, 403 for one without
    ///   the roles.
    func name(of token: AccessToken, for wanted: [TokenRole]) async throws -> String {
        let roles = try await tokens.roles(of: token)
        guard !roles.isEmpty else {
            throw Problem(
                .unauthorized,
                "token-unknown",
                "The token is unknown or was revoked; `subledger tokens` lists all tokens."
            )
        }
        guard !roles.isDisjoint(with: wanted + [.admin]) else {
            throw Problem(
                .forbidden,
                "role-missing",
                "The token \(token.name) does not have the role "
                    + wanted.map(\.rawValue).joined(separator: " or ")
                    + ", which this route needs."
            )
        }
        return token.name
    }
}
