internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Subledger
internal import Synchronization

extension ConsoleRoutes {
    /// The end of the log, whenever it moves, as server-sent events: each makes an open first page
    /// read its list again.
    func live(_ call: Call) async throws -> Response {
        try await routes.audit(call, "newest-events", about: "")
        let limit = routes.limits.liveStreamsMax
        guard streams.count.load(ordering: .relaxed) < limit else {
            throw Problem(
                .serviceUnavailable,
                "busy",
                "\(limit) pages wait for new events, the limit of this service. Reload this page "
                    + "later."
            )
        }
        let end = ContinuousClock.now + .seconds(routes.limits.liveSecondsMax)
        var headers: HTTPFields = [
            .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store",
            .xContentTypeOptions: "nosniff",
        ]
        // nginx would keep such short pieces back until it has more.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { writer in
                streams.count.wrappingAdd(1, ordering: .relaxed)
                defer { streams.count.wrappingSubtract(1, ordering: .relaxed) }
                var last: String?
                while ContinuousClock.now < end, !routes.isDraining {
                    let log = routes.ledger.log
                    let head = log.text(.offsets(try await log.heads().mapValues(\.offset)))
                    // A comment shows that the browser is still there.
                    try await writer.write(
                        ByteBuffer(string: head == last ? ":\n\n" : "data: \(head)\n\n")
                    )
                    last = head
                    try await Task.sleep(for: .seconds(1))
                }
                try await writer.finish(nil)
            }
        )
    }
}

/// How many pages wait for new events.
final class LiveStreams: Sendable {
    let count = Atomic<Int>(0)
}
