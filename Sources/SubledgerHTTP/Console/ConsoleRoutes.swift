public import EventLog
internal import Events
internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import NIOCore
internal import Subledger

/// The console: pages about customers, events, reports, operations and tables, for a browser.
///
/// A page needs a session, which begins with a link that signs in once (``signInPath(for:)``), or
/// with a token that is entered on the page that signs in. The roles, the expiry and the revocation
/// of the token apply to the session; who looked at whom is audited as for other questions. One
/// script of our own runs, without which every page works, too, and nothing is loaded from
/// elsewhere.
public struct ConsoleRoutes: Sendable {
    /// The routes that the same server has for programs.
    public let routes: LedgerRoutes
    let isSecure: Bool
    let note: String?
    let sessions = ConsoleSessions()
    let streams = LiveStreams()
    let doctor: SharedDoctor

    /// The console of a ledger.
    ///
    /// - Parameters:
    ///   - routes: The routes of the ledger.
    ///   - isSecure: Whether browsers reach it by HTTPS only.
    ///   - note: What each page says about this ledger; nil for nothing.
    public init(_ routes: LedgerRoutes, isSecure: Bool = false, note: String? = nil) {
        self.routes = routes
        self.isSecure = isSecure
        self.note = note
        // So that the rest of its page is shown within the limit of an answer.
        doctor = SharedDoctor(routes.ledger, secondsMax: routes.limits.answerSecondsMax / 3)
    }

    /// The path of a link that signs in with a token: once, within an hour.
    public func signInPath(for token: AccessToken) -> String {
        "\(ConsoleAddress.signIn)?code=\(sessions.code(for: token))"
    }

    /// Adds all pages to a router.
    public func add(to router: some RouterMethods<some RequestContext>) {
        open(.get, ConsoleAddress.style, of: router) { _ in
            .text(ConsolePage.style, "text/css; charset=utf-8")
        }
        open(.get, ConsoleAddress.script, of: router) { _ in
            .text(ConsolePage.script, "text/javascript; charset=utf-8")
        }
        open(.get, ConsoleAddress.signIn, of: router) { call in try await signIn(call) }
        open(.post, ConsoleAddress.signIn, of: router) { call in try await signInWithToken(call) }
        open(.post, ConsoleAddress.signOut, of: router) { call in try await signOut(call) }
        page(ConsoleAddress.home, of: router) { call in .html(try await home(call)) }
        page(ConsoleAddress.live, of: router, live)
        page(ConsoleAddress.customer, of: router) { call in .html(try await customer(call)) }
        addReports(to: router)
        page("\(ConsoleAddress.events)/:position", of: router) { call in
            .html(try await event(call))
        }
        page("\(ConsoleAddress.events)/:position/without", of: router) { call in
            .html(try await withoutEvent(call))
        }
        page("\(ConsoleAddress.events)/:position/payload", of: router) { call in
            let position = try routes.position(of: call)
            try await routes.audit(call, "payload", about: try call.parameter("position"))
            let stored = try routes.found(try await routes.ledger.log.event(at: position), call)
            return LedgerRoutes.download(try LedgerRoutes.evidence(of: stored))
        }
        addOperations(to: router)
    }

    /// A route for everyone.
    private func open(
        _ method: HTTPRequest.Method,
        _ path: String,
        of router: some RouterMethods<some RequestContext>,
        _ answer: @escaping @Sendable (Call) async throws -> Response
    ) {
        routes.on(
            method,
            path,
            of: router,
            for: nil,
            refusedBy: { problem, request in refuse(problem, request, in: .customers) },
            answer
        )
    }

    /// A page for a session whose token has a role of its part of the console; one that changes
    /// something is posted.
    func page(
        _ path: String,
        by method: HTTPRequest.Method = .get,
        of router: some RouterMethods<some RequestContext>,
        in section: ConsoleSection = .customers,
        _ answer: @escaping @Sendable (Call) async throws -> Response
    ) {
        routes.on(
            method,
            path,
            of: router,
            for: section.role,
            or: section.otherRole,
            identifiedBy: caller,
            refusedBy: { problem, request in refuse(problem, request, in: section) },
            { call in
                try await ConsolePage.$shownTo.withValue(await roles(of: call)) {
                    try await answer(call)
                }
            }
        )
    }

    /// The name of the token of a request's session, if it has one of the roles.
    func caller(of request: Request, for roles: [TokenRole]) async throws -> String? {
        guard let token = token(of: request) else {
            throw Problem(.unauthorized, "session-missing", "You are not signed in.")
        }
        return try await routes.name(of: token, for: roles)
    }

    /// The roles of the session of an accepted request.
    func roles(of call: Call) async -> Set<TokenRole> {
        guard let token = token(of: call.request) else { return [] }
        return await routes.tokens.rolesAccepted(of: token)
    }

