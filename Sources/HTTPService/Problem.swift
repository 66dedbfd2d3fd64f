internal import AppStore
internal import EventLog
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Subledger

/// Why a request was not answered, as RFC 9457 has it.
struct Problem: Error, Encodable {
    /// The status of the response.
    let status: HTTPResponse.Status
    /// The machine word, the same that the command line prints.
    let code: String
    /// What happened, and what to do.
    let detail: String
    /// Seconds after which the same request may be answered; nil where it will not.
    var retryAfterSeconds: Int?

    /// Where problems are described; not an address.
    private static let typePrefix = "urn:subledger:problem:"
    private static let mediaType = "application/problem+json"

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, code
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
    }

    /// The response that says so.
    func response() throws -> Response {
        var response = try Response.json(self, status: status)
        response.headers[.contentType] = Problem.mediaType
        if let retryAfterSeconds { response.headers[.retryAfter] = "\(retryAfterSeconds)" }
        if status == .unauthorized {
            response.headers[.wwwAuthenticate] = "Bearer"
        }
        return response
    }
}

extension Problem {
    /// Seconds after which to come again when the database is away: it may be starting.
    private static let retrySeconds = 5

    /// The problem that an error is.
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let rejection as Rejection:
            self.init(.badRequest, rejection.code.rawValue, rejection.message)
        case let error as QuestionError:
            self.init(Problem.status(of: error.code), error.code.rawValue, error.message)
        case let error as EventLogError where error.isRetryable:
            self.init(
                .serviceUnavailable,
                error.code.rawValue,
                "The database cannot be asked at present. Send the request again."
            )
            retryAfterSeconds = Problem.retrySeconds
        case let error as EventLogError:
            self.init(Problem.status(of: error.code), error.code.rawValue, error.message)
        case let error as any HTTPResponseError:
            self.init(error.status, "http", error.status.reasonPhrase)
        default:
            self.init(
                .internalServerError,
                "internal",
                "The service failed. Its log has the reason, under the id of this request."
            )
        }
    }

    private static func status(of code: QuestionError.Code) -> HTTPResponse.Status {
        switch code {
        case .unknownId, .otherEnvironment, .nothingKnownThen: .notFound
        case .severalEnvironments, .severalSubscriptions: .conflict
        case .unknownPosition: .badRequest
        case .tooManyEvents: .unprocessableContent
        }
    }

    private static func status(of code: EventLogError.Code) -> HTTPResponse.Status {
        switch code {
        case .tooManyFacts, .tooManyStreams: .unprocessableContent
        default: .internalServerError
        }
    }
}

extension Response {
    /// A document as JSON, with its keys in order.
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
