internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Subledger

extension LedgerRoutes {
    /// `GET /v1/events`, `…/{position}`, `…/proof`, `…/payload`, and `GET /v1/checkpoint`.
    func addEvents(to router: some RouterMethods<some RequestContext>) {
        on(.get, "/v1/events", of: router, for: .support) { call in
            try call.check([.consumer, .after])
            try await audit(call, "events", about: "")
            return try await nextEvents(call)
        }
        on(.get, "/v1/events/:position", of: router, for: .support) { call in
            try call.check([])
            let position = try position(of: call)
            try await audit(call, "event", about: try call.parameter("position"))
            return try Response.json(try found(try await ledger.event(at: position), call))
        }
        on(.get, "/v1/events/:position/proof", of: router, for: .support) { call in
            try call.check([])
            let position = try position(of: call)
            return try Response.json(try found(try await ledger.proof(ofEventAt: position), call))
        }
        on(.get, "/v1/events/:position/payload", of: router, for: .support) { call in
            try call.check([])
            let position = try position(of: call)
            try await audit(call, "payload", about: try call.parameter("position"))
            let event = try found(try await ledger.log.event(at: position), call)
            let evidence = try LedgerRoutes.evidence(of: event)
            return LedgerRoutes.download(evidence)
        }

        on(.get, "/v1/checkpoint", of: router, for: .support, or: .operator) { call in
            try call.check([])
            let checkpoint = try await ledger.log.checkpoint()
            return try Response.json(
                CheckpointDocument(SignedCheckpoint(checkpoint, signedBy: nil))
            )
        }
    }

    // A page of the feed after the cursor, or where the consumer is.
    private func nextEvents(_ call: Call) async throws -> Response {
        var cursor: FeedCursor?
        if let text = try call.query(.after) {
            guard let found = FeedCursor(text) else {
                throw Problem(query: "after is not a cursor; expected `cursor` of an answer.")
            }
            cursor = found
        }
        // A cursor of another log is refused before it moves the place.
        var feed = try await ledger.log.feed(after: cursor ?? .beginning)
        if let name = try call.query(.consumer) {
            guard Consumer.isName(name) else {
                throw Problem(
                    query: "consumer must not be blank, contain control characters, or be longer "
                        + "than \(Consumer.nameBytesMax) bytes."
                )
            }
            let consumer = Consumer(name, of: .events)
            let place = try await ledger.log.place(of: consumer, acknowledging: cursor)
            if place != cursor { feed = try await ledger.log.feed(after: place) }
        }
        var bytes = Array("{\"events\":[".utf8)
        // Confirmations move no cursor: a page of these alone would come again and again, before
        // the events of other lanes.
        while let page = try await feed.nextPage() {
            var writer = FeedLine(page)
            for line in page.lines() {
                writer.append(line, to: &bytes)
                bytes[bytes.count - 1] = UInt8(ascii: ",")
            }
            if !page.events.isEmpty { break }
        }
        if bytes.last == UInt8(ascii: ",") { bytes.removeLast() }
        bytes += Array("],\"cursor\":\"\(feed.cursor)\"}".utf8)
        return Response(
            status: .ok,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }

    /// The payload, byte for byte, as a file.
    static func download(_ evidence: Evidence) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "application/octet-stream", .cacheControl: "no-store",
                .contentDisposition: "attachment", .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: evidence.payload))
        )
    }

    /// The payload of an event.
    ///
    /// - Throws: `Problem` if it is not there.
    static func evidence(of event: StoredEvent) throws -> Evidence {
        switch event.evidence {
        case .whole(let evidence): return evidence
        case .erased:
            throw Problem(.gone, "payload-erased", "The payload of this event was erased.")
        case .verifiedAtEntry:
            throw Problem(
                .gone,
                "payload-not-kept",
                "The payload of this event was verified on arrival but not kept, because its "
                    + "subscription had been erased."
            )
        case .missing, .damaged:
            throw Problem(
                .internalServerError,
                "payload-damaged",
                "The payload of this event is missing or was changed. Run `subledger verify`."
            )
        }
    }

    /// The position in the path.
    func position(of call: Call) throws -> Position {
        let text = try call.parameter("position")
        guard case .offsets(let offsets)? = KnownAt(text), offsets.count == 1,
            let only = offsets.first
        else {
            throw Problem(
                .badRequest,
                "position",
                "\"\(text.prefix(64))\" is not a position; expected an offset, or lane:offset."
            )
        }
        return Position(lane: Lane(only.key), offset: only.value)
    }

    /// What was found at the position in the path.
    func found<Value>(_ value: Value?, _ call: Call) throws -> Value {
        guard let value else {
            throw Problem(
                .notFound,
                "unknown-position",
                "The log has no event at position \(try call.parameter("position"))."
            )
        }
        return value
    }
}
