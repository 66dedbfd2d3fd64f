internal import EventLog
internal import HTTPTypes
internal import Hummingbird
internal import Subledger

/// One route in the description.
struct RouteDescription {
    let method: HTTPRequest.Method
    let path: String
    let summary: String
    let role: TokenRole?
    var query: [QueryParameter] = []
    var body: Node?
    /// The document returned with 200; nil for text.
    let document: (any Decodable.Type)?
    /// Further statuses, in addition to 401 and 403 if a token is needed, and 500 and 503.
    var problems: [Int] = []
}

extension LedgerRoutes {
    /// `GET /openapi.json`: OpenAPI 3.1.
    func addDescription(to router: some RouterMethods<some RequestContext>) {
        on(.get, "/openapi.json", of: router, for: nil) { _ in
            try Response.json(try LedgerRoutes.description())
        }
    }

    /// All routes.
    static var descriptions: [RouteDescription] {
        let health = [
            RouteDescription(
                method: .get,
                path: "/livez",
                summary: "Liveness: answers 200 while the process runs.",
                role: nil,
                document: nil
            ),
            RouteDescription(
                method: .get,
                path: "/readyz",
                summary: "Readiness: whether an append would be accepted; 503 and why if not.",
                role: nil,
                document: ReadinessDocument.self
            ),
            RouteDescription(
                method: .get,
                path: "/metrics",
                summary: "Metrics in the text format of Prometheus.",
                role: .support,
                document: nil
            ),
            RouteDescription(
                method: .get,
                path: "/openapi.json",
                summary: "The OpenAPI description of this service.",
                role: nil,
                document: nil
            ),
        ]
        return intake + questions + [refresh] + events + [reports] + health
    }

    private static var intake: [RouteDescription] {
        [
            RouteDescription(
                method: .post,
                path: "/v1/appstore/notifications",
                summary: "Receive an App Store Server Notification, version 1 or 2. The answer is "
                    + "200 once the notification is durable.",
                role: nil,
                body: .object([
                    "type": .text("object"),
                    "properties": .object(["signedPayload": .type("string")]),
                ]),
                document: TakenDocument.self,
                problems: [400, 408, 413, 415, 429]
            ),
            RouteDescription(
                method: .post,
                path: "/v1/transactions",
                summary: "Receive StoreKit 2 transactions from a client, and return their "
                    + "customer.",
                role: .ingest,
                body: .object([
                    "type": .text("object"),
                    "required": .list([.text("signedTransactions")]),
                    "properties": .object([
                        "signedTransactions": .object([
                            "type": .text("array"), "items": .type("string"),
                            "minItems": .number(1),
                        ]),
                        "customerId": .type("string"),
                    ]),
                ]),
                document: UploadDocument.self,
                problems: [400, 408, 413, 415]
            ),
            RouteDescription(
                method: .post,
                path: "/v1/receipts",
                summary: "Receive an app receipt from a client, verify it locally, and return its "
                    + "customer.",
                role: .ingest,
                body: .object([
                    "type": .text("object"), "required": .list([.text("receipt")]),
                    "properties": .object([
                        "receipt": .type("string"), "customerId": .type("string"),
                    ]),
                ]),
                document: UploadDocument.self,
                problems: [400, 408, 413, 415]
            ),
        ]
    }

    private static var questions: [RouteDescription] {
        Question.Subjects.allCases.flatMap { subjects in
            Question.allCases.map { question in
                RouteDescription(
                    method: .get,
                    path: "/v1/\(subjects.rawValue)/{\(subjects.idName)}/\(question.rawValue)",
                    summary: question.summary,
                    role: .support,
                    query: question.parameters,
                    document: question.document,
                    problems: [400, 404, 409, 422]
                )
            }
        }
    }

    private static var refresh: RouteDescription {
        RouteDescription(
            method: .post,
            path: "/v1/customers/{id}/refresh",
            summary: "Ask Apple about a customer's subscriptions now, at most once a minute, and "
                + "return their access before and after.",
            role: .support,
            query: [.environment, .wait],
            document: RefreshDocument.self,
            problems: [400, 404, 409, 422]
        )
    }

    private static var reports: RouteDescription {
        RouteDescription(
            method: .get,
            path: "/v1/reports/{name}",
            summary: "A report over the tables, as `subledger report NAME --json` prints it.",
            role: .analyst,
            query: [.from, .to, .environment],
            document: nil,
            problems: [400, 404]
        )
    }

    private static var events: [RouteDescription] {
        func event(
            _ path: String,
            _ summary: String,
            _ document: (any Decodable.Type)?
        ) -> RouteDescription {
            RouteDescription(
                method: .get,
                path: "/v1/events/{position}" + path,
                summary: summary,
                role: .support,
                document: document,
                problems: [400, 404]
            )
        }
        var payload = event(
            "/payload",
            "The payload of the event, byte for byte: the evidence that proves it.",
            nil
        )
        payload.problems.append(410)
        return [
            event("", "One event of the log.", EventDocument.self),
            event(
                "/proof",
                "The digests that prove the event: of its parts, its evidence and its commit.",
                ProofDocument.self
            ),
            payload,
            RouteDescription(
                method: .get,
                path: "/v1/checkpoint",
                summary: "A checkpoint: the newest commit of each lane. Store it outside the "
                    + "database.",
                role: .support,
                document: CheckpointDocument.self
            ),
        ]
    }

