import CommandSupport
import Events
import Projections
import Subledger

/// A difference as text for a terminal.
struct DifferenceText {
    private let report: DifferenceReport
    private let style: TimelinePicture.Style
    private let width: Int

    init(_ report: DifferenceReport, style: TimelinePicture.Style, width: Int) {
        self.report = report
        self.style = style
        self.width = width
    }

    private var difference: ProjectionDifference { report.difference }

    /// All lines, without a line break at the end.
    var text: String {
        var lines = [title] + subject + [""]
        for effect in shownEffects { lines += self.lines(effect) }
        lines += [kinds, ""] + columns
        for sample in report.samples { lines += self.lines(sample) + [""] }
        if report.subject?.policy != nil, !report.samples.isEmpty {
            lines.append(DifferenceWording.adoptedPolicy)
        }
        if difference.streamsChanged > report.samples.count {
            lines.append("and \(difference.streamsChanged - report.samples.count) more")
        }
        let text = lines.joined(separator: "\n").replacing(#/\n+$/#, with: "")
        return style == .ascii ? DifferenceText.ascii(text) : text
    }

    private static func ascii(_ text: String) -> String {
        [("→", "->"), ("−", "-"), ("–", "-"), ("·", "-"), ("…", "...")].reduce(text) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    private var title: String {
        let verdict =
            difference.isEqual
            ? "equal"
            : "\(difference.streamsChanged) changed"
        return "\(counted(difference.streamsCompared, "stream")) compared, \(verdict)"
    }

    private var subject: [String] {
        guard let subject = report.subject else { return [] }
        var lines = ["  \(subject.title)"]
        if let policy = subject.policy { lines.append("  policy     \(policy)") }
        if let schema = subject.keptIn { lines.append("  kept in    schema \(schema)") }
        lines += subject.positions.map { "  up to      \($0)" }
        if subject.changesCatalog {
            lines.append("  catalog  \(subject.catalogWords(difference.tables))")
        }
        return lines
    }

    // Production is shown even if nothing differs in it.
    private var shownEffects: [EnvironmentEffect] {
        [difference.production] + difference.effects.filter { $0.environment != .production }
    }

    private func lines(_ effect: EnvironmentEffect) -> [String] {
        let place = effect.environment == .production ? "" : "\(effect.environment): "
        var effects: [(name: String, words: String)] = []
        if difference.comparesAccess {
            effects.append(
                (
                    "access",
                    "+\(DifferenceWording.hours(effect.access.gained)) gained, "
                        + "−\(DifferenceWording.hours(effect.access.lost)) lost"
                )
            )
        }
        effects += effect.money.map { self.money($0, "") }
        effects += effect.otherMoney.map { self.money($0, DifferenceWording.notAdded) }
        return DifferenceText.aligned(effects).map { "  \(place)\($0)" }
    }

    private func money(_ total: MoneyTotals, _ note: String) -> (name: String, words: String) {
        (
            DifferenceWording.money(of: total.projection),
            "+\(Amount.text(total.gained, total.currency)) gained, "
                + "−\(Amount.text(total.lost, total.currency)) lost\(note)"
        )
    }

    private static func aligned(_ effects: [(name: String, words: String)]) -> [String] {
        let width = effects.map(\.name.count).max() ?? 0
        return effects.map { $0.name.padded(to: width) + "  " + $0.words }
    }

    private var kinds: String {
        var table = TextTable(["projection", "version", "change", "rows", "streams"])
        for (compared, totals) in zip(difference.tables, difference.totals) {
            var name = compared.name
            if let rows = report.newTables[name] {
                table.add([name, "\(compared.newVersion)", "new", "\(rows)", ""])
                continue
            }
            guard report.isCompared(compared) else {
                table.add([name, "\(compared.newVersion)", DifferenceWording.uncompared, "", ""])
                continue
            }
            var versions = DifferenceWording.versions(compared)
            for (kind, count) in totals.changes {
                table.add([name, versions, kind, "\(count.rows)", "\(count.streams)"])
                (name, versions) = ("", "")
            }
            if totals.changes.isEmpty { table.add([name, versions, "equal", "", ""]) }
        }
        return table.text
    }

    private var columns: [String] {
        difference.tables.filter(report.showsColumns).flatMap { table in
            table.columnsAdded.map { "\(table.name): column \($0) is new" }
                + table.columnsRemoved.map { "\(table.name): column \($0) was removed" }
        }
    }

    private func lines(_ sample: ExplainedSample) -> [String] {
        let stream = sample.difference.stream
        let who = sample.customer.map { " · \($0)" } ?? ""
        var lines = [
            "\(stream.originalTransactionId) · \(stream.environment)\(who) · "
                + "\(sample.instant.clock) UTC"
        ]
        lines += DifferenceText.aligned(sample.effects).map { "  \($0)" }
        for change in sample.difference.changes.prefix(DifferenceText.changesMax) {
            lines += self.lines(change)
        }
        lines += left(sample.difference)
        if sample.difference.isOnlyReordered { lines.append("  the same rows in another order") }
        if let old = sample.oldSpans, let new = sample.newSpans {
            lines += SpanPicture(old: old, new: new, style: style, width: width)
                .lines(sample.difference.access, around: sample.instant)
        }
        return lines + because(sample)
    }

    // JSON has only the rows of a subscription that were kept.
    private func left(_ sample: StreamDifference) -> [String] {
        let left = sample.rowsChanged - DifferenceText.changesMax
        guard left > 0 else { return [] }
        let has =
            sample.changesOmitted == 0
            ? "them" : "the first \(sample.changes.count) of \(sample.rowsChanged)"
        return ["  … \(left) more rows; --json has \(has)"]
    }

    /// The most rows of a sample that are printed: two samples then fit on a screen.
    static let changesMax = 8

    private func lines(_ change: StreamDifference.Change) -> [String] {
        let words = change.words
        return ["  \(change.table.name) \(change.kinds.joined(separator: ", "))"]
            + [words.old.map { "    − \($0)" }, words.new.map { "    + \($0)" }]
            .compactMap { $0 }
    }

    private func because(_ sample: ExplainedSample) -> [String] {
        var lines: [String] = []
        let verdicts = (old: sample.oldVerdict, new: sample.newVerdict)
        if verdicts.old != nil || verdicts.new != nil || sample.newSilence != nil {
            lines.append("  old     " + (verdicts.old ?? "not decided"))
            lines += sample.oldCauses.map(line)
            lines.append("  new     " + (verdicts.new ?? sample.newSilence ?? "not decided"))
            lines += newCauses(sample)
        }
        return lines + ["  next    " + sample.nextCommand]
    }

    private func line(_ event: Event) -> String {
        "          \(event.position.mark) \(event.fact.summary)"
    }

    private func newCauses(_ sample: ExplainedSample) -> [String] {
        guard sample.subject.isAccess else { return sample.newCauses.map(line) }
        guard let new = sample.new else {
            guard sample.newVerdict != nil, let silence = sample.newSilence else { return [] }
            return ["          \(silence)"]
        }
        return new.explanation.because.map { event in
            let type = [event.notificationType, event.subtype].compactMap { $0 }
                .joined(separator: "/")
            return "          \(event.position.mark) \(event.role.rawValue) "
                + "\(event.occurredAt.clock) \(type)"
        }
    }
}

/// Two lines of text over one axis: the access of both sides.
private struct SpanPicture {
    let old: [AccessSpan]
    let new: [AccessSpan]
    let style: TimelinePicture.Style
    let width: Int

    private static let nameColumns = 10

    func lines(_ access: AccessDifference, around instant: Instant) -> [String] {
        guard !(old + new).isEmpty else { return [] }
        let axis = TimelineAxis(
            showing: (old + new).map(\.time),
            asked: instant,
            columns: max(width, TimelinePicture.widthMin) - SpanPicture.nameColumns
        )
        var labels = [Character](repeating: " ", count: axis.columns)
        for tick in axis.ticks where tick.column + tick.label.count < axis.columns {
            for (offset, character) in tick.label.enumerated() {
                labels[tick.column + offset] = character
            }
        }
        return [
            line("", labels), line("old", cells(old, axis)), line("new", cells(new, axis)),
        ] + (access.outside(axis.start..<axis.end).map { ["  \($0)"] } ?? [])
    }

    private func cells(_ spans: [AccessSpan], _ axis: TimelineAxis) -> [Character] {
        let (full, grace, none): (Character, Character, Character) =
            style == .unicode ? ("█", "░", "·") : ("#", "~", ".")
        var cells = [Character](repeating: none, count: axis.columns)
        for isGrace in [true, false] {
            for span in spans where span.isGrace == isGrace {
                let from = axis.column(of: span.time.lowerBound)
                let to = axis.column(of: span.time.upperBound)
                for column in from..<max(to, min(from + 1, axis.columns)) {
                    cells[column] = isGrace ? grace : full
                }
            }
        }
        return cells
    }

    private func line(_ name: String, _ cells: [Character]) -> String {
        let text = "  " + name.padded(to: SpanPicture.nameColumns - 2) + String(cells)
        return String(text.reversed().drop { $0 == " " }.reversed())
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
