import ArgumentParser
import CommandSupport
import EventLog
import Events
import Subledger

/// `report NAME`: every report that is a query over the tables.
struct TableReportCommand: AsyncParsableCommand, TakingWord {
    static let configuration = CommandConfiguration(
        commandName: "ask",
        abstract: "A report by its name, from `report list`.",
        usage: "subledger report NAME [OPTIONS]",
        discussion: """
            Reads the live tables, and folds nothing. With --known-at, the log is folded up to \
            that point into temporary tables, with the catalog of that time. The output is then \
            the same at any later time, byte for byte, except for erased data. This reads the \
            whole log a few times.

            Without --from, the first day is that of the first purchase. Without --to, the last \
            day is the last whole day before Apple's newest signature. Both days are included, in \
            UTC. Nothing after the last day counts, and neither does a later refund of an earlier \
            purchase: to follow the customers or the purchases of a month to the present, leave \
            out --to and break down by month. A last day that is not over counts as far as Apple's \
            newest signature. A day, a week or a month that is not whole has a *, in CSV and JSON \
            is_partial.

            With --changed-since, the output is what changed since then, for the same days: the \
            old and the new value of each number that differs, and what each cause adds to it. \
            Subscriptions with several kinds of new facts are a cause together. The parts of a \
            number add up to its difference exactly; an empty number counts as 0. The new state \
            is that of --known-at, or everything known now. Without --to, the last day is the one \
            that the report had then. This folds the log twice, three times after an import of a \
            catalog.
            """
    )

    @Argument(
        help: "The report: \(TableReportCommand.names). `subledger report list` explains each.",
        transform: TableReportCommand.report
    )
    var report: Report

    @Option(
        help: "The first day, such as 2026-01-31, or an instant, which stands for its day in UTC.",
        transform: Clock.time
    )
    var from: AskedTime?

    @Option(help: "The last day, which is included; same forms as --from.", transform: Clock.time)
    var to: AskedTime?

    @Option(
        help: ArgumentHelp(
            "Break down by these dimensions, separated by commas, or by none.",
            discussion: """
                Those of month, week, fiscal-month, product, country and offer that `report list` \
                names. A fiscal-month is one of Apple's calendar: FY2026-01 is October of 2025.
                """,
            valueName: "dimensions"
        ),
        transform: TableReportCommand.dimensions
    )
    var by: [Report.Dimension]?

    @Option(
        help: "The environment: Production, Sandbox, Xcode or LocalTesting.",
        transform: TrustOptions.environment
    )
    var environment = StoreEnvironment.production

    @Option(help: Clock.knownAtHelp, transform: Clock.knowledge)
    var knownAt: AskedKnowledge?

    @Option(
        help: ArgumentHelp(
            "Print what changed since then, by cause.",
            discussion: "A position or a time, as with --known-at.",
            valueName: "position-or-time"
        ),
        transform: Clock.knowledge
    )
    var changedSince: AskedKnowledge?

    @OptionGroup var money: MoneyOptions

    @Option(
        help: ArgumentHelp(
            "Installs by day (report initial-conversion): a CSV file, or - for stdin.",
            discussion: """
                The columns are date, installs and, if needed, country, in this order or as named \
                by a header, which may have others: 2026-01-31,120,DEU. A country has three \
                letters (ISO 3166-1), and every line has one, or none. Lines of the same day are \
                added up.
                """,
            valueName: "file"
        )
    )
    var installs: String?

    @Option(help: "Maximum number of rows; they are held in memory.")
    var limit = ReportQuestion.limitDefault

    @Flag(
        help: """
            Print nothing and fail if the report is not of the whole log: if its tables are behind \
            (exit 75), or if it leaves out rows or subscriptions (exit 3).
            """
    )
    var strict = false

    @OptionGroup var form: CSVOptions

    @Option(
        help: ArgumentHelp(
            "Write the report as one HTML file, with a picture, to read or to print.",
            discussion: """
                Months of first payments are a heat map, other series at most eight lines. It needs \
                no other file and no script.
                """,
            valueName: "file"
        )
    )
    var html: String?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// The names of the reports over tables.
    static let names = Report.all.map(\.name).joined(separator: ", ")

    private static func report(_ name: String) throws -> Report {
        guard let report = Report.named(name) else {
            throw ValidationError(
                "there is no report '\(name)'; `subledger report list` lists them"
            )
        }
        return report
    }

    private static func dimensions(_ text: String) throws -> [Report.Dimension] {
        try Report.Dimension.breakdown(text) { word in
            ValidationError(
                "invalid --by '\(word)'; expected \(Report.Dimension.breakdownForms)"
            )
        }
    }

    func validate() throws {
        guard !form.isCSV || !output.json else {
            throw ValidationError("--csv and --json exclude each other")
        }
        guard changedSince == nil || html == nil else {
            throw ValidationError(
                "--changed-since has no picture: leave out --html, and use --csv or --json"
            )
        }
        guard changedSince == nil || !form.excel else {
            throw ValidationError("--changed-since is not printed for Excel: use --csv")
        }
        guard changedSince == nil || !strict else {
            throw ValidationError(
                "--changed-since reads the log, which is never behind: leave out --strict"
            )
        }
    }

    private static func check(_ report: ReportDocument, lag: Int64) throws {
        guard lag == 0 else { throw Failure(Exit.tryAgain, lagWords(lag, of: "report")) }
        guard report.omissions.isEmpty else {
            throw Failure(Exit.mismatch, report.omissions.joined(separator: "; "))
        }
    }

    func run() async throws {
        let now = Instant.systemClock()
        var question = ReportQuestion(report)
        question.dimensions = by
        question.from = from?.instant(now: now, in: .utc)
        question.to = to?.instant(now: now, in: .utc)
        question.environment = environment
        question.knownAt = knownAt?.knownAt(now: now, in: .utc)
        question.money = money.money
        question.limit = limit
        question.installs = try installs.map(InstallFile.installs)
        guard let changedSince else { return try await printReport(question) }
        let since = changedSince.knownAt(now: now, in: .utc)
        if case .time(let instant) = since, instant > now {
            throw ValidationError("--changed-since is in the future: \(instant)")
        }
        try await printChanges(question, since: since)
    }

    private func printReport(_ question: ReportQuestion) async throws {
        let page = html.map(OutputFile.init)
        try page?.check()
        let ledger = try await database.openLedger(isQuiet: output.quiet)
        let answer = try await ledger.report(question)
        let lag = try await knownAt == nil ? ledger.lag(behind: answer.positions) : 0
        await ledger.close()
        if strict { try TableReportCommand.check(answer, lag: lag) }
        try page?.write(ReportPage(answer).text)
        if form.isCSV {
            Terminal.put(form.excel ? answer.excelCSV : answer.csv)
        } else {
            try output.print(answer, answer.text)
        }
        guard !output.quiet else { return }
        for note in answer.notes { Terminal.write(note) }
        Terminal.noteLag(lag, of: "report")
    }

    private func printChanges(_ question: ReportQuestion, since: KnownAt) async throws {
        let ledger = try await database.openLedger(isQuiet: output.quiet)
        let answer = try await ledger.reportChanges(question, since: since)
        await ledger.close()
        if form.isCSV { Terminal.put(answer.csv) } else { try output.print(answer, answer.text) }
        guard !output.quiet else { return }
        for note in answer.notes { Terminal.write(note) }
    }
}

extension Terminal {
    /// Notes on stderr that the live tables that were read lack the newest events.
    static func noteLag(_ lag: Int64, of subject: String) {
        guard lag > 0 else { return }
        write(lagWords(lag, of: subject))
    }
}
