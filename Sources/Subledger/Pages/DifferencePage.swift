internal import EventLog
internal import Events
internal import Projections
internal import Projector

/// A difference as a page: one self-contained HTML file to read, to print, to file; or the content
/// of a page of the console.
package struct DifferencePage {
    private let report: DifferenceReport

    /// The page of a report.
    package init(_ report: DifferenceReport) {
        self.report = report
    }

    private var difference: ProjectionDifference { report.difference }

    /// The file's text.
    package var text: String { page.text + "\n" }

    private var page: HTML {
        PageStyle.file(
            "Subledger: difference of two builds",
            """
            \(PageStyle.patterns)
            <main>
            \(content)
            </main>
            """
        )
    }

    /// What is between the frame of a page.
    package var content: HTML {
        """
        <h1>Difference of two builds</h1>
        <p class="verdict">\(verdict)</p>
        \(subject)
        \(cards)
        <h2>What changed</h2>
        \(kinds)
        \(columns)
        \(money)
        \(samples)
        """
    }

    private var verdict: String {
        difference.isEqual
            ? "No differences."
            : "The live tables are “old”, the compared ones “new”. Instants are UTC."
    }

    private var subject: [HTML] {
        guard let subject = report.subject else { return [] }
        let tables = difference.tables
        var facts: [(name: String, values: [String])] = [("comparison", [subject.title])]
        if let policy = subject.policy { facts.append(("policy", [policy])) }
        if let schema = subject.keptIn { facts.append(("kept in", ["schema \(schema)"])) }
        facts.append(("up to", subject.positions))
        facts.append(("fold version", [ComparedBuilds.folds(tables)]))
        facts.append(("catalog", [subject.catalogWords(tables)]))
        facts.append(("ledger", [subject.ledger]))
        facts.append(("made", ["\(subject.madeAt.clock) UTC"]))
        let items = facts.map { fact -> HTML in
            let values = fact.values.map { value -> HTML in "<dd>\(value)</dd>" }
            return "<dt>\(fact.name)</dt>\(values)"
        }
        return ["<dl class=\"subject\">\(HTML.joined(items))</dl>"]
    }

    private var cards: HTML {
        let access = difference.production.access
        var cards = [
            card("streams compared", [("", "", "\(difference.streamsCompared)")]),
            card("of them changed", [("", "", "\(difference.streamsChanged)")]),
        ]
        if difference.comparesAccess {
            let values = [("gained", "+", access.gained), ("lost", "−", access.lost)]
            cards.append(
                card(
                    "access in production",
                    values.map { ($0, kind($2, $0), $1 + DifferenceWording.hours($2)) }
                )
            )
        }
        return "<div class=\"cards\">\(cards)</div>"
    }

    private var money: HTML {
        let effects = difference.effects.filter {
            !$0.money.isEmpty || $0.environment != .production
        }
        guard !effects.isEmpty else { return "" }
        let rows = effects.flatMap { effect -> [HTML] in
            let name = effect.environment.word
            let access = row(
                name,
                "access",
                effect.access.gained,
                effect.access.lost,
                DifferenceWording.hours
            )
            let amounts =
                effect.money.map { row(name, $0, "") }
                + effect.otherMoney.map { row(name, $0, DifferenceWording.notAdded) }
            return effect.environment == .production ? amounts : [access] + amounts
        }
        let isReal = effects.allSatisfy { $0.environment == .production }
        return """
            <h2>\(isReal ? "Money" : "Money, and other environments")</h2>
            <div class="scroll" tabindex="0"><table class="money"><thead><tr><th>environment</th><th>of</th>\
            <th class="number">gained</th><th class="number">lost</th></tr></thead>\
            <tbody>\(HTML.joined(rows))</tbody></table></div>
            """
    }

    private func row(_ environment: String, _ total: MoneyTotals, _ note: String) -> HTML {
        let money = DifferenceWording.money(of: total.projection)
        let currency = total.currency ?? "no currency"
        return row(environment, "\(money), \(currency)\(note)", total.gained, total.lost) {
            Amount.text($0, nil)
        }
    }

    private func row(
        _ environment: String,
        _ name: String,
        _ gained: Int64,
        _ lost: Int64,
        _ text: (Int64) -> String
    ) -> HTML {
        """
        <tr><td>\(environment)</td><td>\(name)</td>\
        <td class="number \(kind(gained, "gained"))">+\(text(gained))</td>\
        <td class="number \(kind(lost, "lost"))">−\(text(lost))</td></tr>
        """
    }

    // Zero is not coloured.
    private func kind(_ amount: Int64, _ mark: String) -> String {
        amount == 0 ? "quiet" : mark + "-text"
    }

    private func card(
        _ name: String,
        _ values: [(word: String, kind: String, text: String)]
    ) -> HTML {
        let lines = values.map { value -> HTML in
            "<div><b class=\"\(value.kind)\">\(value.text)</b> \(value.word)</div>"
        }
        return "<section class=\"card\"><h3>\(name)</h3>\(lines)</section>"
    }

    private var kinds: HTML {
        let rows = zip(difference.tables, difference.totals).flatMap { table, totals -> [HTML] in
            if let rows = report.newTables[table.name] { return [newRow(table, "new", rows: rows)] }
            guard report.isCompared(table) else {
                return [newRow(table, DifferenceWording.uncompared, rows: nil)]
            }
            let changes = totals.changes
            let head: HTML = """
                <th scope="row" rowspan="\(max(1, changes.count))">\(table.name)</th>\
                <td rowspan="\(max(1, changes.count))">\(DifferenceWording.versions(table))</td>
                """
            guard !changes.isEmpty else {
                return [
                    "<tr class=\"first\">\(head)<td colspan=\"3\" class=\"quiet\">equal</td></tr>"
                ]
            }
            return changes.enumerated().map { index, change in
                """
                <tr class="\(index == 0 ? "first" : "")">\(index == 0 ? head : "")\
                <td>\(change.kind)</td><td class="number">\(change.count.rows)</td>\
                <td class="number">\(change.count.streams)</td></tr>
                """
            }
        }
        return """
            <div class="scroll" tabindex="0"><table class="kinds"><thead><tr><th>projection</th><th>version</th><th>change</th>\
            <th class="number">rows</th><th class="number">subscriptions</th></tr></thead>
            <tbody>\(HTML.joined(rows))</tbody></table></div>
            """
    }

    private func newRow(_ table: ComparedTable, _ word: String, rows: Int?) -> HTML {
        """
        <tr class="first"><th scope="row">\(table.name)</th><td>\(table.newVersion)</td>\
        <td>\(word)</td><td class="number">\(rows.map(String.init) ?? "")</td><td></td></tr>
        """
    }

    private var columns: [HTML] {
        difference.tables.filter {
            !$0.hasSameColumns && report.showsColumns($0)
        }.map { table in
            let parts = [("new", table.columnsAdded), ("gone", table.columnsRemoved)]
            let words = parts.filter { !$0.1.isEmpty }
                .map { "\($0.0): \($0.1.joined(separator: ", "))" }.joined(separator: "; ")
            return "<p class=\"columns\">Columns of <b>\(table.name)</b>: \(words)</p>"
        } + report.alterations.map { "<p class=\"columns\">\($0.message)</p>" }
    }

    private var samples: HTML {
        guard !report.samples.isEmpty else { return "" }
        let shown = report.samples.map { SampleSection(sample: $0).html }
        let rest = difference.streamsChanged - report.samples.count
        let more: HTML = rest > 0 ? "<p class=\"quiet\">and \(rest) more subscriptions</p>" : ""
        let policy: HTML =
            report.subject?.policy == nil
            ? "" : "<p class=\"quiet\">\(DifferenceWording.adoptedPolicy)</p>"
        return """
            <h2>Most affected subscriptions</h2>
            <p class="legend"><span class="key full"></span> access \
            <span class="key grace"></span> grace \
            <span class="key gained"></span> + gained \
            <span class="key lost"></span> − lost \
            <span class="key asked"></span> the instant explained</p>
            \(HTML.joined(shown))
            \(policy)
            \(more)
            """
    }
}

