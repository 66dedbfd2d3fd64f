public import EventLog
public import Events
internal import Foundation
internal import HTTPTypes
public import Hummingbird
public import Logging
internal import NIOCore
public import Subledger
internal import Synchronization

/// The routes of a ledger: uploads from Apple and the app, and questions.
///
/// Mount them in an app of your own, next to its other routes; the app keeps answering all other
/// requests:
///
/// ```swift
/// let router = Router(context: LedgerRequestContext.self)
/// LedgerRoutes(ledger).add(to: router)
/// ```
public struct LedgerRoutes: Sendable {
    /// The ledger.
    public let ledger: Ledger
    /// The limits of one request.
    public let limits: ServiceLimits
    /// The customers for whom sandbox purchases count in production.
    public let sandbox: SandboxPolicy
    /// Signs entitlements for clients that ask for it; nil if nothing is signed.
    let signer: EntitlementSigner?
    /// Asks Apple about a customer; nil if Apple is not asked.
    private(set) var refresh: CustomerRefresh?
    /// Makes an accepted notification durable for those it is forwarded to; nil if there are none.
    private(set) var forward: (@Sendable ([UInt8], Ledger.Ingestion) async throws -> Void)?
    /// The proxies whose `X-Forwarded-For` names the client.
    let trustedProxies: [AddressRange]
    /// The metrics.
    let metrics: ServiceMetrics
    /// Our clock: for the arrival of payloads, and for questions without `at`.
    let clock: @Sendable () -> Instant

    /// Measures the effect of late payloads.
    let lateness: LatenessMeter
    /// Whether appends work.
    let appends: AppendWatch
    /// Limits what comes without a token.
    let senders: SenderLimits
    /// Writes the log lines about an unavailable database.
    let outages: OutageLog
    let tokens: KnownTokens
    let state = ServiceState()

    /// The routes of a ledger.
    ///
    /// - Parameters:
    ///   - ledger: The ledger; its policy decides which payloads are trusted.
    ///   - limits: The limits of one request.
    ///   - sandbox: The customers for whom sandbox purchases count in production.
    ///   - signer: Signs entitlements for clients that accept `application/jwt`; nil to sign nothing.
    ///   - trustedProxies: The proxies whose `X-Forwarded-For` names the client.
    ///   - logger: Logs what belongs to no single request.
    ///   - clock: Our clock.
    public init(
        _ ledger: Ledger,
        limits: ServiceLimits = ServiceLimits(),
        sandbox: SandboxPolicy = .never,
        signer: EntitlementSigner? = nil,
        trustedProxies: [AddressRange] = [],
        logger: Logger = Logger(label: "subledger"),
        clock: @escaping @Sendable () -> Instant = { .systemClock() }
    ) {
        self.ledger = ledger
        self.limits = limits
        self.sandbox = sandbox
        self.signer = signer
        self.trustedProxies = trustedProxies
        self.clock = clock

        metrics = ServiceMetrics(startedAt: clock())
        for name in ledger.projector.usualNames { metrics.create(projection: name) }
        outages = OutageLog(logger, lookInterval: .seconds(limits.outageSeconds)) {
            do {
                _ = try await ledger.log.heads()
                return true
            } catch {
                return false
            }
        }
        lateness = LatenessMeter(ledger, metrics, outages)
        appends = AppendWatch(ledger.log, limits, outages, logger)
        senders = SenderLimits(limits)
        tokens = KnownTokens(
            of: ledger.log,
            secondsMax: limits.tokenSecondsMax,
            readSecondsMax: limits.tokenReadSecondsMax,
            clock: clock,
            metrics,
            outages
        )
    }

    /// The same routes, of a service that asks Apple about a customer.
    package func refreshing(by refresh: CustomerRefresh?) -> LedgerRoutes {
        var routes = self
        routes.refresh = refresh
        return routes
    }

    /// The same routes, of a service that forwards what Apple sends.
    ///
    /// - Parameter take: Makes a notification that the log has durable for its receivers, before
    ///   Apple gets its answer.
    /// - Returns: The routes.
    package func forwarding(
        by take: (@Sendable ([UInt8], Ledger.Ingestion) async throws -> Void)?
    ) -> LedgerRoutes {
        var routes = self
        routes.forward = take
        return routes
    }

    /// Counts messages to a webhook.
    package func count(webhook: String, delivered: Int64, failed: Int64) {
        metrics.count(webhook: webhook, delivered: delivered, failed: failed)
    }

