internal import EventLog
internal import Events
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Subledger

/// One request that was let in.
struct Call: Sendable {
    /// The request.
    let request: Request
    /// The parts of the path that the route names.
    let parameters: Parameters
    /// The name of the token; nil where the route needs none.
    let caller: String?
    /// The id under which the log has it.
    let id: String
    /// Where to write about it.
    let logger: Logger

    /// A part of the path.
    func parameter(_ name: String) throws -> String {
        guard let value = parameters.get(name)?.removingPercentEncoding, !value.isEmpty else {
            throw Problem(.badRequest, "path", "The path has no \(name).")
        }
        return value
    }

    /// A parameter of the query; nil where it is not there.
    func query(_ name: String) -> String? {
        request.uri.queryParameters[Substring(name)].map(String.init)
    }

    /// A parameter of the query that is read in one way.
    ///
    /// - Throws: `Problem` 400 where it is there and cannot be read.
    func query<Value>(
        _ name: String,
        expecting form: String,
        _ read: (String) -> Value?
    ) throws -> Value? {
        guard let text = query(name) else { return nil }
        guard let value = read(text) else {
            throw Problem(
                .badRequest,
                "query",
                "\(name) is \"\(text.prefix(64))\"; expected \(form)."
            )
        }
        return value
    }

    /// The instant that the question is about; nil where none is named.
    func at() throws -> Instant? {
        try query("at", expecting: "milliseconds since 1970, or 2026-03-03T09:00:00Z") { text in
            Int64(text).map(Instant.init(milliseconds:)) ?? Instant(text)
        }
    }

    /// How much of the log is used.
    func knownAt() throws -> KnownAt {
        try query(
            "knownAt",
            expecting: "an offset, lane:offset pairs, or 2026-03-03T09:00:00Z",
            KnownAt.init
        ) ?? .latest
    }

    /// Where the purchases were made; nil where it is not named.
    func environment() throws -> Events.Environment? {
        try query("environment", expecting: "Production, Sandbox, Xcode or LocalTesting") { word in
            let known: [Events.Environment] = [.production, .sandbox, .xcode, .localTesting]
            return known.first { $0.word.lowercased() == word.lowercased() }
        }
    }

    /// Whom the question is about.
    func subject(_ name: String, alone: Bool) throws -> SubjectID {
        SubjectID(try parameter(name), in: try environment(), alone: alone)
    }
}

extension Call {
    /// The body, when all of it is there.
    ///
    /// - Throws: `Problem` 413 for a body above the limit, 408 for one that comes too slowly.
    func body(upTo byteCountMax: Int, within seconds: Double) async throws -> [UInt8] {
        if let length = request.headers[.contentLength].flatMap(Int.init), length > byteCountMax {
            throw Call.tooLarge(byteCountMax)
        }
        let body = request.body
        return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                do {
                    return Array(buffer: try await body.collect(upTo: byteCountMax))
                } catch is NIOTooManyBytesError {
                    throw Call.tooLarge(byteCountMax)
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
                    "The body was not there within \(Int(seconds)) seconds."
                )
            }
            return bytes
        }
    }

    private static func tooLarge(_ byteCountMax: Int) -> Problem {
        Problem(
            .contentTooLarge,
            "body-too-large",
            "The body has more than the \(byteCountMax) bytes that this route takes."
        )
    }
}
