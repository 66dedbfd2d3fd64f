internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Subledger

extension ConsoleRoutes {
    /// The page of an event: its content, its payload decoded, and what proves it.
    func event(_ call: Call) async throws -> HTML {
        let position = try routes.position(of: call)
        try await routes.audit(call, "event", about: try call.parameter("position"))
        let log = routes.ledger.log
        let stored = try routes.found(try await log.event(at: position), call)
        let head = try await log.heads()[position.lane.number]?.offset ?? position.offset
        let stream = stored.event.fact.stream
        let address = ConsoleAddress(
            id: stream.originalTransactionId,
            environment: stream.environment.word,
            at: ConsoleAddress.field(stored.event.fact.effective)
        )
        let customer: [HTML] =
            stream.originalTransactionId.isEmpty
            ? []
            : [
                """
                <p><a href="\(address.text)">The customer's page when it took effect</a></p>
                """
            ]
        let without: [HTML] =
            stored.event.fact.mayBeLeftOut
            ? [
                """
                <p><a href="\(ConsoleAddress.event(stored.event.position))/without">What if this \
                event were missing</a></p>
                """
            ] : []
        return ConsolePage.page(
            "Event \(position)",
            search: ConsoleAddress(id: stream.originalTransactionId),
            note: note,
            """
            <h1>Event \(stored.event.position.mark)</h1>
            <p class="summary">\(stored.event.fact.summary)</p>
            \(customer)\(without)
            <nav class="pages" aria-label="Events">\(step(stored.event.position, -1, "Previous", upTo: head))\
            \(step(stored.event.position, 1, "Next", upTo: head))</nav>
            <div class="sides">
            <section><h2>What it states</h2>\(stored.text.properties)</section>
            <section><h2>Payload</h2>\(payload(of: stored))</section>
            </div>
            <section><h2>What proves it</h2>\(stored.proofText.properties)</section>
            """
        )
    }

    private func step(
        _ position: Position,
        _ count: Int64,
        _ word: String,
        upTo head: Int64
    ) -> HTML {
        let offset = position.offset + count
        guard (1...max(1, head)).contains(offset) else { return "" }
        let next = Position(lane: position.lane, offset: offset)
        return "<a href=\"\(ConsoleAddress.event(next))\">\(word): \(next.mark)</a> "
    }

    private func payload(of stored: StoredEvent) -> HTML {
        let evidence: Evidence
        do {
            evidence = try LedgerRoutes.evidence(of: stored)
        } catch {
            return "<p role=\"alert\">\(Problem(error).detail)</p>"
        }
        let file: HTML = """
            <p><a href="\(ConsoleAddress.event(stored.event.position))/payload">All \
            \(evidence.payload.count) bytes as they arrived</a></p>
            """
        guard let text = DecodedPayload(evidence.payload).text else {
            return "<p>It is not JSON, or too large to show here.</p>\(file)"
        }
        return "\(file)<pre tabindex=\"0\">\(text)</pre>"
    }
}
