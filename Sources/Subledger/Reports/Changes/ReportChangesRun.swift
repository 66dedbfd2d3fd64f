internal import EventLog
internal import Events
internal import Postgres
internal import Projections
internal import Projector

/// Reports computed in one state, then after each cause of a difference to another state.
///
/// The temporary tables that reports read hold the earlier state at first. For each cause, rows of
/// subscriptions are replaced by those of another state; after the last one, the tables hold the
/// later state.
struct ReportChangesRun {
    let ledger: Ledger
    let reading: AnalyticsReading
    let before: AnalyticsKnowledge
    let after: AnalyticsKnowledge
    /// How many subscriptions are listed for each cause.
    let customers: Int

    private var ground = AnalyticsGround()
    /// Apple's newest signature in the later state.
    private var newestSignature: Instant?
    private var reports: [Compared] = []
    private var refused = 0

    /// A report with its days in both states.
    private struct Compared {
        /// The question with its days, and without a limit.
        let question: ReportQuestion
        /// The most rows that differ.
        let limit: Int
        let old: ReportRun.Bounds
        let new: ReportRun.Bounds
        /// Whether the days of the later state count.
        var isNew = false
        var comparison: ReportComparison?

        var bounds: ReportRun.Bounds { isNew ? new : old }
    }

    /// Events of the earlier state with the catalog of the later one.
    private static let catalogState = "catalog"
    /// The later state; `changes-facts.sql` names it, too.
    private static let newState = "new"

    private static let facts = ReportSQL.text(embeddedFile("changes-facts.sql"))
    private static let listing = ReportSQL.text(embeddedFile("changes-customers.sql"))

    /// SQL that names the tables that are needed in addition to those of the reports.
    static let tablesSQL = facts + listing

    init(
        ledger: Ledger,
        reading: AnalyticsReading,
        before: AnalyticsKnowledge,
        after: AnalyticsKnowledge,
        customers: Int
    ) {
        self.ledger = ledger
        self.reading = reading
        self.before = before
        self.after = after
        self.customers = customers
    }

    mutating func documents(
        _ questions: [ReportQuestion],
        since: KnownAt,
        until: KnownAt?
    ) async throws -> [ReportChangesDocument] {
        let hasCatalog = before.catalogs != after.catalogs
        ground = try await reading.fold(before)
        refused = ground.refused
        if hasCatalog {
            var between = before
            between.catalogs = after.catalogs
            refused = max(
                refused,
                try await reading.fill(ReportChangesRun.catalogState, knowing: between)
            )
        }
        refused = max(refused, try await reading.fill(ReportChangesRun.newState, knowing: after))
        // Rates are read in every step, so all see the same ones.
        try await reading.session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        var earlier = run(questions[0])
        earlier.question.knownAt = since
        ground.newestSignature = try await earlier.newestSignature()
        newestSignature = try await later(questions[0]).newestSignature()
        for question in questions { reports.append(try await compared(question, since)) }
        try await compute(after: nil)
        ground.recordedUntil = after.recordedUntil
        if before.recordedUntil != after.recordedUntil,
            questions.contains(where: { $0.money.usesRates })
        {
            try await compute(after: ReportCause.rates.rawValue)
        }
        try await prepare()
        if hasCatalog { try await applyCatalog() }
        try await passTime()
        try await applyFacts()
        let listed = try await listed()
        var documents: [ReportChangesDocument] = []
        for report in reports {
            documents.append(try await document(report, listed, since: since, until: until))
        }
        try await reading.session.execute("COMMIT")
        return documents
    }

    // The days of a report, which are the same in both states.
    private func compared(_ question: ReportQuestion, _ since: KnownAt) async throws -> Compared {
        let limit = question.limit
        var question = question
        question.limit = ReportQuestion.limitMax
        question.knownAt = since
        let first = try await reading.session.query(
            ReportRun.firstPurchase.replacing(
                "projection.",
                with: "pg_temp.\(ReportChangesRun.newState)_"
            ),
            [.text(question.environment.word)]
        ).first?.int8IfPresent(0).map(Instant.init(milliseconds:))
        let old = try await run(question).bounds()
        if question.from == nil { question.from = min(old.from, first ?? old.from) }
        question.to = old.to
        return Compared(
            question: question,
            limit: limit,
            old: try await run(question).bounds(),
            new: try await later(question).bounds()
        )
    }

