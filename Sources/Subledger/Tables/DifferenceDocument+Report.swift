internal import EventLog
internal import Events
internal import Projections
internal import Projector

extension DifferenceDocument {
    /// The document of a report, with the promotion that followed it.
    package init(_ report: DifferenceReport, promotion: PromotionDocument? = nil) {
        let difference = report.difference
        let production = Effect(difference.production, in: difference.tables)
        comparison = report.subject.map(Comparison.init)
        equal = difference.isEqual
        streamsCompared = difference.streamsCompared
        streamsChanged = difference.streamsChanged
        access = production.access
        money = production.money
        otherMoney = production.otherMoney
        environments = difference.effects.map { Effect($0, in: difference.tables) }
        projections = zip(difference.tables, difference.totals).map { Table($0, $1, report) }
        refusals = report.refusals
        alterations = report.alterations
        samples = report.samples.map { Sample($0, in: difference.tables) }
        self.promotion = promotion
    }
}

extension DifferenceDocument.Comparison {
    fileprivate init(_ builds: ComparedBuilds) {
        kind = builds.kind.word
        policy = builds.policy
        schema = builds.keptIn
        ledgerId = builds.ledger
        madeAt = builds.madeAt
        upTo = builds.standings.map { standing in
            DifferenceDocument.Standing(
                projections: standing.projections,
                heads: standing.heads.map { VerificationReport.Head($0) }
            )
        }
    }
}

extension DifferenceDocument.Access {
    fileprivate init(_ totals: AccessTotals) {
        gainedMs = totals.gained
        lostMs = totals.lost
        gainedHours = Self.hours(totals.gained)
        lostHours = Self.hours(totals.lost)
    }

    // Rounded to a thousandth; the milliseconds in the same document are exact.
    private static func hours(_ milliseconds: Int64) -> Double {
        Double(milliseconds / 3600) / 1000
    }
}

extension DifferenceDocument.Money {
    fileprivate init(_ total: MoneyTotals, in tables: [ComparedTable]) {
        projection = tables[total.table].name
        currency = total.currency
        gainedMilliunits = total.gained
        lostMilliunits = total.lost
    }
}

extension DifferenceDocument.Effect {
    fileprivate init(_ effect: EnvironmentEffect, in tables: [ComparedTable]) {
        environment = effect.environment
        streamsChanged = effect.streamsChanged
        access = DifferenceDocument.Access(effect.access)
        money = effect.money.map { DifferenceDocument.Money($0, in: tables) }
        otherMoney = effect.otherMoney.map { DifferenceDocument.Money($0, in: tables) }
    }
}

extension DifferenceDocument.Table {
    fileprivate init(_ table: ComparedTable, _ totals: TableTotals, _ report: DifferenceReport) {
        let catalogs = report.subject?.catalogs[table.name]
        name = table.name
        oldVersion = table.oldVersion
        newVersion = table.newVersion
        oldCatalogVersion = catalogs?.old
        newCatalogVersion = catalogs?.new
        isNew = report.newTables[table.name] != nil
        rows = report.rows[table.name]
        rowsChanged = totals.rowsChanged
        streamsChanged = totals.streamsChanged
        changes = Dictionary(uniqueKeysWithValues: totals.changes.map { ($0.kind, $0.count) })
        columns = Dictionary(
            uniqueKeysWithValues: totals.changedColumns.map { ($0.column, $0.rows) }
        )
        columnsAdded = report.isCompared(table) ? table.columnsAdded : []
        columnsRemoved = table.columnsRemoved
    }
}
