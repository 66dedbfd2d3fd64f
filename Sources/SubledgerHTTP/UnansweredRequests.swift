internal import HTTPTypes
internal import Hummingbird
internal import Synchronization

/// Answers requests without a route: 404, or 405 if another method is allowed.
struct UnansweredRequests<Context: RequestContext>: RouterMiddleware {
    let routes: LedgerRoutes

    /// The route of these requests in metrics and logs: paths from attackers are not recorded.
    private static var route: String { "none" }

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            let methods = routes.methods(of: request.uri.path)
            return try await routes.respond(
                to: request,
                context,
                Self.route,
                Self.route,
                for: [],
                identifiedBy: routes.caller
            ) {
                _ in
                throw Problem(to: request.method, at: methods)
            }
        }
    }
}

extension Problem {
    fileprivate init(to method: HTTPRequest.Method, at methods: [String]) {
        guard !methods.isEmpty else {
            self.init(
                .notFound,
                "unknown-route",
                "Unknown route; GET /openapi.json describes all routes."
            )
            return
        }
        self.init(
            .methodNotAllowed,
            "method-not-allowed",
            "\(method.rawValue.prefix(16)) is not allowed on this route; expected "
                + methods.joined(separator: " or ") + "."
        )
        allowedMethods = methods
    }
}

extension LedgerRoutes {
    /// The methods that a path accepts; empty if it belongs to no route.
    fileprivate func methods(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        let route = state.methods.withLock { $0 }.first { route, _ in
            let served = route.split(separator: "/")
            return served.count == parts.count
                && zip(served, parts).allSatisfy { $0.first == ":" || $0 == $1 }
        }
        return route?.value.sorted() ?? []
    }
}