    private func run(_ question: ReportQuestion) -> ReportRun {
        ReportRun(ledger: ledger, question: question, session: reading.session, ground: ground)
    }

    // For what the log itself has in the later state; the tables are still those of the earlier one.
    private func later(_ question: ReportQuestion) -> ReportRun {
        var run = run(question)
        run.ground.heads = after.heads
        run.ground.catalogVersion = after.catalogs.newestVersion
        run.ground.newestSignature = newestSignature
        return run
    }

    // Computes all reports with the tables as they are now.
    private mutating func compute(after cause: String?) async throws {
        for index in reports.indices {
            let report = reports[index]
            let (rows, isComplete) = try await run(report.question).found(report.bounds)
            try QuestionError.refuse(
                unless: isComplete,
                "report \(report.question.report.name) has more than \(ReportQuestion.limitMax) "
                    + "rows, which is too many to compare; use another breakdown, or fewer days"
            )
            if let cause {
                reports[index].comparison?.take(rows, by: cause)
            } else {
                reports[index].comparison = ReportComparison(report.question, rows)
            }
        }
    }
}

extension ReportChangesRun {
    private var tables: [String] { reading.projections.sorted() }

    private var environment: PostgresValue {
        .text(reports[0].question.environment.word)
    }

    private func prepare() async throws {
        try await reading.session.execute(
            """
            CREATE TEMPORARY TABLE changed_subscription (
                lane integer, original_transaction_id text COLLATE "C", cause integer)
            """
        )
    }

    private mutating func applyCatalog() async throws {
        let state = ReportChangesRun.catalogState
        try await keep(
            ReportSQL.text(embeddedFile("changes-catalog.sql"))
                .replacing("{{changed}}", with: changed(state)),
            [environment]
        )
        try await replace(cause: 0, by: state)
        try await compute(after: ReportCause.catalog.rawValue)
    }

    // A last day that was not over counts as far as the newest signature of the later state.
    private mutating func passTime() async throws {
        for index in reports.indices { reports[index].isNew = true }
        guard reports.contains(where: { $0.old.until != $0.new.until }) else { return }
        try await compute(after: ReportCause.time.rawValue)
    }

    private mutating func applyFacts() async throws {
        let state = ReportChangesRun.newState
        let until = reports.map(\.new.until).max() ?? .epoch
        try await keep(
            ReportChangesRun.facts.replacing("{{changed}}", with: changed(state)),
            [environment, .timestamptz(microseconds: until.milliseconds * 1000)]
        )
        let causes = try await reading.session.query(
            "SELECT DISTINCT cause FROM pg_temp.changed_subscription WHERE cause > 0 ORDER BY 1",
            []
        ).map { try $0.int4(0) }
        for cause in causes {
            try await replace(cause: cause, by: state)
            try await compute(after: ReportCause.name(cause))
        }
    }

    // SQL for the subscriptions of which any table has other rows in a state.
    private func changed(_ state: String) -> String {
        tables.map { table in
            let columns = ledger.projector.ownColumns(of: table)
            return ReportSQL.text(embeddedFile("changes-subscriptions.sql"))
                .replacing("{{table}}", with: table).replacing("{{state}}", with: state)
                .replacing("{{old}}", with: columns.map { "o.\($0)" }.joined(separator: ", "))
                .replacing("{{new}}", with: columns.map { "n.\($0)" }.joined(separator: ", "))
        }.joined(separator: "\nUNION\n")
    }

    private func keep(_ sql: String, _ parameters: [PostgresValue]) async throws {
        _ = try await reading.session.query(ground.sql(sql), parameters)
        try await reading.session.execute("ANALYZE pg_temp.changed_subscription")
    }

