internal import EventLog
internal import Events
internal import Postgres
internal import Projections
internal import Projector

/// One answer to a report.
struct ReportRun {
    let ledger: Ledger
    var question: ReportQuestion
    let session: PostgresSession
    var ground: AnalyticsGround

    /// The days of an answer, and the bounds that the log sets for them.
    struct Bounds {
        let from: Instant
        let to: Instant
        let asOf: Instant
        /// The last day that has begun.
        let last: Instant
        /// The first instant that does not count.
        let until: Instant
        let erasures: Int64

        /// The days, weeks and months of the rows.
        var span: ReportSpan { ReportSpan(from: from.day, to: to.day, asOf: asOf) }
    }

    private var money: ReportConversion {
        ReportConversion(money: question.money, recordedUntil: ground.recordedUntil)
    }

    /// Apple's newest signature within the counted part of the log.
    ///
    /// - Throws: `QuestionError` if the environment has no event.
    func newestSignature() async throws -> Instant {
        if let known = ground.newestSignature { return known }
        let lanes = ground.offsets.sorted { $0.key < $1.key }
        let parameters: [PostgresValue] = [
            .text(question.environment.word), .int4Array(lanes.map { Int32($0.key) }),
            .int8Array(lanes.map(\.value)),
        ]
        let found = try await session.query(
            NewestSignature.sql(
                upTo: "unnest($2::int[], $3::bigint[]) AS h (lane, lane_offset)",
                environment: "$1",
                isKept: !ground.isTemporary
            ),
            parameters
        )
        guard let last = try found.first?.int8IfPresent(0) else {
            let others = try await session.query(
                ReportSQL.text(embeddedFile("find-environments.sql")),
                parameters
            ).single().textIfPresent(0)
            throw QuestionError(
                others == nil ? .emptyLedger : .otherEnvironment,
                "the ledger has no event of \(question.environment.word)"
                    + (question.knownAt == nil ? "" : " by then")
                    + (others.map { "; it has events of \($0)" } ?? "")
            )
        }
        // A projector can write any number there; `tables check` finds it.
        return min(
            max(Instant(milliseconds: last), Instant.calendar.lowerBound),
            Instant.calendar.upperBound
        )
    }

    /// The days of the answer, by what the tables and the counted part of the log have.
    func bounds() async throws -> Bounds {
        // Not in one statement: for a query of distributed tables, too, Citus copies the local one.
        let found = try await session.pipeline([
            PostgresStatement(
                ground.sql(ReportRun.firstPurchase),
                [.text(question.environment.word)]
            ),
            PostgresStatement(
                "SELECT count(*) FROM ledger.event e WHERE e.kind = 'erasure'",
                []
            ),
        ])
        let newest = try await newestSignature()
        let first = try found[0].first?.int8IfPresent(0).map(Instant.init(milliseconds:)) ?? newest
        let lastWhole = Instant(milliseconds: newest.dayStart.milliseconds - Instant.dayLength)
        var to = question.to?.dayStart ?? max(lastWhole, (question.from ?? first).dayStart)
        var from = question.from?.dayStart ?? min(first.dayStart, to)
        to = max(from, to)
        if question.report.isOfCohortMonths { from = Month(from.day)?.start ?? from }
        let end = Instant(milliseconds: to.milliseconds + Instant.dayLength)
        return Bounds(
            from: from,
            to: to,
            asOf: min(newest, end),
            last: min(to, newest.dayStart),
            until: min(end, Instant(milliseconds: newest.milliseconds + 1)),
            erasures: try found[1].single().int8(0)
        )
    }

    private func rows(_ bounds: Bounds) async throws -> PostgresRows {
        let text = question.report.text(
            by: question.by,
            in: bounds.span,
            limit: question.limit + 1,
            money
        ).replacing("{{installs}}", with: ReportInstalls.table(of: question))
        let readsPurchases = AnalyticsRelation.needed(by: text).contains {
            $0.name == "repeated_purchases"
        }
        var statement = ReportStatement(
            text: text,
            parameters: [
                .text(bounds.from.day), .text(bounds.last.day), .text(question.environment.word),
                .timestamptz(microseconds: bounds.until.milliseconds * 1000),
            ] + money.parameters + (question.installs?.parameters ?? [])
        )
        if readsPurchases {
            let continued = try await ContinuedSubscriptions.find(
                in: question.environment,
                ground,
                ledger.log.identity.lanes,
                session
            )
            var repeated = try await RepeatedPurchases.find(
                in: question.environment,
                ground,
                session
            )
            repeated.join(continued)
            statement.text = continued.inlined(text)
            repeated.exclude(from: &statement)
            continued.join(in: &statement)
        }
        return try await session.query(ground.sql(statement.text), statement.parameters)
    }

