internal import AppStore
internal import Catalog
internal import EventLog
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Subledger

/// Why a request was not answered, as defined by RFC 9457.
struct Problem: Error, Encodable {
    /// The status of the response.
    let status: HTTPResponse.Status
    /// The machine-readable code, the same that the command line prints.
    let code: String
    /// What happened, and what to do.
    let detail: String
    /// The `originalTransactionId`s of the subscriptions to choose from; nil if there is nothing to
    /// choose.
    var subscriptions: [String]?
    /// Seconds after which the same request may succeed; nil if it will not.
    var retryAfterSeconds: Int?
    /// The allowed methods, if the path does not accept the request's method.
    var allowedMethods: [String] = []

    /// The prefix of the URN of a problem's type; it does not resolve to a page.
    private static let typePrefix = "urn:subledger:problem:"
    private static let mediaType = "application/problem+json"

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, code, subscriptions
    }

    /// A problem with that status.
    init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Problem.typePrefix + code, forKey: .type)
        try container.encode(status.reasonPhrase, forKey: .title)
        try container.encode(status.code, forKey: .status)
        try container.encode(detail, forKey: .detail)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(subscriptions, forKey: .subscriptions)
    }

    /// The response.
    func response() throws -> Response {
        var response = try Response.json(self, status: status)
        response.headers[.contentType] = Problem.mediaType
        if let retryAfterSeconds { response.headers[.retryAfter] = "\(retryAfterSeconds)" }
        if !allowedMethods.isEmpty {
            response.headers[.allow] = allowedMethods.joined(separator: ", ")
        }
        if status == .unauthorized {
            response.headers[.wwwAuthenticate] = "Bearer"
        }
        return response
    }
}

extension Problem {
    /// Seconds after which to retry when the database is unavailable: it may be starting.
    static let retrySeconds = 5

    /// The problem for an error.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let rejection as Rejection:
            self.init(Problem.status(of: rejection), rejection.code.rawValue, rejection.message)
        case let error as QuestionError:
            self.init(
                Problem.status(of: error.code),
                error.code.rawValue,
                Problem.words(error)
            )
            subscriptions = error.subscriptions.isEmpty ? nil : error.subscriptions
        case let error as EventLogError: self.init(error)
        case let error as CatalogError:
            self.init(failure: error.code.rawValue)
        case let error as PolicyError:
            self.init(.badRequest, error.code.rawValue, error.message)
        case let error as HTTPError:
            self.init(error.status, "http", error.status.reasonPhrase)
        case is CancellationError:
            self.init(.serviceUnavailable, "stopping", "The service stops. Send the request again.")
            retryAfterSeconds = Problem.retrySeconds
        default: self.init(failure: "internal")
        }
    }

    /// The problem of a query parameter.
    init(query detail: String) { self.init(.badRequest, "query", detail) }

    /// The problem of a request for which there is no room now.
    init(busy what: String) {
        self.init(
            .serviceUnavailable,
            "busy",
            "The service is reading \(what). Send the request again."
        )
        retryAfterSeconds = 1
    }

    /// What came before this request is held up, and this one waited long enough.
    static var heldUp: Problem {
        var problem = Problem(
            .serviceUnavailable,
            "busy",
            "The service is still working on earlier requests, and this one has waited for them as "
                + "long as it may. Send the request again."
        )
        problem.retryAfterSeconds = retrySeconds
        return problem
    }

    /// A failure of the service: the response contains its code, and only the log has the reason.
    private init(failure code: String) {
        self.init(
            .internalServerError,
            code,
            "The service failed. Its log contains the reason, under the X-Request-Id of this "
                + "response."
        )
    }

    private init(_ error: EventLogError) {
        switch error.code {
        case .databaseUnavailable, .tableInUse, .queueFull, .closed:
            self.init(unavailable: error.code, "The database is currently unavailable.")
        case .tooManyConnections:
            self.init(
                unavailable: error.code,
                "All connections that the database allows are in use."
            )
        case .diskFull:
            self.init(unavailable: error.code, "The disk of the database server is full.")
        case .clockSkew:
            self.init(
                unavailable: error.code,
                "The clocks of this machine and of the database server are too far apart to append."
            )
        case .lanesUnavailable:
            self.init(
                unavailable: error.code,
                "A server of the database is currently unavailable, and the request needs its lanes."
            )
        case .tooManyFacts, .tooManyStreams, .sharedPayloads:
            self.init(.unprocessableContent, error.code.rawValue, error.message)
        case .cursorNotOfLog, .cursorBeyondLog, .consumerInUse, .consumerOfOtherStream:
            self.init(.conflict, error.code.rawValue, error.message)
        case .notMigrated, .schemaTooNew, .schemaTooOld, .migrationEdited, .notUTF8,
            .laneCountFixed, .notDistributable, .permissionDenied, .roleMissing, .invalidSettings,
            .database,
            .malformedLog, .rowsDropped, .catalogTaken, .temporaryFile, .evidenceFile,
            .sharedConnection:
            self.init(failure: error.code.rawValue)
        }
    }

    // What the operator, or time, mends: the same request may succeed then.
    private init(unavailable code: EventLogError.Code, _ what: String) {
        self.init(.serviceUnavailable, code.rawValue, what + " Send the request again later.")
        retryAfterSeconds = Problem.retrySeconds
    }

    private static func status(of rejection: Rejection) -> HTTPResponse.Status {
        rejection.code == .payloadTooLarge ? .contentTooLarge : .badRequest
    }

    private static func status(of code: QuestionError.Code) -> HTTPResponse.Status {
        switch code {
        case .unknownId, .emptyLedger, .otherEnvironment, .nothingKnownThen, .erased,
            .unknownProduct, .unknownGroup, .unknownReport:
            .notFound
        case .tablesNotBuilt, .tablesNotReady: .serviceUnavailable
        case .severalEnvironments, .severalSubscriptions, .ambiguousId: .conflict
        case .unknownPosition: .badRequest
        case .tooManyEvents: .unprocessableContent
        }
    }

    // The library's message, with the parameter that helps.
    private static func words(_ error: QuestionError) -> String {
        switch error.code {
        case .unknownId, .erased, .unknownPosition, .unknownReport, .tablesNotBuilt,
            .tablesNotReady:
            error.message
        case .emptyLedger:
            error.message + "; send notifications to /v1/appstore/notifications, or run "
                + "`subledger ingest`"
        case .otherEnvironment: error.message + "; name that one with environment"
        case .severalEnvironments: error.message + "; name one with environment"
        case .severalSubscriptions:
            error.message + "; ask about one of them at /v1/subscriptions"
        case .nothingKnownThen: error.message + "; leave out knownAt for what is known now"
        case .unknownProduct, .unknownGroup:
            error.message + ", or import a catalog that contains it (`subledger catalog import`)"
        case .ambiguousId:
            error.message + "; use another id of the purchase that you mean, for example a "
                + "transactionId"
        case .tooManyEvents: error.message + ": bound it with knownAt"
        }
    }
}

extension Response {
    /// A document as JSON with sorted keys.
    static func json(
        _ document: some Encodable,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ByteBuffer(bytes: try encoder.encode(document))
        return Response(
            status: status,
            headers: [
                .contentType: "application/json", .cacheControl: "no-store",
                .contentLength: "\(body.readableBytes)",
            ],
            body: ResponseBody(byteBuffer: body)
        )
    }

    /// Text of another media type.
    static func text(_ text: String, _ mediaType: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: mediaType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