    private func token(of request: Request) -> AccessToken? {
        cookie(of: request).flatMap(sessions.token)
    }

    // Whoever is not signed in gets the page that signs in, and never data.
    private func refuse(
        _ problem: Problem,
        _ request: Request,
        in section: ConsoleSection
    ) -> Response {
        let page =
            problem.status == .unauthorized
            ? ConsolePage.signIn(problem.detail, wanted: ConsoleAddress.page(of: request))
            : ConsolePage.refusal(
                problem,
                ConsoleAddress(typedFor: request),
                note: note,
                in: section
            )
        var response = Response.html(page, status: problem.status)
        if let seconds = problem.retryAfterSeconds { response.headers[.retryAfter] = "\(seconds)" }
        return response
    }
}

extension ConsoleRoutes {
    private func signIn(_ call: Call) async throws -> Response {
        let code = try FormFields(call.request.uri.query ?? "")["code"]
        // Programs that look at links without a person use HEAD, too.
        guard let code, call.request.method == .get else {
            return .html(ConsolePage.signIn(nil))
        }
        guard let cookie = sessions.session(for: code) else {
            throw Problem(
                .unauthorized,
                "code-used",
                "This link was used before, is older than an hour, or is from an earlier start of "
                    + "the program."
            )
        }
        return begun(cookie, try await first(of: sessions.token(of: cookie)))
    }

    private func signInWithToken(_ call: Call) async throws -> Response {
        let fields = try await fields(of: call)
        guard let token = fields["token"].flatMap(AccessToken.init) else {
            throw Problem(
                .unauthorized,
                "token-unknown",
                "This is not a token in the form that `subledger tokens create` prints."
            )
        }
        let roles = ConsoleSection.all.flatMap(\.roles)
        let name = try await routes.name(of: token, for: roles)
        call.logger.notice("signed in to the console", metadata: ["token": "\(name)"])
        let wanted = fields["to"].flatMap(ConsoleAddress.page)
        return begun(sessions.session(for: token), try await first(of: token), wanted)
    }

    // The first part that a token may see; without any, its page says so.
    private func first(of token: AccessToken?) async throws -> ConsoleSection {
        guard let token else { return .customers }
        return ConsoleSection.first(for: try await routes.tokens.roles(of: token)) ?? .customers
    }

    private func signOut(_ call: Call) async throws -> Response {
        _ = try await fields(of: call)
        if let cookie = cookie(of: call.request) { sessions.end(cookie) }
        var response = Response.html(ConsolePage.signIn("You are signed out."))
        response.headers[.setCookie] = cookie("", seconds: 0)
        return response
    }

    // A browser sends a strict cookie only from a page of the same site, so this page leads on, and
    // not a redirect of whatever had the link.
    private func begun(
        _ session: String,
        _ first: ConsoleSection,
        _ wanted: String? = nil
    ) -> Response {
        var response = Response.html(ConsolePage.begun(wanted ?? first.address))
        response.headers[.setCookie] = cookie(session, seconds: ConsoleSessions.sessionSeconds)
        return response
    }

    private func cookie(_ value: String, seconds: Int64) -> String {
        "\(cookieName)=\(value); Path=\(ConsoleAddress.home); Max-Age=\(seconds); HttpOnly; "
            + "SameSite=Strict" + (isSecure ? "; Secure" : "")
    }

    // Of one ledger, because a browser sends the cookies of a host to all its ports.
    private var cookieName: String {
        "subledger_session_\(hexadecimal(routes.ledger.log.identity.ledgerId.prefix(4)))"
    }

    // The cookie of the session; nil without one.
    private func cookie(of request: Request) -> String? {
        let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        for cookie in cookies {
            let parts = cookie.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == cookieName else {
                continue
            }
            return String(parts[1])
        }
        return nil
    }

    // The fields of a form of ours: browsers say where a form is from.
    func fields(of call: Call) async throws -> FormFields {
        let site = HTTPField.Name("Sec-Fetch-Site").flatMap { call.request.headers[$0] }
        guard site.map({ ["same-origin", "none"].contains($0) }) ?? true else {
            throw Problem(
                .forbidden,
                "foreign-form",
                "This form is not from a page of the console."
            )
        }
        let bytes = try await call.body(
            upTo: FormFields.byteCountMax,
            within: routes.limits.bodySecondsMax
        )
        return try FormFields(String(decoding: bytes, as: UTF8.self))
    }
}

extension Response {
    /// A page that may load only our own style and script, and nothing else from anywhere.
    static func html(_ page: HTML, status: HTTPResponse.Status = .ok) -> Response {
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
            .contentSecurityPolicy: "default-src 'none'; style-src 'self'; img-src data:; "
                + "script-src 'self'; connect-src 'self'; form-action 'self'; "
                + "base-uri 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        for (name, value) in [
            ("Referrer-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: page.text))
        )
    }
}
