internal import EventLog
internal import Events
internal import HTTPTypes
internal import Logging

/// The tokens of a ledger, read once for many requests.
///
/// All are read together, so neither many requests nor guessed texts put load on the database: it
/// is queried once in `secondsMax`, and for unknown names at most ten times a second, because a
/// token may have been created a moment ago.
actor KnownTokens {
    private let log: EventLog
    private let secondsMax: Double
    private let readLimit: AnswerLimit
    private let clock: @Sendable () -> Instant
    private let metrics: ServiceMetrics
    private let outages: OutageLog

    private var grants: [String: TokenGrant] = [:]
    // When the grants were requested; nil before the first time.
    private var readAt: Instant?
    private var reading: Task<Void, any Error>?
    private var readCount = 0
    private var restEnd = ContinuousClock.now

    // Requests of limited tokens in the current minute.
    private var requests: [String: (minute: Int64, count: Int64)] = [:]
    private var usedAt: [String: Instant] = [:]
    private var used: Set<String> = []
    private var isRecording = false

    /// The pause between readings for unknown names.
    private static let rest = Duration.milliseconds(100)
    /// How long the last reading stays valid while the database is unavailable, in seconds.
    private static let outageSecondsMax = 3600.0

    /// The tokens of a log.
    ///
    /// - Parameters:
    ///   - log: The log that stores them.
    ///   - secondsMax: How long a reading stays valid.
    ///   - readSecondsMax: How long a reading may take.
    ///   - clock: Our clock.
    ///   - metrics: Counts the readings.
    ///   - outages: Logs what fails.
    init(
        of log: EventLog,
        secondsMax: Double,
        readSecondsMax: Double,
        clock: @escaping @Sendable () -> Instant,
        _ metrics: ServiceMetrics,
        _ outages: OutageLog
    ) {
        self.log = log
        self.secondsMax = secondsMax
        readLimit = AnswerLimit(seconds: readSecondsMax)
        self.clock = clock
        self.metrics = metrics
        self.outages = outages
    }

    /// What the bearer of a token may do; empty for one that is unknown or was revoked.
    ///
    /// - Throws: `EventLogError` if the tokens cannot be read; `Problem` 503 if that takes too long,
    ///   401 for an expired token, 429 for one that was used too often.
    func roles(of token: AccessToken) async throws -> Set<TokenRole> {
        let count = readCount
        if !isFresh {
            do {
                try await read(after: count)
            } catch {
                // Metrics are most important while the database is unavailable; everything else
                // needs it anyway. A problem means that the database took too long.
                let isOutage = (error as? EventLogError)?.isRetryable ?? (error is Problem)
                guard isOutage, age < KnownTokens.outageSecondsMax, grants[token.name] != nil else {
                    throw error
                }
            }
        }
        if grants[token.name] == nil, readCount == count {
            try await Task.sleep(until: restEnd, clock: .continuous)
            try await read(after: count)
        }

        guard let grant = grants[token.name], grant.isOf(token) else { return [] }
        guard !grant.roles.isEmpty else { return [] }
        let now = clock()
        if let end = grant.expiresAt, end.milliseconds <= now.milliseconds {
            throw Problem(
                .unauthorized,
                "token-expired",
                "The token \(token.name) expired; `subledger tokens create` creates another."
            )
        }
        if let most = grant.requestsPerMinute { try admit(token.name, now, upTo: most) }
        note(token.name)
        return grant.roles
    }

    /// Makes the next request read the tokens.
    func forget() { readAt = nil }

    /// The roles of a token whose request was accepted, without counting another one.
    func rolesAccepted(of token: AccessToken) -> Set<TokenRole> {
        guard let grant = grants[token.name], grant.isOf(token) else { return [] }
        return grant.roles
    }

    /// Counts a request of a limited token, by whole minutes of our clock.
    private func admit(_ name: String, _ now: Instant, upTo most: Int64) throws(Problem) {
        let minute = now.milliseconds / 60_000
        var used = requests[name] ?? (minute, 0)
        if used.minute != minute { used = (minute, 0) }
        guard used.count < most else {
            var problem = Problem(
                .tooManyRequests,
                "token-rate",
                "The token \(name) allows \(most) requests in a minute. Send the request again "
                    + "later."
            )
            problem.retryAfterSeconds = Int(60 - now.milliseconds / 1000 % 60)
            throw problem
        }
        used.count += 1
        requests[name] = used
    }

    private var isFresh: Bool { age < secondsMax }

    // Seconds since the grants were read. A clock that was set back must not extend a reading.
    private var age: Double {
        guard let readAt else { return .infinity }
        let age = Double(clock().milliseconds - readAt.milliseconds) / 1000
        return age >= 0 ? age : .infinity
    }

    /// Reads the tokens, unless another caller began to since the count: callers share one reading.
    private func read(after count: Int) async throws {
        if readCount == count { try await reading?.value }
        if readCount == count {
            readCount += 1
            reading = Task { [readLimit] in try await readLimit.run { try await self.read() } }
        }
        try await reading?.value
    }

    private func read() async throws {
        defer {
            reading = nil
            restEnd = .now + KnownTokens.rest
        }
        let asked = clock()
        metrics.countTokenReading()
        grants = try await log.grants()
        readAt = asked
    }

    /// Notes that a token is used, and records it unless that was done within the last minute.
    private func note(_ name: String) {
        let now = clock()
        let last = usedAt[name].map { now.milliseconds - $0.milliseconds }
        guard last.map({ $0 < 0 || $0 >= Int64(EventLog.tokenUseSecondsMax) * 1000 }) ?? true else {
            return
        }
        usedAt[name] = now
        used.insert(name)
        guard !isRecording else { return }
        isRecording = true
        Task { await record() }
    }

    // Tokens used while the last record is being written go into the next one.
    private func record() async {
        while !used.isEmpty {
            let names = used
            used = []
            do {
                try await log.recordUse(ofTokens: names)
            } catch {
                // No answer depends on it; the next use is recorded again.
                for name in names { usedAt[name] = nil }
                outages.log("the use of tokens was not recorded", error)
            }
        }
        isRecording = false
    }
}