/// One sample on the page: its customer, the picture, the rows, and the reasons of each side.
private struct SampleSection {
    let sample: ExplainedSample

    var html: HTML {
        let picture = DifferencePicture(sample)
        let effects = sample.effects.map { effect -> HTML in
            "<li>\(effect.name) \(effect.words)</li>"
        }
        let drawn = picture.map { picture -> HTML in
            "<div class=\"scroll picture\" tabindex=\"0\">\(picture.svg)</div>"
        }
        let outside = picture?.outside.map { words -> HTML in
            "<p class=\"quiet\">\(words)</p>"
        }
        return """
            <article>
            <h3>\(sample.difference.stream.originalTransactionId) \
            <small>\(subtitle)</small></h3>
            <ul class="effects">\(effects)</ul>
            \(drawn.map { [$0] } ?? [])
            \(outside.map { [$0] } ?? [])
            \(changes)
            \(sides)
            <p class="next">next <code>\(sample.nextCommand)</code></p>
            </article>
            """
    }

    private var subtitle: String {
        let environment = sample.difference.stream.environment.word
        return ([environment] + [sample.customer.map { "customer \($0)" }].compactMap { $0 })
            .joined(separator: " · ")
    }

    private var sides: [HTML] {
        if case .order = sample.subject { return [] }
        let oldSide = side("Old", sample.oldVerdict, sample.oldCauses.map(item))
        return ["<div class=\"sides\">\(oldSide)\(newSide)</div>"]
    }

