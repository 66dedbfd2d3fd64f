internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Subledger

extension ConsoleRoutes {
    /// How many of the newest events the first page lists.
    private static let eventsShown: Int64 = 15
    /// How often it looks for the first event, or for further ones.
    private static let refreshSeconds = 5

    /// The first page: the newest events; for an empty ledger, what to do next.
    func home(_ call: Call) async throws -> HTML {
        let fields = try FormFields(call.request.uri.query ?? "")
        try await routes.audit(call, "newest-events", about: "")
        let heads = try await routes.ledger.log.heads()
        guard !heads.isEmpty else {
            return page("Empty ledger", Self.refreshSeconds, Self.firstSteps)
        }
        let isWatching = fields["watch"] == "on"
        let events = try await newestEvents(heads)
        let rows = events.map { row(of: $0) }
        let watch: HTML =
            isWatching
            ? """
            This page is loaded again every \(Self.refreshSeconds) seconds. \
            <a href="\(ConsoleAddress.home)">Stop</a>
            """
            : """
            A browser that runs scripts shows new events at once; \
            <a href="\(ConsoleAddress.home)?watch=on">load this page again every \
            \(Self.refreshSeconds) seconds</a> in any other.
            """
        let last = routes.ledger.log.text(.offsets(heads.mapValues(\.offset)))
        let live: HTML =
            isWatching
            ? "" : " data-live=\"\(ConsoleAddress.live)\" data-end=\"\(last)\""
        let content: HTML = """
            <div id="content"\(live)>
            <h1>What the ledger learned last</h1>
            <p>Enter an id above to see what access a customer has and had, and what the ledger answered. The log ends at \
            position \(last). \(watch)</p>
            <div class="scroll" tabindex="0"><table class="report events"><thead><tr>
            <th scope="col">position</th><th scope="col">recorded</th><th scope="col">late by</th>\
            <th scope="col">subscription</th><th scope="col">what</th></tr></thead>
            <tbody>\(HTML.joined(rows))</tbody></table></div>
            <p class="quiet">A subscription leads to what was true when the event took effect, and \
            what the ledger answered then. Times are UTC.</p>
            </div>
            """
        return page("Console", isWatching ? Self.refreshSeconds : nil, content)
    }

    private func page(_ title: String, _ refreshSeconds: Int?, _ content: HTML) -> HTML {
        ConsolePage.page(
            title,
            search: ConsoleAddress(id: ""),
            note: note,
            refreshSeconds: refreshSeconds,
            content
        )
    }

    private func newestEvents(_ heads: [Int: EventLog.Head]) async throws -> [Event] {
        var events: [Event] = []
        for lane in try await newestLanes(heads) {
            let last = heads[lane]?.offset ?? 0
            for offset in stride(from: last, to: max(0, last - Self.eventsShown), by: -1) {
                let position = Position(lane: Lane(lane), offset: offset)
                if let stored = try await routes.ledger.log.event(at: position) {
                    events.append(stored.event)
                }
            }
        }
        return Array(
            events.sorted { $0.recordedAt > $1.recordedAt }.prefix(Int(Self.eventsShown))
        )
    }

    // As many lanes as events are shown, those with the newest commits.
    private func newestLanes(_ heads: [Int: EventLog.Head]) async throws -> [Int] {
        guard heads.count > Self.eventsShown else { return Array(heads.keys) }
        var times: [(lane: Int, time: Instant)] = []
        for lane in heads.keys {
            let newest = try await routes.ledger.log.newestCommit(lane: lane, knownAt: .latest)
            if let newest { times.append((lane, newest.commit.committedAt)) }
        }
        return times.sorted { $0.time > $1.time }.prefix(Int(Self.eventsShown)).map(\.lane)
    }

    private func row(of event: Event) -> HTML {
        let fact = event.fact
        let address = ConsoleAddress(
            id: fact.stream.originalTransactionId,
            environment: fact.stream.environment.word,
            at: ConsoleAddress.field(fact.effective)
        )
        let late = fact.statedAsOf.map {
            (event.recordedAt.milliseconds - $0.milliseconds) / 1000
        }
        let id = fact.stream.originalTransactionId
        let subscription: HTML =
            id.isEmpty ? "–" : "<a href=\"\(address.text)\">\(id)</a>"
        return """
            <tr><td><a href="\(ConsoleAddress.event(event.position))">\(event.position.mark)</a>\
            </td><td>\(event.recordedAt.clock)</td>\
            <td class="\((late ?? 0) >= 3600 ? "lost-text" : "")">\
            \(late.map { $0 < 0 ? "–" : Duration.words($0) } ?? "–")</td>\
            <td>\(subscription)</td><td>\(fact.summary)</td></tr>
            """
    }

    private static var firstSteps: HTML {
        """
        <h1>This ledger is empty</h1>
        <p>This page looks for the first event every \(refreshSeconds) seconds.</p>
        <ol class="steps">
        <li><h2>Receive what Apple sends</h2><p>In App Store Connect, enter the address of this \
        service as the URL of server notifications (version 2), and send a test: \
        <code>https://YOUR-HOST/v1/appstore/notifications</code>. This program listens on this \
        machine only, so let a proxy or a tunnel lead there; \
        <code>subledger serve --print-proxy nginx</code> prints an example.</p></li>
        <li><h2>Bring what you have</h2><p>In another terminal, in the same folder: \
        <code>subledger ingest FILE…</code> takes notifications, transactions and receipts that \
        you kept; <code>subledger import</code> asks Apple for subscriptions by their ids.</p></li>
        <li><h2>Or look around first</h2><p><code>subledger up --demo</code> fills a separate \
        ledger from a simulated App Store.</p></li>
        </ol>
        """
    }
}
