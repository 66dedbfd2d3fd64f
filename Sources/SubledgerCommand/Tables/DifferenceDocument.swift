import EventLog
import Events
import Projections
import Projector
import Subledger

/// The JSON of `tables diff`.
struct DifferenceDocument: Encodable {
    /// What the comparison was of; left out where only tables were compared.
    let comparison: JSONTree?
    let equal: Bool
    let streamsCompared: Int
    let streamsChanged: Int
    let access: Access
    /// Of one table, that no sum counts twice.
    let money: [Money]
    /// Of the other tables, which may tell of that money again.
    let otherMoney: [Money]
    let environments: [Effect]
    let projections: [Table]
    let refusals: Refusals
    let alterations: [Alteration]
    let samples: [JSONTree]
    /// What was promoted after the comparison; left out where nothing was.
    var promotion: PromotionDocument?

    struct Access: Encodable {
        let gainedHours: Double
        let lostHours: Double
        let gainedMs: Int64
        let lostMs: Int64

        init(_ totals: AccessTotals) {
            gainedMs = totals.gained
            lostMs = totals.lost
            gainedHours = Access.hours(totals.gained)
            lostHours = Access.hours(totals.lost)
        }

        // To a thousandth; the milliseconds beside it are exact.
        private static func hours(_ milliseconds: Int64) -> Double {
            Double(milliseconds / 3600) / 1000
        }
    }

    struct Money: Encodable {
        let projection: String
        let currency: JSONTree
        let gainedMilliunits: Int64
        let lostMilliunits: Int64

        init(_ total: MoneyTotals, in tables: [ComparedTable]) {
            projection = tables[total.table].name
            currency = JSONTree(total.currency)
            gainedMilliunits = total.gained
            lostMilliunits = total.lost
        }
    }

    /// What is changed in one environment: `access` and `money` are Production's alone.
    struct Effect: Encodable {
        let environment: String
        let streamsChanged: Int
        let access: Access
        let money: [Money]
        let otherMoney: [Money]

        init(_ effect: EnvironmentEffect, in tables: [ComparedTable]) {
            environment = effect.environment.word
            streamsChanged = effect.streamsChanged
            access = Access(effect.access)
            money = effect.money.map { Money($0, in: tables) }
            otherMoney = effect.otherMoney.map { Money($0, in: tables) }
        }
    }

    struct Table: Encodable {
        let name: String
        let oldVersion: JSONTree
        let newVersion: Int
        /// Versions of the catalog; 0 for none, null where it is not known.
        let oldCatalogVersion: JSONTree
        let newCatalogVersion: JSONTree
        /// Whether there is no live table to compare with; `rows` are then those of the new one.
        let isNew: Bool
        let rows: Int?
        let rowsChanged: Int
        let streamsChanged: Int
        let changes: [String: Count]
        let columns: [String: Int]
        let columnsAdded: [String]
        let columnsRemoved: [String]
    }

    /// What both sides refuse, and what only one does.
    struct Refusals: Encodable {
        let same: Int
        let changedCount: Int
        let changed: [JSONTree]

        init(_ refusals: RefusalDifference, lanes: LaneCount) {
            same = refusals.same
            changedCount = refusals.changedCount
            changed = refusals.changed.map { $0.document(lanes) }
        }
    }

    /// A live table or view that is not what a rebuild makes.
    struct Alteration: Encodable {
        let projection: String
        let kind: String
        let message: String

        init(_ alteration: LiveAlteration) {
            projection = alteration.projection
            kind = alteration.kind.rawValue
            message = alteration.message
        }
    }

    struct Count: Encodable {
        let rows: Int
        let streams: Int
    }

    init(_ report: DifferenceReport) {
        let difference = report.difference
        equal = difference.isEqual
        streamsCompared = difference.streamsCompared
        streamsChanged = difference.streamsChanged
        comparison = report.subject?.document
        let production = Effect(difference.production, in: difference.tables)
        access = production.access
        money = production.money
        otherMoney = production.otherMoney
        environments = difference.effects.map { Effect($0, in: difference.tables) }
        projections = zip(difference.tables, difference.totals).map { table, totals in
            Table(table, totals, report)
        }
        refusals = Refusals(report.refusals, lanes: report.lanes)
        alterations = report.alterations.map(Alteration.init)
        samples = report.samples.map {
            $0.document(in: difference.tables, lanes: report.lanes)
        }
    }
}

extension DifferenceDocument.Table {
    init(_ table: ComparedTable, _ totals: TableTotals, _ report: DifferenceReport) {
        name = table.name
        oldVersion = JSONTree(table.oldVersion.map(Int64.init))
        newVersion = table.newVersion
        let catalogs = report.subject?.catalogs[table.name]
        oldCatalogVersion = JSONTree(catalogs?.old.map(Int64.init))
        newCatalogVersion = JSONTree((catalogs?.new).map(Int64.init))
        isNew = report.newTables[table.name] != nil
        rows = report.rows[table.name]
        rowsChanged = totals.rowsChanged
        streamsChanged = totals.streamsChanged
        changes = Dictionary(
            uniqueKeysWithValues: totals.changes.map {
                ($0.kind, DifferenceDocument.Count(rows: $0.count.rows, streams: $0.count.streams))
            }
        )
        columns = Dictionary(
            uniqueKeysWithValues: totals.changedColumns.map { ($0.column, $0.rows) }
        )
        columnsAdded = report.isCompared(table) ? table.columnsAdded : []
        columnsRemoved = table.columnsRemoved
    }
}

