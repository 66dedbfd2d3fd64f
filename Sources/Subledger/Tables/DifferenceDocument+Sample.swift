internal import EventLog
internal import Events
internal import Projections

extension DifferenceDocument.Sample {
    /// The document of a sample.
    init(_ sample: ExplainedSample, in tables: [ComparedTable]) {
        let difference = sample.difference
        func money(_ changes: [StreamDifference.Money]) -> [DifferenceDocument.MoneyChange] {
            changes.map {
                DifferenceDocument.MoneyChange(
                    projection: tables[$0.table].name,
                    currency: $0.currency,
                    milliunits: $0.milliunits
                )
            }
        }

        originalTransactionId = difference.stream.originalTransactionId
        environment = difference.stream.environment
        customer = sample.customer
        at = sample.instant
        access = DifferenceDocument.AccessChange(
            gainedMs: difference.access.gained.length,
            lostMs: difference.access.lost.length
        )
        self.money = money(difference.money)
        otherMoney = money(difference.otherMoney)
        old = DifferenceDocument.Side(
            active: sample.oldSpans.map(Self.active),
            rows: difference.changes.compactMap {
                DifferenceDocument.Row($0, $0.old, in: tables)
            }
        )
        new = DifferenceDocument.Side(
            active: sample.newSpans.map(Self.active),
            rows: difference.changes.compactMap {
                DifferenceDocument.Row($0, $0.new, in: tables)
            }
        )
        changesOmitted = difference.changesOmitted
        explain = DifferenceDocument.Explanations(sample, in: tables)
    }

    private static func active(_ spans: [AccessSpan]) -> [IntervalValue] {
        AccessDifference(from: [], to: spans.map(\.time)).gained.map(IntervalValue.init)
    }
}

extension DifferenceDocument.Row {
    fileprivate init?(
        _ change: StreamDifference.Change,
        _ side: ProjectionRow?,
        in tables: [ComparedTable]
    ) {
        guard let side else { return nil }
        let table = tables[change.table]
        projection = table.name
        changes = change.kinds
        columns = change.columns
        // Two columns may have the same JSON name, such as `at` and `at_ms`: the first one is used.
        values = zip(table.columns, side.values).reduce(into: [:]) { values, cell in
            let name = ColumnWording(column: cell.0).camelCase
            if values[name] == nil { values[name] = PropertyValue(cell.1) }
        }
        positions = side.positions
    }
}

extension DifferenceDocument.Explanations {
    fileprivate init(_ sample: ExplainedSample, in tables: [ComparedTable]) {
        func because(_ events: [Event]) -> [DifferenceDocument.Cause] {
            events.map { event in
                DifferenceDocument.Cause(
                    position: event.position,
                    effective: event.fact.effective,
                    recordedAt: event.recordedAt,
                    kind: event.fact.kind.rawValue,
                    what: event.fact.summary,
                    source: sample.evidence[event.position]?.source,
                    trust: sample.evidence[event.position]?.trust
                )
            }
        }

        about = sample.subject.word
        old = DifferenceDocument.RowExplanation(
            at: sample.instant,
            access: sample.oldAccess,
            row: sample.oldRow.flatMap {
                DifferenceDocument.Row($0, $0.old, in: tables)
            },
            because: because(sample.oldCauses)
        )
        new = sample.new.map(ExplanationDocument.init)
        // If the sample is about a row, `new` is about access, which is the same on both sides.
        newRow = sample.subject.row.map { change in
            DifferenceDocument.RowExplanation(
                at: nil,
                access: nil,
                row: DifferenceDocument.Row(change, change.new, in: tables),
                because: because(sample.newCauses)
            )
        }
    }
}
