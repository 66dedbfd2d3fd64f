internal import EventLog
internal import Events
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Subledger

/// One accepted request.
struct Call: ParameterSource, Sendable {
    /// The request.
    let request: Request
    /// The path parameters of the route.
    let parameters: Parameters
    /// The name of the token; nil if the route needs none.
    let caller: String?
    /// The address of the client; nil if unknown.
    let address: String?
    /// The id of the request in the log.
    let id: String
    /// The logger for this request.
    let logger: Logger

    /// A path parameter.
    func parameter(_ name: String) throws -> String {
        guard let value = parameters.get(name)?.removingPercentEncoding, !value.isEmpty,
            !value.utf8.contains(0)
        else {
            throw Problem(.badRequest, "path", "The path needs \(name) as UTF-8 text without NUL.")
        }
        return value
    }

    /// The names of the query parameters.
    var names: [String] { request.uri.queryParameters.map { String($0.key) } }

    /// A query parameter; nil if it is absent.
    ///
    /// - Throws: `Problem` 400 if it is empty or repeated, because the intended value is not known.
    func query(_ name: QueryParameter) throws -> String? {
        let values = try queries(name)
        guard values.count <= 1 else {
            throw Problem(query: "\(name) is given \(values.count) times; give it once.")
        }
        return values.first
    }

    /// All values of a parameter that may be repeated.
    ///
    /// - Throws: `Problem` 400 for one that is empty, or contains a NUL, which PostgreSQL does not
    ///   allow in text.
    func queries(_ name: QueryParameter) throws -> [String] {
        try request.uri.queryParameters[values: Substring(name.rawValue)].map { value in
            guard !value.isEmpty, !value.utf8.contains(0) else {
                throw Problem(
                    query: "\(name) is empty or contains a NUL; leave it out, or give a valid "
                        + "value."
                )
            }
            return String(value)
        }
    }

    /// The subject of the question.
    func subject(_ name: String, alone: Bool) throws -> SubjectID {
        SubjectID(try parameter(name), in: try environment(), alone: alone)
    }
}

extension Call {
    /// The most bytes that the body has.
    ///
    /// - Throws: `Problem` 413 if it says that it is above the limit.
    func byteCount(upTo byteCountMax: Int) throws -> Int {
        guard let length = request.headers[.contentLength] else { return byteCountMax }
        // A number beyond the range of Int is too large, too.
        guard let count = Int(length), count <= byteCountMax else {
            throw Call.tooLarge(byteCountMax)
        }
        return max(0, count)
    }

    /// The body, once it is complete.
    ///
    /// - Throws: `Problem` 413 for a body above the limit, 408 for one that arrives too slowly.
    func body(upTo byteCountMax: Int, within seconds: Double) async throws -> [UInt8] {
        let (length, body) = (request.headers[.contentLength], request.body)
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                do {
                    return Array(buffer: try await body.collect(upTo: byteCountMax))
                } catch is NIOTooManyBytesError {
                    throw Call.tooLarge(byteCountMax)
                } catch  where !Task.isCancelled {
                    throw Call.malformed
                }
            }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return nil
            }

            defer { group.cancelAll() }
            guard let bytes = try await group.next() ?? nil else {
                throw Problem(
                    .requestTimeout,
                    "body-slow",
                    "The body did not arrive within \(Int(seconds)) seconds."
                )
            }
            if let length, Int(length) != bytes.count { throw Call.malformed }
            return bytes
        }
    }

    private static let malformed = Problem(
        .badRequest,
        "body-malformed",
        "The body is not valid HTTP: it ended before its Content-Length or its last chunk, or the "
            + "size of a chunk is not a number."
    )

    private static func tooLarge(_ byteCountMax: Int) -> Problem {
        Problem(
            .contentTooLarge,
            "body-too-large",
            "The body has more than the \(byteCountMax) bytes that this route accepts."
        )
    }
}
