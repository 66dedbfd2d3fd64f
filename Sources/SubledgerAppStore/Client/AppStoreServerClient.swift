internal import AppStore
internal import AsyncHTTPClient
public import EventLog
public import Events
internal import NIOHTTP1

/// A client of the App Store Server API.
///
/// Requests respect Apple's rate limits, are retried if that may help, and end within named limits
/// of time and size. Safe to use from many tasks, which share the budget. Close it when done.
public struct AppStoreServerClient: Sendable {
    private let credentials: ServerCredentials
    private let hosts: ServerHosts
    let limits: ServerLimits
    private let clock: @Sendable () -> Instant
    private let budget: RequestBudget
    private let transport: Transport

    /// A client.
    ///
    /// - Parameters:
    ///   - credentials: The key and the app to authenticate as.
    ///   - hosts: Apple's addresses.
    ///   - limits: The limits of one request.
    ///   - clock: Our clock, for tokens and for `Retry-After`.
    public init(
        _ credentials: ServerCredentials,
        hosts: ServerHosts = .apple,
        limits: ServerLimits = ServerLimits(),
        clock: @escaping @Sendable () -> Instant = { .systemClock() }
    ) {
        self.credentials = credentials
        self.hosts = hosts
        self.limits = limits
        self.clock = clock
        budget = RequestBudget(limits: limits)
        transport = Transport(limits: limits, clock: clock)
    }

    /// Closes all connections; requests in progress fail.
    public func close() async throws { try await transport.close() }

    /// Seconds until a request may be sent, by the rate limits and Apple's refusals; 0 for now.
    public func secondsToWait() async -> Double { await budget.secondsToWait }

    /// The answer to a request; for a request with pages, one page.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - page: Where the page begins; nil for the first one.
    ///   - environment: Production or Sandbox.
    /// - Returns: The answer, not verified.
    /// - Throws: `ServerError`, `CancellationError`.
    public func answer(
        to request: ServerRequest,
        page: String? = nil,
        in environment: StoreEnvironment
    ) async throws -> ServerAnswer {
        var attempt = 1
        while true {
            do {
                let payload = try await send(request.call(page: page), in: environment)
                return try ServerAnswer(payload, to: request, in: environment)
            } catch let error as ServerError {
                guard error.isRetryable, attempt < limits.attemptsMax,
                    !(error.code == .rateLimited && error.errorCode == nil)
                else { throw error }
                attempt += 1
                // After a rate limit, the budget waits for as long as Apple asked.
                if error.code != .rateLimited {
                    try await Task.sleep(
                        for: limits.backOff(before: attempt, jitter: .random(in: 0...1))
                    )
                }
            }
        }
    }

    /// The answer of production, or of the sandbox if production does not know the transaction.
    ///
    /// - Throws: `ServerError`, `CancellationError`.
    public func answer(to request: ServerRequest) async throws -> ServerAnswer {
        do {
            return try await answer(to: request, in: .production)
        } catch let error as ServerError where error.errorCode == .transactionIdNotFound {
            return try await answer(to: request, in: .sandbox)
        }
    }

    /// Requests all pages of an answer, one after the other.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - page: Where an earlier answer ended; nil for the beginning.
    ///   - environment: Production or Sandbox.
    ///   - take: Handles each page before the next one is requested.
    /// - Returns: Where a later request continues; `page` if the answer names no continuation.
    /// - Throws: `ServerError`, `CancellationError`, and whatever `take` throws.
    public func forEachPage(
        of request: ServerRequest,
        from page: String? = nil,
        in environment: StoreEnvironment,
        _ take: (ServerAnswer) async throws -> Void
    ) async throws -> String? {
        var page = page
        var seen: Set<String> = []
        for _ in 0..<limits.pagesMax {
            if let page { seen.insert(page) }
            let answer = try await answer(to: request, page: page, in: environment)
            try await take(answer)
            guard answer.hasMore else { return answer.continuation ?? page }
            if let next = answer.continuation, seen.contains(next) {
                throw ServerError(
                    .answerUnreadable,
                    "the pages of \(request.call.path) go round in a circle: one names an earlier one "
                        + "as the next. What came before was taken"
                )
            }
            page = answer.continuation
        }
        throw ServerError(
            .answerTooLarge,
            "the answer of \(request.call.path) has more than \(limits.pagesMax) pages. What came "
                + "before was taken"
        )
    }
}