    /// The description of all routes.
    static func description() throws -> Node {
        var reader = SchemaReader()
        var paths: [String: [String: Node]] = [:]
        for route in descriptions {
            paths[route.path, default: [:]][route.method.rawValue.lowercased()] =
                try route.operation(&reader)
        }
        var schemas = reader.components
        schemas["Problem"] = problem
        return .object([
            "openapi": .text("3.1.0"),
            "info": .object(["title": .text("Subledger"), "version": .text("1")]),
            "paths": .object(paths.mapValues(Node.object)),
            "components": .object([
                "schemas": .object(schemas),
                "securitySchemes": .object([
                    "token": .object(["type": .text("http"), "scheme": .text("bearer")])
                ]),
            ]),
        ])
    }

    private static let problem = Node.object([
        "type": .text("object"),
        "required": .list(["type", "title", "status", "detail", "code"].map(Node.text)),
        "properties": .object([
            "type": .type("string"), "title": .type("string"), "status": .type("integer"),
            "detail": .type("string"), "code": .type("string"),
            "subscriptions": .object([
                "type": .text("array"), "items": .type("string"),
                "description": .text(
                    "With the code several-subscriptions: the originalTransactionIds to choose from."
                ),
            ]),
        ]),
    ])
}

extension RouteDescription {
    fileprivate func operation(_ reader: inout SchemaReader) throws -> Node {
        var operation: [String: Node] = [
            "summary": .text(summary), "responses": .object(try responses(&reader)),
            "parameters": .list(parameters),
        ]
        if role != nil {
            operation["security"] = .list([.object(["token": .list([])])])
        }
        if let body {
            operation["requestBody"] = .object([
                "required": .flag(true),
                "content": .object(["application/json": .object(["schema": body])]),
            ])
        }
        return .object(operation)
    }

    private var parameters: [Node] {
        let named = path.matches(of: /\{(\w+)\}/).map { String($0.1) }
        return named.map { name in
            .object([
                "name": .text(name), "in": .text("path"), "required": .flag(true),
                "schema": .object(["type": .text("string"), "minLength": .number(1)]),
            ])
        }
            + query.map { parameter in
                .object([
                    "name": .text(parameter.rawValue), "in": .text("query"),
                    "description": .text(parameter.text), "schema": .type("string"),
                ])
            }
    }

    private func responses(_ reader: inout SchemaReader) throws -> [String: Node] {
        var content: [String: Node] = [:]
        if let document {
            content["application/json"] = .object(["schema": try reader.reference(document)])
        }
        var responses: [String: Node] = [
            "200": .object([
                "description": .text(summary),
                "content": .object(content),
            ])
        ]
        let problem = Node.object([
            "application/problem+json": .object([
                "schema": .object(["$ref": .text("#/components/schemas/Problem")])
            ])
        ])
        for status in problems + (role == nil ? [] : [401, 403, 429]) + [500, 503] {
            responses["\(status)"] = .object([
                "description": .text(RouteDescription.meaning(of: status)),
                "content": problem,
            ])
        }
        return responses
    }

    /// The meaning of a status, with the codes of its problems.
    private static func meaning(of status: Int) -> String {
        switch status {
        case 400:
            """
            The request is invalid; do not send it again unchanged. The code is path, query, \
            position, body, body-empty or body-malformed; unknown-position for a position that this ledger does \
            not have; invalid-name for an invalid customer id; not-a-notification; or the reason \
            why the payload was refused, such as signature-invalid.
            """
        case 401:
            """
            The request has no token (token-missing), or one that is unknown, was revoked \
            (token-unknown) or has expired (token-expired).
            """
        case 403: "The token does not have a role that this route needs (role-missing)."
        case 404:
            """
            No customer, subscription, product or group has this id, nothing was known of it then, \
            or everything known of it was erased (unknown-id, empty-ledger, other-environment, \
            nothing-known-then, erased, unknown-product, unknown-group, unknown-report), or the log has no event at this position \
            (unknown-position).
            """
        case 408: "The body did not arrive in time (body-slow)."
        case 409:
            """
            The id is ambiguous: it matches several subscriptions (several-subscriptions; the \
            member subscriptions lists them), several environments (several-environments; name one \
            with environment), or a customer and a subscription of another one (ambiguous-id). Or \
            this service does not ask Apple (refresh-off).
            """
        case 410: "The payload is not kept (payload-erased, payload-not-kept)."
        case 413: "The body is longer than the route accepts (body-too-large, payload-too-large)."
        case 415: "The body has a Content-Encoding (content-encoding); send it uncompressed."
        case 422: "The subscription has too many events for this question (too-many-events)."
        case 429:
            """
            An address that sends nothing that Apple signed reached a limit (too-many-requests), or \
            the token was used more often than it may be (token-rate).
            """
        case 500: "The service failed. Its log contains the reason, under the X-Request-Id."
        case 503:
            """
            The service or its database is temporarily unable to answer (busy, stopping, \
            answer-timeout, database-unavailable, too-many-connections, disk-full, clock-skew, \
            lanes-unavailable, position-not-reached). Send the request again after Retry-After \
            seconds.
            """
        default: HTTPResponse.Status(integerLiteral: status).reasonPhrase
        }
    }
}