    private var changes: HTML {
        if sample.difference.isOnlyReordered {
            return "<p class=\"quiet\">The same rows in another order.</p>"
        }
        let rows = sample.difference.changes.map { change -> HTML in
            let words = change.words
            return """
                <tr><th scope="row">\(change.table.name)<br/>\
                <small>\(change.instant?.clock ?? "")<br/>\
                \(change.kinds.joined(separator: ", "))</small></th>\
                <td>\(words.old ?? "–")</td><td>\(words.new ?? "–")</td></tr>
                """
        }
        let omitted = sample.difference.changesOmitted
        let more: HTML = omitted > 0 ? "<p class=\"quiet\">and \(omitted) more rows</p>" : ""
        return """
            <div class="scroll" tabindex="0"><table class="rows"><thead><tr><th>row</th><th>old</th><th>new</th></tr></thead>
            <tbody>\(HTML.joined(rows))</tbody></table></div>\(more)
            """
    }

    private var newSide: HTML {
        let verdict = sample.newVerdict
        if !sample.subject.isAccess, sample.newSilence == nil || sample.new != nil {
            return side("New", verdict, sample.newCauses.map(item))
        }
        guard let answer = sample.new else {
            return side("New", verdict, ["<li>\(sample.newSilence ?? "not decided")</li>"])
        }
        let events = answer.explanation.because.map { event -> HTML in
            let type = [event.notificationType, event.subtype].compactMap { $0 }
                .joined(separator: "/")
            let source = answer.evidence[event.position]?.source ?? "?"
            return item(
                event.position,
                event.occurredAt,
                "\(event.role.rawValue) \(event.productId) \(type)",
                "recorded \(event.recordedAt.clock), \(source)"
            )
        }
        return side("New", verdict, events)
    }

    private func item(_ event: Event) -> HTML {
        let source = sample.evidence[event.position]?.source ?? "?"
        return item(
            event.position,
            event.fact.effective,
            event.fact.summary,
            "recorded \(event.recordedAt.clock), \(source)"
        )
    }

    private func item(
        _ position: Position,
        _ effective: Instant,
        _ what: String,
        _ recorded: String
    ) -> HTML {
        """
        <li><code>\(position.mark)</code> \(effective.clock) \
        \(what)<br/><small>\(recorded)</small></li>
        """
    }

    private func side(_ name: String, _ verdict: String?, _ events: [HTML]) -> HTML {
        let list: HTML =
            events.isEmpty
            ? "<p class=\"quiet\">no changed row applies to this instant</p>"
            : "<ol class=\"events\">\(events)</ol>"
        return """
            <section><h4>\(name), \
            \(sample.instant.clock)</h4>\
            <p>\(verdict ?? "not decided by the compared tables")</p>\(list)</section>
            """
    }
}
