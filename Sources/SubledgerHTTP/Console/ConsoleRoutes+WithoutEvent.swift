internal import EventLog
internal import Events
internal import Hummingbird
internal import Subledger

extension ConsoleRoutes {
    /// The page that compares the answer about an event's customer with the answer without the
    /// event.
    func withoutEvent(_ call: Call) async throws -> HTML {
        let position = try routes.position(of: call)
        try await routes.audit(
            call,
            "without-event",
            about: try call.parameter("position")
        )
        let stored = try routes.found(try await routes.ledger.log.event(at: position), call)
        let fact = stored.event.fact
        guard fact.mayBeLeftOut else {
            throw Problem(
                query:
                    "Event \(stored.event.position.mark) cannot be left out; only a transaction, "
                    + "a renewal or a notification about a subscription can."
            )
        }
        var search = try ConsoleAddress(FormFields(call.request.uri.query ?? ""))
        search.id = fact.stream.originalTransactionId
        search.environment = fact.stream.environment.word
        search.at = search.at ?? ConsoleAddress.field(fact.effective)
        let clocks = try search.clocks(now: routes.clock())
        return try await QuestionZone.$shown.withValue(clocks.zone) {
            let answer = try await routes.ledger.explanation(
                without: stored.event.position,
                of: SubjectID(search.id, in: fact.stream.environment),
                at: clocks.instant,
                knownAt: clocks.knownAt,
                sandbox: routes.sandbox
            )
            return ConsolePage.page(
                "Without event \(stored.event.position)",
                search: search,
                note: note,
                comparison(answer, fact, search)
            )
        }
    }

    private func comparison(
        _ answer: WithoutEventAnswer,
        _ fact: Fact,
        _ search: ConsoleAddress
    ) -> HTML {
        let mark = answer.position.mark
        let page = ConsoleAddress.event(answer.position)
        func verdict(_ answer: ExplanationAnswer) -> ExplanationText.Verdict {
            ExplanationText(answer, style: .unicode, width: 0).entitled
        }
        return """
            <h1>What if event \(mark) were missing? \
            <small>at \(answer.with.explanation.at.zonedClock)</small></h1>
            <p class="quiet">\(fact.summary)</p>
            <p class="summary">\(answer.summary)</p>
            <div class="verdicts">
            \(verdict(answer.with).card("with event \(mark)"))
            \(verdict(answer.without).card("without it"))
            </div>
            <p>This page changes nothing in the ledger: it calculates the answer once from all \
            events, and once without this event and everything that repeated it. Which subscriptions belong to the \
            customer is not decided again.</p>
            <form class="search" method="get" action="\(page)/without">
            <label>At <input name="at" value="\(ConsoleAddress.shown(search.at))" autocomplete="off"/></label>
            <label>Known at <input name="known-at" value="\(ConsoleAddress.shown(search.knownAt))" \
            placeholder="now" autocomplete="off"/></label>
            <label>Time zone <input name="tz" value="\(search.tz ?? "")" placeholder="UTC" \
            autocomplete="off"/></label>
            <button class="go">Compare</button>
            </form>
            <nav class="pages" aria-label="Pages"><a href="\(page)">Event \(mark)</a>\
            <a href="\(search.text)">The customer's page at these times</a></nav>
            """
    }
}

extension Fact {
    /// Whether the answer about a customer can be calculated without it: what an erasure removed
    /// stays removed, and whose a subscription is, is not decided again.
    var mayBeLeftOut: Bool {
        switch kind {
        case .transaction, .renewal, .notification: !stream.originalTransactionId.isEmpty
        case .link, .catalog, .erasure, .erased: false
        }
    }
}