    /// Counts questions to Apple that were asked outside of the routes.
    package func count(_ round: AskedRound) { metrics.count(round) }

    /// Counts a payload that was ingested, and measures for how long its lateness made answers
    /// wrong.
    ///
    /// - Parameters:
    ///   - ingestion: What was ingested.
    ///   - source: The channel by which it came.
    ///   - receivedAt: When it arrived.
    public func count(_ ingestion: Ledger.Ingestion, source: String, at receivedAt: Instant) {
        metrics.count(ingestion, source: source, at: receivedAt)
        lateness.take(ingestion, at: receivedAt)
    }

    /// Makes the next request read the tokens of the ledger, such as after one was revoked.
    public func reloadTokens() async { await tokens.forget() }

    /// Announces that no more requests should come: `/readyz` answers 503 from now on.
    public func drain() { state.isDraining.store(true, ordering: .relaxed) }

    /// Whether `drain` was called.
    var isDraining: Bool { state.isDraining.load(ordering: .relaxed) }

    /// Adds all routes to a router.
    public func add(to router: some RouterMethods<some RequestContext>) {
        addNotifications(to: router)
        addUploads(to: router)
        addQuestions(to: router)
        addRefresh(to: router)
        addEvents(to: router)
        addReports(to: router)
        addAgents(to: router)
        addHealth(to: router)
        addKeys(to: router)
        on(.get, "/openapi.json", of: router, for: nil) { _ in
            .text(
                String(decoding: embeddedFile("openapi.json"), as: UTF8.self),
                "application/json"
            )
        }
    }
}

extension LedgerRoutes: CustomStringConvertible {
    /// A word for logs, because some content of the routes is secret.
    public var description: String { "routes of a ledger" }
}

