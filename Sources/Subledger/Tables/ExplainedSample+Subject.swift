package import Events
package import Projections

extension ExplainedSample {
    /// What a sample compares: the same thing on both sides.
    package enum Subject {
        /// Whether there is access at the instant.
        case access
        /// A row, if the times with access are the same.
        case row(StreamDifference.Change)
        /// Nothing: the same rows are in another order.
        case order

        /// Access if it differs; otherwise the first row of a table that a command can show,
        /// because for a plan change the purchases that repeat it say less; otherwise the first
        /// row.
        init(_ sample: StreamDifference) {
            guard sample.access.gained.isEmpty, sample.access.lost.isEmpty else {
                self = .access
                return
            }
            let shown = sample.changes.filter { ExplainedSample.command[$0.table.name] != nil }
            // A request that never took effect has no instant; another row of its table may have
            // one.
            let dated = shown.first { $0.instant != nil }
            self = (dated ?? shown.first ?? sample.changes.first).map(Subject.row) ?? .order
        }

        /// Whether it is access.
        package var isAccess: Bool { if case .access = self { true } else { false } }

        /// The row; nil if the sample is not about one.
        package var row: StreamDifference.Change? {
            if case .row(let change) = self { change } else { nil }
        }

        /// The instant that the row is about; nil if it has none, or there is no row.
        package var instant: Instant? { row?.instant }

        /// The machine-readable word.
        package var word: String {
            switch self {
            case .access: "access"
            case .row: "row"
            case .order: "order"
            }
        }
    }

    /// The content of the old side as text; nil if it has none.
    package var oldVerdict: String? {
        switch subject {
        case .access: oldSpans.map(verdict)
        case .row(let change): change.verdict(change.words.old)
        case .order: nil
        }
    }

    /// The same for the new side: always a statement of the same kind.
    package var newVerdict: String? {
        switch subject {
        case .access:
            newSpans.map { spans in
                // Only the new side records why there is no access.
                let isDenied = !spans.contains { $0.time.contains(instant) }
                let reason = isDenied ? new?.explanation.entitled.reason : nil
                return verdict(spans) + (reason.map { ": \($0.words)" } ?? "")
            }
        case .row(let change): change.verdict(change.words.new)
        case .order: nil
        }
    }

    /// Why the new side gives no events; nil if it does.
    package var newSilence: String? { newCauses.isEmpty ? silence : nil }

    private func verdict(_ spans: [AccessSpan]) -> String {
        let active = AccessDifference(from: [], to: spans.map(\.time)).gained
        if let interval = active.first(where: { $0.contains(instant) }) {
            return "access until \(interval.upperBound.clock)"
        }
        let last = active.last { $0.upperBound <= instant }
        return last.map { "no access since \($0.upperBound.clock)" } ?? "no access yet"
    }

    /// The command that shows the matter as this program's folds compute it.
    package var nextCommand: String {
        let stream = difference.stream
        func command(_ name: String, _ rest: String = "") -> String {
            "subledger \(name) \(stream.originalTransactionId) --environment "
                + stream.environment.word + rest
        }
        switch subject {
        case .access: return command("explain", " --at \(instant)")
        case .row(let change):
            return command(ExplainedSample.command[change.table.name] ?? "history")
        case .order: return command("history")
        }
    }

    /// The commands that show the content of some projections.
    private static let command = [
        "active_periods": "periods", "plan_changes": "changes", "refunds": "refunds",
        "renewal_states": "state",
    ]

    /// What is gained and lost, as text: access, then money by table.
    package var effects: [(name: String, words: String)] {
        let access = [
            ("+", difference.access.gained, "gained"), ("−", difference.access.lost, "lost"),
        ].filter { !$0.1.isEmpty }
        var effects: [(name: String, words: String)] = []
        if !access.isEmpty {
            let words = access.map { "\($0)\(DifferenceWording.length($1.length)) \($2)" }
            effects.append(("access", words.joined(separator: ", ")))
        }
        for money in difference.money + difference.otherMoney {
            let sign = money.milliunits > 0 ? "+" : "−"
            let amount = Amount.text(money.milliunits, money.currency)
            let note = difference.money.contains(money) ? "" : DifferenceWording.notAdded
            effects.append(
                (
                    DifferenceWording.money(of: money.projection),
                    sign + amount.replacing(#/^-/#, with: "") + note
                )
            )
        }
        return effects
    }
}

extension StreamDifference.Change {
    /// The instant that it is about; nil if it has none.
    package var instant: Instant? { (old ?? new).flatMap(table.instant(of:)) }

    // A row that is new or gone is printed in full above.
    fileprivate func verdict(_ words: String?) -> String {
        guard let words else { return "\(table.name): no such row" }
        return "\(table.name): \(columns.isEmpty ? "the row above" : words)"
    }
}

extension AccessDifference {
    /// How many of the differing spans a picture does not show, or shows only in part.
    ///
    /// - Parameter axis: The time that the picture shows.
    /// - Returns: The text; nil if it shows them all.
    package func outside(_ axis: Range<Instant>) -> String? {
        let spans = gained + lost
        let outside = spans.count { !$0.overlaps(axis) }
        let cut = spans.count {
            $0.overlaps(axis)
                && ($0.lowerBound < axis.lowerBound || axis.upperBound < $0.upperBound)
        }
        if spans.count == 1, cut == 1 { return "the span that differs extends beyond the picture" }
        let parts = [
            outside > 0 ? "\(outside) are outside the picture" : nil,
            cut > 0 ? "\(cut) extend beyond the picture" : nil,
        ]
        let words = parts.compactMap { $0 }.joined(separator: ", ")
        return words.isEmpty ? nil : "of \(spans.count) spans that differ \(words)"
    }
}
