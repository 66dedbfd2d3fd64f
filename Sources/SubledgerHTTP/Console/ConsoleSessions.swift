internal import EventLog
internal import Events
internal import Synchronization

/// Who is signed in to the console.
///
/// A session stands for an access token, which stays in this process: its roles, its expiry and its
/// revocation apply to every page. Only digests of codes and of cookies are kept.
final class ConsoleSessions: Sendable {
    /// How long a browser stays signed in: a working day.
    static let sessionSeconds: Int64 = 12 * 3600
    /// How long a link that signs in is valid.
    static let codeSeconds: Int64 = 3600
    /// The most sessions, and the most links; above that, the oldest end.
    private static let countMax = 1000

    private struct Grant {
        let token: AccessToken
        let end: ContinuousClock.Instant
    }

    private struct Grants {
        var codes: [Digest: Grant] = [:]
        var sessions: [Digest: Grant] = [:]
    }

    private let grants = Mutex(Grants())

    /// A new code, which signs in once.
    func code(for token: AccessToken) -> String {
        let code = ConsoleSessions.secret()
        grants.withLock { ConsoleSessions.add(token, code, Self.codeSeconds, to: &$0.codes) }
        return code
    }

    /// The cookie of a new session for a code, which is used up by that; nil if it is not valid.
    func session(for code: String) -> String? {
        let grant = grants.withLock { $0.codes.removeValue(forKey: Self.digest(code)) }
        guard let grant, grant.end > .now else { return nil }
        return session(for: grant.token)
    }

    /// The cookie of a new session of a token.
    func session(for token: AccessToken) -> String {
        let cookie = ConsoleSessions.secret()
        grants.withLock {
            ConsoleSessions.add(token, cookie, Self.sessionSeconds, to: &$0.sessions)
        }
        return cookie
    }

    /// The token of a session; nil if there is no such session, or it has ended.
    func token(of cookie: String) -> AccessToken? {
        let grant = grants.withLock { $0.sessions[Self.digest(cookie)] }
        return grant.flatMap { $0.end > .now ? $0.token : nil }
    }

    /// Ends a session.
    func end(_ cookie: String) {
        _ = grants.withLock { $0.sessions.removeValue(forKey: Self.digest(cookie)) }
    }

    private static func add(
        _ token: AccessToken,
        _ secret: String,
        _ seconds: Int64,
        to grants: inout [Digest: Grant]
    ) {
        let now = ContinuousClock.now
        grants = grants.filter { $0.value.end > now }
        if grants.count >= countMax, let oldest = grants.min(by: { $0.value.end < $1.value.end }) {
            grants[oldest.key] = nil
        }
        grants[digest(secret)] = Grant(token: token, end: now + .seconds(seconds))
    }

    private static func digest(_ secret: String) -> Digest { .of(Array(secret.utf8)) }

    // 256 random bits.
    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return hexadecimal((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