    /// The rows of the answer, and whether these are all.
    func found(_ bounds: Bounds) async throws -> (rows: ReportRows, isComplete: Bool) {
        let rows = try await rows(bounds)
        let columns = question.report.columns(by: question.by) + money.columns
        let isComplete = rows.count <= question.limit
        let found = ReportRows(
            try rows.prefix(question.limit).map { row in
                Dictionary(
                    uniqueKeysWithValues: try columns.enumerated().map { index, column in
                        (column.jsonName, try ReportValue(row, index, column))
                    }
                )
            },
            columns: columns,
            span: bounds.span
        )
        let isFilled = isComplete && question.report.hasEveryMonth(by: question.by)
        return (isFilled ? found.filled(to: question.limit) : found, isComplete)
    }

    func answer() async throws -> ReportAnswer {
        let bounds = try await bounds()
        let (whole, isComplete) = try await found(bounds)
        let knownAt = try await knownAt()
        return ReportAnswer(
            document: document(bounds, whole, isComplete, knownAt),
            knownAt: knownAt
        )
    }

    private func document(
        _ bounds: Bounds,
        _ whole: ReportRows,
        _ isComplete: Bool,
        _ knownAt: KnownAt?
    ) -> ReportDocument {
        let projections = question.projections
        return ReportDocument(
            name: question.report.name,
            version: question.report.version,
            definition: question.report.definition,
            environment: question.environment,
            from: bounds.from.day,
            to: bounds.to.day,
            asOf: bounds.asOf,
            by: question.by,
            positions: PositionVector(ground.offsets).document,
            catalogVersion: ground.catalogVersion,
            folds: ground.folds.filter { projections.contains($0.key) },
            money: question.money.isAsked ? question.money : nil,
            installs: question.installs?.source,
            erasures: bounds.erasures,
            refusedSubscriptions: ground.refused,
            command: knownAt.map { command(bounds, knownAt: ledger.log.text($0)) },
            isComplete: isComplete,
            columns: whole.marked.columns,
            rows: whole.marked.rows
        )
    }

    /// The bound that gives the same events, catalog and rates again: the positions or, if something
    /// was imported after them, the instant of the last import; nil if none does.
    func knownAt() async throws -> KnownAt? {
        let offsets = KnownAt.offsets(ledger.whole(ground.offsets))
        let store = ledger.catalogStore
        let rates = try await newestRate()
        let bound = try await ledger.log.recordingBound(of: offsets) ?? .epoch
        let isCatalogKnown =
            try await store.history(knownAt: offsets).newestVersion == ground.catalogVersion
        if isCatalogKnown, rates ?? bound <= bound {
            return offsets
        }
        let judging = try await store.versions().first {
            $0.record.version == ground.catalogVersion
        }
        let imports = [isCatalogKnown ? nil : judging?.record.recordedAt, rates].compactMap { $0 }
        guard let imported = imports.max(),
            case let heads = try await ledger.log.heads(knownAt: .time(imported)),
            heads.mapValues(\.offset) == ground.offsets,
            try await store.history(knownAt: .time(imported)).newestVersion
                == ground.catalogVersion
        else { return nil }
        return .time(imported)
    }

    // When the newest rate that the report could use was imported; nil if it uses none.
    private func newestRate() async throws -> Instant? {
        let money = question.money
        guard money.usesRates else { return nil }
        return try await session.query(
            ReportSQL.text(embeddedFile("find-newest-rate.sql")),
            [
                money.currency.map { .text($0) } ?? .null,
                .timestamptz(microseconds: ground.recordedUntil.map { $0.milliseconds * 1000 }),
                .bool(money.commission == .rates),
            ]
        ).single().int8IfPresent(0).map(Instant.init(milliseconds:))
    }

    /// The command that prints an answer again.
    func command(_ bounds: Bounds, since: String = "", knownAt: String) -> String {
        "subledger report \(question.report.name) --from \(bounds.from.day) "
            + "--to \(bounds.to.day) --by \(Report.Dimension.text(question.by)) "
            + "--environment \(question.environment.word) \(since)"
            + "--known-at \(knownAt)\(question.money.arguments)"
            + (question.installs.map { " --installs \($0.file.shellWord)" } ?? "")
            + (question.limit == ReportQuestion.limitDefault ? "" : " --limit \(question.limit)")
    }

    static let firstPurchase = ReportSQL.text(embeddedFile("find-first-purchase.sql"))
}

extension ReportValue {
    fileprivate init(_ row: PostgresRow, _ index: Int, _ column: Report.Column) throws {
        switch column.kind {
        case .text:
            let text = try row.textIfPresent(index)
            let month = column.name == "fiscal_month" ? text.flatMap(FiscalMonth.init) : nil
            self = (month?.text ?? text).map { .text($0) } ?? .none
        case .percent: self = try row.int8IfPresent(index).map { .hundredths($0) } ?? .none
        case .count, .money, .instant, .flag:
            self = try row.int8IfPresent(index).map { .integer($0) } ?? .none
        }
    }
}