    private func replace(cause: Int32, by state: String) async throws {
        for table in tables {
            for file in [
                embeddedFile("changes-removal.sql"), embeddedFile("changes-insertion.sql"),
            ] {
                let sql = ReportSQL.text(file).replacing("{{table}}", with: table)
                    .replacing("{{state}}", with: state)
                _ = try await reading.session.query(ground.sql(sql), [environment, .int4(cause)])
            }
        }
    }
}

extension ReportChangesRun {
    // The causes, with the subscriptions behind them, in the order in which they are applied.
    private func listed() async throws -> [ReportChangesDocument.Cause] {
        var found: [(cause: String, count: Int64, customers: [ReportChangesDocument.Customer])] = []
        for row in try await reading.session.query(
            ground.sql(ReportChangesRun.listing),
            [environment, .int8(Int64(customers))]
        ) {
            let cause = ReportCause.name(try row.int4(0))
            if found.last?.cause != cause { found.append((cause, try row.int8(1), [])) }
            guard customers > 0 else { continue }
            found[found.count - 1].customers.append(
                ReportChangesDocument.Customer(
                    customerId: try row.text(3),
                    originalTransactionId: try row.text(2)
                )
            )
        }
        let listed = found.map {
            ReportChangesDocument.Cause(
                cause: $0.cause,
                subscriptions: $0.count,
                customers: $0.customers
            )
        }
        let (rates, time) = (cause(.rates), cause(.time))
        let isOfCatalog = listed.first?.cause == ReportCause.catalog.rawValue
        let count = isOfCatalog ? 1 : 0
        return [rates] + listed.prefix(count) + [time] + listed.dropFirst(count)
    }

    // A cause that is not about subscriptions.
    private func cause(_ cause: ReportCause) -> ReportChangesDocument.Cause {
        ReportChangesDocument.Cause(cause: cause.rawValue, subscriptions: nil, customers: [])
    }

    private func document(
        _ report: Compared,
        _ listed: [ReportChangesDocument.Cause],
        since: KnownAt,
        until: KnownAt?
    ) async throws -> ReportChangesDocument {
        guard let comparison = report.comparison else {
            preconditionFailure("a report is computed before it is compared")
        }
        let (question, rows) = (report.question, comparison.rows)
        let (projections, causes) = (question.projections, comparison.causes)
        return ReportChangesDocument(
            name: question.report.name,
            version: question.report.version,
            definition: question.report.definition,
            environment: question.environment,
            from: report.old.from.day,
            to: report.old.to.day,
            by: question.by,
            money: question.money.isAsked ? question.money : nil,
            before: state(before, report.old),
            after: state(after, report.new),
            folds: ground.folds.filter { projections.contains($0.key) },
            erasures: report.new.erasures,
            refusedSubscriptions: refused,
            command: try await command(report, since, until),
            isComplete: rows.count <= report.limit,
            keys: comparison.keys,
            columns: comparison.columns,
            rows: Array(rows.prefix(report.limit)),
            causes: listed.filter { causes.contains($0.cause) }
        )
    }

    private func state(
        _ knowledge: AnalyticsKnowledge,
        _ bounds: ReportRun.Bounds
    ) -> ReportChangesDocument.State {
        let offsets = knowledge.heads.mapValues(\.offset).filter { $0.value > 0 }
        return ReportChangesDocument.State(
            positions: PositionVector(offsets).document,
            catalogVersion: knowledge.catalogs.newestVersion,
            asOf: bounds.asOf
        )
    }

    private func command(
        _ report: Compared,
        _ since: KnownAt,
        _ until: KnownAt?
    ) async throws -> String? {
        var run = later(report.question)
        run.question.limit = report.limit
        var again = until
        if again == nil { again = try await run.knownAt() }
        let log = ledger.log
        return again.map {
            run.command(
                report.old,
                since: "--changed-since \(log.text(since)) ",
                knownAt: log.text($0)
            )
        }
    }
}