extension AppStoreServerClient {
    /// Sends a request once, when the rate limits allow it.
    ///
    /// - Returns: The bytes of the answer.
    /// - Throws: `ServerError`, `CancellationError`.
    func send(_ call: ServerCall, in environment: StoreEnvironment) async throws -> [UInt8] {
        guard !call.endpoint.isSandboxOnly || environment == .sandbox else {
            throw ServerError(
                .refused,
                "\(call.path): Apple offers groups and seats in the sandbox only, so nothing was "
                    + "sent. Ask the sandbox"
            )
        }
        if let wait = try await budget.turn(call.endpoint, environment) {
            let seconds = Int(wait / .seconds(1)) + 1
            throw ServerError(
                .rateLimited,
                "\(call.path) may be asked again in \(seconds) s: Apple's rate limit",
                retryAt: Instant(milliseconds: clock().milliseconds + Int64(seconds) * 1000)
            )
        }

        var request = HTTPClientRequest(url: hosts.api(environment) + call.target)
        request.method = HTTPMethod(rawValue: call.method)
        request.headers.add(name: "User-Agent", value: AppStoreServerClient.userAgent)
        request.headers.add(
            name: "Authorization",
            value: "Bearer " + (try credentials.token(at: clock()))
        )
        request.headers.add(name: "Accept", value: "application/json")
        if let body = call.body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(Array(body.utf8))
        }

        let sent = ContinuousClock.now
        let reply = try await exchange(request, call.path)
        guard (200...299).contains(reply.status) else {
            let error = ServerError(reply, path: call.path, credentials)
            if error.code == .rateLimited {
                let wait = wait(until: error.retryAt)
                await budget.hold(call.endpoint, environment, for: wait, sent: sent)
            }
            throw error
        }
        return reply.body
    }

    /// How this program identifies itself to Apple.
    private static let userAgent = "subledger"

    // Without a time, Apple's window of an hour may apply, but retrying after a minute costs
    // little.
    private func wait(until instant: Instant?) -> Duration {
        guard let instant else { return .seconds(60) }
        return .milliseconds(max(0, instant.milliseconds - clock().milliseconds))
    }

    private func exchange(
        _ request: HTTPClientRequest,
        _ path: String
    ) async throws -> Transport.Reply {
        do {
            return try await transport.send(request)
        } catch let fault as Transport.Fault {
            throw ServerError(fault, at: request.url, path: path, limits)
        }
    }
}

extension ServerError {
    /// Describes an answer without data.
    init(_ reply: Transport.Reply, path: String, _ credentials: ServerCredentials) {
        let code = JSON.root(of: reply.body)?["errorCode"]?.integer
            .map(ServerErrorCode.init(rawValue:))
        let words = code.map { "error \($0)" } ?? "HTTP status \(reply.status)"
        let response = code?.response ?? ServerErrorCode.response(toStatus: reply.status)
        switch (reply.status, response) {
        case (401, _):
            self.init(
                .credentials,
                "Apple does not accept the \(credentials) (HTTP status 401). Check key, key id, "
                    + "issuer id and bundle id, and the clock of this machine",
                errorCode: code
            )
        case (_, .wait):
            self.init(
                .rateLimited,
                "\(path): Apple's rate limit is reached (\(words))",
                errorCode: code ?? .rateLimitExceeded,
                retryAt: reply.retryAfter
            )
        case (_, .retry):
            self.init(
                .unavailable,
                "\(path): Apple cannot answer now (\(words)). Ask again later",
                errorCode: code,
                retryAt: reply.retryAfter
            )
        case (_, .giveUp):
            self.init(.refused, "\(path): Apple refused the question (\(words))", errorCode: code)
        }
    }

    /// Describes a failure on the way to Apple.
    init(_ fault: Transport.Fault, at url: String, path: String, _ limits: ServerLimits) {
        switch fault {
        case .timedOut:
            self.init(
                .timedOut,
                "\(path): no complete answer in time; at most \(limits.silenceSecondsMax) s "
                    + "between two pieces and \(limits.answerSecondsMax) s in all are waited"
            )
        case .tooLarge:
            self.init(
                .answerTooLarge,
                "the answer of \(path) has more than \(limits.answerByteCountMax) bytes. Nothing "
                    + "of it was taken"
            )
        case .unavailable(let what):
            let host = url.split(separator: "/").dropFirst().first ?? ""
            self.init(
                .unavailable,
                "\(path): \(host) cannot be reached (\(what)). Check the network, the name server "
                    + "and the firewall of this machine, and --api-url if it is set; then run this "
                    + "again"
            )
        }
    }
}