extension LedgerRoutes {
    /// Registers the answer of one route.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, with `:name` for its parameters.
    ///   - router: The router to register it with.
    ///   - role: The role that its token needs; nil for no token.
    ///   - other: Another role that is sufficient.
    ///   - identify: Names the token; nil for the one of the header Authorization.
    ///   - refuse: Makes the response to a problem with a request.
    ///   - answer: Makes the response; an error it throws becomes a problem.
    func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        of router: some RouterMethods<some RequestContext>,
        for role: TokenRole?,
        or other: TokenRole? = nil,
        identifiedBy identify: Identification? = nil,
        refusedBy refuse: @escaping Refusal = { problem, _ in try problem.response() },
        _ answer: @escaping @Sendable (Call) async throws -> Response
    ) {
        let roles = [role, other].compactMap { $0 }
        metrics.create(method.rawValue, path)
        state.methods.withLock {
            $0[path, default: []].formUnion(method == .get ? ["GET", "HEAD"] : [method.rawValue])
        }
        _ = router.on(RouterPath(path), method: method) { request, context in
            try await respond(
                to: request,
                context,
                method.rawValue,
                path,
                for: roles,
                identifiedBy: identify ?? caller,
                refusedBy: refuse,
                method == .get && !roles.isEmpty ? limited(answer, context) : answer
            )
        }
    }

    // What only reads is ended with its client, and when its time is over.
    private func limited(
        _ answer: @escaping @Sendable (Call) async throws -> Response,
        _ context: some RequestContext
    ) -> @Sendable (Call) async throws -> Response {
        let limit = AnswerLimit(
            seconds: limits.answerSecondsMax,
            channel: (context as? LedgerRequestContext)?.channel
        )
        return { call in try await limit.run { try await answer(call) } }
    }

    /// Reads for the answer to an upload or a refresh, for as long as an answer may take.
    func reading<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await AnswerLimit(seconds: limits.answerSecondsMax).run(work)
    }

    /// Makes the response to a problem with a request.
    typealias Refusal = @Sendable (Problem, Request) throws -> Response

    /// Answers a request, counts it, and writes its log line.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: Its id, its logger and its path parameters.
    ///   - method: The method, as named in metrics.
    ///   - path: The route, as named in metrics.
    ///   - roles: Roles any of which its token needs; empty for no token.
    ///   - identify: Returns the name of the token, if it has one of the roles.
    ///   - refuse: Makes the response to a problem with a request.
    ///   - answer: Makes the response; an error it throws becomes a problem.
    /// - Returns: The response.
    /// - Throws: Only if a problem cannot be encoded.
    func respond(
        to request: Request,
        _ context: some RequestContext,
        _ method: String,
        _ path: String,
        for roles: [TokenRole],
        identifiedBy identify: Identification,
        refusedBy refuse: Refusal = { problem, _ in try problem.response() },
        _ answer: @Sendable (Call) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        // A logger that drops metadata has no request id.
        let id = context.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? UUID().uuidString
        var (caller, failure, isOutage): (String?, String?, Bool) = (nil, nil, false)
        let address = trustedProxies.client(of: request, from: context.peerAddress)

        var response: Response
        do {
            caller = try await identify(request, roles)
            let call = Call(
                request: request,
                parameters: context.parameters,
                caller: caller,
                address: address,
                id: id,
                logger: context.logger
            )
            response = try await answer(call)
        } catch {
            let problem = Problem(error)
            failure = problem.code
            isOutage = outages.takes(error)
            if !isOutage, problem.status.kind == .serverError {
                context.logger.log(
                    level: error is Problem ? .notice : .error,
                    "request failed",
                    metadata: ["error": "\((error as? Problem)?.detail ?? "\(error)")"]
                )
            }
            response = try refuse(problem, request)
        }

        response.headers[.requestId] = id
        let duration = ContinuousClock.now - start
        metrics.record(method, path, response.status, for: duration)
        context.logger.log(
            level: isOutage ? .debug : .info,
            "request",
            metadata: LedgerRoutes.line(
                method,
                path,
                response.status,
                caller,
                failure,
                address,
                duration
            )
        )
        return response
    }

    // The path as registered: only audit lines contain ids of customers.
    private static func line(
        _ method: String,
        _ path: String,
        _ status: HTTPResponse.Status,
        _ caller: String?,
        _ failure: String?,
        _ address: String?,
        _ duration: Duration
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "method": "\(method)", "route": "\(path)", "status": "\(status.code)",
            "milliseconds": "\(duration / .milliseconds(1))",
        ]
        if let caller { metadata["token"] = "\(caller)" }
        if let failure { metadata["problem"] = "\(failure)" }
        // Whoever guesses tokens is named; others only where their question is.
        if let address, [401, 403, 429].contains(status.code) {
            metadata["address"] = "\(address)"
        }
        return metadata
    }

    /// Takes the body of a request, unless too many others are being taken.
    func withBody(
        of call: Call,
        upTo byteCountMax: Int,
        _ body: ([UInt8]) async throws -> Response
    ) async throws -> Response {
        let others = state.uploads.wrappingAdd(1, ordering: .relaxed).oldValue
        defer { state.uploads.wrappingSubtract(1, ordering: .relaxed) }
        guard others < limits.uploadsMax else {
            throw Problem(busy: "\(limits.uploadsMax) request bodies, its limit")
        }
        if let encoding = call.request.headers[.contentEncoding], encoding != "identity" {
            throw Problem(
                .unsupportedMediaType,
                "content-encoding",
                "The body has the Content-Encoding \(encoding.prefix(64)); expected none. Send the "
                    + "body uncompressed."
            )
        }

        let room = try call.byteCount(upTo: byteCountMax)
        let reserved = state.bodyBytes.wrappingAdd(room, ordering: .relaxed).newValue
        defer { state.bodyBytes.wrappingSubtract(room, ordering: .relaxed) }
        guard reserved <= limits.bodyBytesMax else {
            throw Problem(
                busy: "request bodies of \(limits.bodyBytesMax) bytes, the most that it holds"
            )
        }

        let bytes = try await call.body(upTo: byteCountMax, within: limits.bodySecondsMax)
        guard !bytes.isEmpty else {
            throw Problem(.badRequest, "body-empty", "The body is empty.")
        }
        return try await body(bytes)
    }

    /// Writes an audit line: who asked what about whom; and stores it, if it is to be kept.
    func audit(_ call: Call, _ question: String, about subject: String) async throws {
        call.logger.notice(
            "audit",
            metadata: [
                "token": "\(call.caller ?? "")", "question": "\(question)",
                "subject": "\(subject)", "address": "\(call.address ?? "")",
            ]
        )
        guard limits.auditDays > 0 else { return }
        let entry = AuditEntry(
            askedAt: clock(),
            requestId: call.id,
            token: call.caller ?? "",
            address: call.address,
            question: question,
            subject: subject
        )
        try await ledger.log.record(entry, days: limits.auditDays)
    }
}

extension HTTPField.Name {
    /// The id of the request in the log.
    fileprivate static var requestId: HTTPField.Name { HTTPField.Name("X-Request-Id") ?? .server }
}
