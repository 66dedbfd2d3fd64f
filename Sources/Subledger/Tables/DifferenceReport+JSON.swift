internal import EventLog
internal import Events
internal import Projections
internal import Projector

/// How new tables differ from the live ones, for which customers, and because of which events.
extension DifferenceReport: Encodable {
    private enum Member: CodingKey {
        case comparison, equal, streamsCompared, streamsChanged, access, money, otherMoney
        case environments, projections, refusals, alterations, samples, promotion
    }

    package func encode(to encoder: any Encoder) throws {
        let production = difference.production
        var members = encoder.container(keyedBy: Member.self)
        try members.encodeIfPresent(subject, forKey: .comparison)
        try members.encode(difference.isEqual, forKey: .equal)
        try members.encode(difference.streamsCompared, forKey: .streamsCompared)
        try members.encode(difference.streamsChanged, forKey: .streamsChanged)
        try members.encode(production.access, forKey: .access)
        try members.encode(production.money, forKey: .money)
        try members.encode(production.otherMoney, forKey: .otherMoney)
        try members.encode(difference.effects, forKey: .environments)
        let tables = zip(difference.tables, difference.totals).map {
            Table(table: $0, totals: $1, report: self)
        }
        try members.encode(tables, forKey: .projections)
        try members.encode(refusals, forKey: .refusals)
        try members.encode(alterations, forKey: .alterations)
        try members.encode(samples, forKey: .samples)
        try members.encodeIfPresent(promotion, forKey: .promotion)
    }

    /// What differs in one table.
    private struct Table: Encodable {
        let table: ComparedTable
        let totals: TableTotals
        let report: DifferenceReport

        private enum Member: CodingKey {
            case name, oldVersion, newVersion, oldCatalogVersion, newCatalogVersion, isNew, rows
            case rowsChanged, streamsChanged, changes, columns, columnsAdded, columnsRemoved
        }

        func encode(to encoder: any Encoder) throws {
            let catalogs = report.subject?.catalogs[table.name]
            let changes = totals.changes.map { ($0.kind, $0.count) }
            let columns = totals.changedColumns.map { ($0.column, $0.rows) }
            let added = report.isCompared(table) ? table.columnsAdded : []
            var members = encoder.container(keyedBy: Member.self)
            try members.encode(table.name, forKey: .name)
            try members.encodeIfPresent(table.oldVersion, forKey: .oldVersion)
            try members.encode(table.newVersion, forKey: .newVersion)
            // 0 for no catalog.
            try members.encodeIfPresent(catalogs?.old, forKey: .oldCatalogVersion)
            try members.encodeIfPresent(catalogs?.new, forKey: .newCatalogVersion)
            // The rows of a new table are compared with nothing.
            try members.encode(report.newTables[table.name] != nil, forKey: .isNew)
            try members.encodeIfPresent(report.rows[table.name], forKey: .rows)
            try members.encode(totals.rowsChanged, forKey: .rowsChanged)
            try members.encode(totals.streamsChanged, forKey: .streamsChanged)
            try members.encode(Dictionary(uniqueKeysWithValues: changes), forKey: .changes)
            try members.encode(Dictionary(uniqueKeysWithValues: columns), forKey: .columns)
            try members.encode(added, forKey: .columnsAdded)
            try members.encode(table.columnsRemoved, forKey: .columnsRemoved)
        }
    }
}

extension ExplainedSample: Encodable {
    private enum Member: CodingKey {
        case originalTransactionId, environment, customer, at, access, money, otherMoney
        case old, new, changesOmitted, explain
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(
            difference.stream.originalTransactionId,
            forKey: .originalTransactionId
        )
        try members.encode(difference.stream.environment, forKey: .environment)
        try members.encodeIfPresent(customer, forKey: .customer)
        try members.encode(instant, forKey: .at)
        let access = ["gainedMs": difference.access.gained, "lostMs": difference.access.lost]
        try members.encode(access.mapValues(\.length), forKey: .access)
        try members.encode(difference.money, forKey: .money)
        try members.encode(difference.otherMoney, forKey: .otherMoney)
        let changes = difference.changes
        try members.encode(Side(oldSpans, changes.map { Row($0, $0.old) }), forKey: .old)
        try members.encode(Side(newSpans, changes.map { Row($0, $0.new) }), forKey: .new)
        try members.encode(difference.changesOmitted, forKey: .changesOmitted)
        try members.encode(Explanations(self), forKey: .explain)
    }

    /// The content of one side.
    private struct Side: Encodable {
        /// The times with access; nil if no compared table contains them.
        let active: [Range<Instant>]?
        let rows: [Row]

        init(_ spans: [AccessSpan]?, _ rows: [Row?]) {
            active = spans.map { spans in
                AccessDifference(from: [], to: spans.map(\.time)).gained
            }
            self.rows = rows.compactMap { $0 }
        }
    }

    /// A row that differs.
    private struct Row: Encodable {
        let projection: String
        let changes: [String]
        let columns: [String]
        /// Its values by column, in camel case; null values are omitted.
        let values: [String: PropertyValue]
        let positions: [Position]

        init?(_ change: StreamDifference.Change, _ side: ProjectionRow?) {
            guard let side else { return nil }
            projection = change.table.name
            changes = change.kinds
            columns = change.columns
            // Two columns may have the same JSON name, such as `at` and `at_ms`: the first one is
            // used.
            values = zip(change.table.columns, side.values).reduce(into: [:]) { values, cell in
                let name = ColumnWording(column: cell.0).camelCase
                if values[name] == nil { values[name] = PropertyValue(cell.1) }
            }
            positions = side.positions
        }
    }

    /// Why each side has its content.
    private struct Explanations: Encodable {
        let about: String
        let old: RowExplanation
        /// The answer of this program's folds; nil if they have none.
        let new: ExplanationDocument?
        /// The row of the new table, if the sample is about a row: `new` is then about access, which
        /// is the same on both sides.
        let newRow: RowExplanation?

        init(_ sample: ExplainedSample) {
            func because(_ events: [Event]) -> [Cause] {
                events.map { Cause($0, sample.evidence[$0.position]) }
            }

            about = sample.subject.word
            old = RowExplanation(
                at: sample.instant,
                access: sample.oldAccess,
                row: sample.oldRow.flatMap { Row($0, $0.old) },
                because: because(sample.oldCauses)
            )
            new = sample.new.map(ExplanationDocument.init)
            newRow = sample.subject.row.map { change in
                RowExplanation(
                    at: nil,
                    access: nil,
                    row: Row(change, change.new),
                    because: because(sample.newCauses)
                )
            }
        }
    }

    /// A row, and the events that caused it.
    private struct RowExplanation: Encodable {
        /// The instant, if access is explained.
        let at: Instant?
        /// Whether there is access at the instant; nil if nothing decides it.
        let access: Bool?
        let row: Row?
        let because: [Cause]
    }

    /// An event that caused a row.
    private struct Cause: Encodable {
        let position: Position
        let effective: Instant
        let recordedAt: Instant
        let kind: String
        let what: String
        let source: String?
        let trust: String?

        init(_ event: Event, _ evidence: EvidenceSummary?) {
            position = event.position
            effective = event.fact.effective
            recordedAt = event.recordedAt
            kind = event.fact.kind.rawValue
            what = event.fact.summary
            source = evidence?.source
            trust = evidence?.trust
        }
    }
}