extension ComparedBuilds {
    /// What the comparison was of, as JSON.
    fileprivate var document: JSONTree {
        .object([
            "kind": .text(kind.word),
            "policy": JSONTree(policy),
            "schema": JSONTree(keptIn),
            "ledgerId": .text(ledger),
            "madeAt": .number(madeAt.milliseconds),
            "upTo": .array(
                standings.map { standing in
                    .object([
                        "projections": .array(standing.projections.map(JSONTree.text)),
                        "heads": .array(standing.heads.map(\.document)),
                    ])
                }
            ),
        ])
    }
}

extension CommitMark {
    // As `verify` has it.
    fileprivate var document: JSONTree {
        .object([
            "lane": .number(Int64(commit.lane)), "offset": .number(offset),
            "commit": .number(commit.number), "digest": .text(digest.hex),
        ])
    }
}

extension RefusalDifference.Changed {
    /// The refusals of both sides as JSON.
    fileprivate func document(_ lanes: LaneCount) -> JSONTree {
        func side(_ refusal: RefusalDifference.Refusal?) -> JSONTree {
            guard let refusal else { return .null }
            return .object([
                "position": JSONTree(refusal.position, lanes: lanes),
                "reason": .text(refusal.reason),
            ])
        }
        return .object([
            "projection": .text(projection),
            "originalTransactionId": .text(stream.originalTransactionId),
            "environment": .text(stream.environment.word),
            "live": side(live), "rebuilt": side(rebuilt),
        ])
    }
}

extension ExplainedSample {
    /// The sample as JSON.
    fileprivate func document(in tables: [ComparedTable], lanes: LaneCount) -> JSONTree {
        .object([
            "originalTransactionId": .text(difference.stream.originalTransactionId),
            "environment": .text(difference.stream.environment.word),
            "customer": JSONTree(customer),
            "at": .number(instant.milliseconds),
            "access": .object([
                "gainedMs": .number(difference.access.gained.length),
                "lostMs": .number(difference.access.lost.length),
            ]),
            "money": money(difference.money, tables),
            "otherMoney": money(difference.otherMoney, tables),
            "old": .object([
                "active": active(oldSpans),
                "rows": rows(tables, lanes) { $0.old },
            ]),
            "new": .object([
                "active": active(newSpans),
                "rows": rows(tables, lanes) { $0.new },
            ]),
            "changesOmitted": .number(Int64(difference.changesOmitted)),
            "explain": .object([
                "about": .text(matter.word),
                "old": oldExplanation(tables, lanes),
                "new": new.map { .explanation(ExplanationDocument($0)) } ?? .null,
                "newRow": matter.row.map { newExplanation($0, tables, lanes) } ?? .null,
            ]),
        ])
    }

    private func money(_ money: [StreamDifference.Money], _ tables: [ComparedTable]) -> JSONTree {
        .array(
            money.map {
                .object([
                    "projection": .text(tables[$0.table].name),
                    "currency": JSONTree($0.currency), "milliunits": .number($0.milliunits),
                ])
            }
        )
    }

    private func active(_ spans: [AccessSpan]?) -> JSONTree {
        guard let spans else { return .null }
        return .array(
            AccessDifference(from: [], to: spans.map(\.time)).gained.map {
                .array([
                    .number($0.lowerBound.milliseconds), .number($0.upperBound.milliseconds),
                ])
            }
        )
    }

    private func rows(
        _ tables: [ComparedTable],
        _ lanes: LaneCount,
        _ side: (StreamDifference.Change) -> ProjectionRow?
    ) -> JSONTree {
        .array(
            difference.changes.compactMap { change in
                side(change).map { row(change, $0, tables[change.table], lanes) }
            }
        )
    }

    private func row(
        _ change: StreamDifference.Change,
        _ row: ProjectionRow,
        _ table: ComparedTable,
        _ lanes: LaneCount
    ) -> JSONTree {
        let values = zip(table.columns, row.values).map { column, value in
            let wording = ColumnWording(column: column)
            return (wording.camelCase, wording.json(value))
        }
        return .object([
            "projection": .text(table.name),
            "changes": .array(change.kinds.map(JSONTree.text)),
            "columns": .array(change.columns.map(JSONTree.text)),
            // Two columns may have one name in JSON, `at` and `at_ms`: the first has it.
            "values": .object(Dictionary(values) { first, _ in first }),
            "positions": .array(row.positions.map { JSONTree($0, lanes: lanes) }),
        ])
    }

    private func oldExplanation(_ tables: [ComparedTable], _ lanes: LaneCount) -> JSONTree {
        .object([
            "at": .number(instant.milliseconds),
            "access": oldAccess.map(JSONTree.flag) ?? .null,
            "row": oldRow.flatMap { change in
                change.old.map { row(change, $0, tables[change.table], lanes) }
            } ?? .null,
            "because": because(oldCauses, lanes),
        ])
    }

    // Where the matter is a row: `new` is about access, which is the same on both sides.
    private func newExplanation(
        _ change: StreamDifference.Change,
        _ tables: [ComparedTable],
        _ lanes: LaneCount
    ) -> JSONTree {
        .object([
            "row": change.new.map { row(change, $0, tables[change.table], lanes) } ?? .null,
            "because": because(newCauses, lanes),
        ])
    }

    private func because(_ events: [Event], _ lanes: LaneCount) -> JSONTree {
        .array(
            events.map { event in
                .object([
                    "position": JSONTree(event.position, lanes: lanes),
                    "effective": .number(event.fact.effective.milliseconds),
                    "recordedAt": .number(event.recordedAt.milliseconds),
                    "kind": .text(event.fact.kind.rawValue),
                    "what": .text(event.fact.summary),
                    "source": JSONTree(evidence[event.position]?.source),
                    "trust": JSONTree(evidence[event.position]?.trust),
                ])
            }
        )
    }
}
