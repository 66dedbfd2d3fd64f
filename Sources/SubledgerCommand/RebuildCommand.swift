import AppStore
import ArgumentParser
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector
import Subledger

struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Build the tables of projections again from the log.",
        discussion: """
            New tables are filled beside the live ones and put in their place in one short \
            transaction: readers of the views in schema `projection` never see half of them. \
            Killed at any moment it leaves the live tables as they were; start it again.

            After a fold was mended: `--diff` builds the new tables up to where the live ones \
            stand and shows what is otherwise, for whom and by which events; they wait, and \
            `--promote` brings them up to date and puts them live. `--check` only proves that the \
            live tables and their views are what a rebuild makes, and ends with 3 where they are \
            not. `--with` judges another policy before it is adopted (`explain` and the other \
            questions answer by the adopted one all the same):

              {"graceCounts":false,"familyCounts":true,"reversalIsRetroactive":true,
               "catalogVersion":1}

            Money is told of one table, so that no sum counts twice: of `movements` where amounts \
            differ there, else of the first other table in which they do. What further tables say \
            of it stands beside, and is not to be added.

            Subscriptions with an event that a fold refuses have no row; they are in \
            projection.refused_stream, and the exit code is 3; of --check only where the live \
            tables refuse others, or for other reasons.
            """
    )

    @Argument(help: "Names of projections; all where none is named.")
    var projections: [String] = []

    @Flag(help: "Show what differs from the live tables; the new ones wait for --promote.")
    var diff = false

    @Flag(help: "Put the tables that wait in the place of the live ones.")
    var promote = false

    @Flag(help: "Compare the live tables with a rebuild of them; exit 3 on any difference.")
    var check = false

    @Flag(
        help: """
            Drop the tables that wait, or those named; with --into, those of that schema. Of a \
            projection that this program does not have any more, the live table.
            """
    )
    var discard = false

    @Option(
        help: ArgumentHelp(
            "Keep the tables in this schema, beside.",
            discussion: """
                `follow` brings them on with the live ones, but for those of --to and --with; \
                `projections` shows which is which.
                """,
            valueName: "schema"
        )
    )
    var into: String?

    @Option(
        help: ArgumentHelp(
            "With --into, fold the commits that begin up to then: an offset, pairs, an instant.",
            discussion: "`follow` leaves such tables where they are.",
            valueName: "position"
        ),
        transform: Clock.knownAt
    )
    var to: KnownAt?

    @Option(
        help: ArgumentHelp(
            "Show what another policy changes: a file, or - for stdin.",
            discussion: "The tables are dropped, or kept with --into; `follow` leaves them there.",
            valueName: "policy.json"
        )
    )
    var with: String?

    @Option(help: "Most subscriptions to show as samples. Default: 10.")
    var samples: Int?

    @Option(help: ArgumentHelp("Write what differs as a page with pictures.", valueName: "file"))
    var html: String?

    @Option(
        help: ArgumentHelp(
            "Connections that read and fold at the same time, from 1 to \(jobsMax).",
            discussion: "Default: one a processor."
        )
    )
    var jobs: Int?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let jobs, !(1...RebuildCommand.jobsMax).contains(jobs) {
            throw ValidationError("--jobs must be from 1 to \(RebuildCommand.jobsMax), not \(jobs)")
        }
        if let samples, !(0...ProjectionDifference.samplesLimit).contains(samples) {
            throw ValidationError(
                "--samples must be from 0 to \(ProjectionDifference.samplesLimit), not \(samples)"
            )
        }
        guard [check, discard, promote || diff].count(where: { $0 }) <= 1 else {
            throw ValidationError("--check, --discard and --diff or --promote exclude each other")
        }
        if with != nil, promote || check || discard {
            throw ValidationError(
                "--with judges a policy: its tables are never live; leave --promote, --check and "
                    + "--discard out"
            )
        }
        if discard, into != nil, !projections.isEmpty {
            throw ValidationError(
                "--discard --into drops all tables of a schema; leave the names out"
            )
        }
        if into != nil, promote || check {
            throw ValidationError("--into keeps tables beside the live ones: they are not promoted")
        }
        if to != nil, diff || with != nil {
            throw ValidationError(
                "--to does not go with --diff and --with, which compare where the live tables "
                    + "stand: leave it out, or build tables as of --to with --into alone"
            )
        }
        guard to == nil || into != nil else {
            throw ValidationError("--to is for --into: live tables go up to the end of the log")
        }
        if let into, !RebuildCommand.canName(into) {
            throw ValidationError(
                "--into names no schema: it takes letters, digits and signs, no control characters "
                    + "and more than spaces"
            )
        }
        if html == "-" {
            throw ValidationError("--html needs a file: stdout has the difference itself")
        }
        guard compares || html == nil && samples == nil else {
            throw ValidationError("--html and --samples are for --diff, --check and --with")
        }
    }

    /// Each has a connection and some megabytes, and keeps a processor busy here and another in the
    /// server; the tables are written by one connection each all the same.
    private static let jobsMax = 16

    // PostgreSQL would take the others too, and nobody could see them in a list.
    private static func canName(_ schema: String) -> Bool {
        !schema.allSatisfy(\.isWhitespace)
            && !schema.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    private var compares: Bool { diff || check || with != nil }

    func run() async throws {
        let settings = try await database.settings()
        var logOptions = EventLog.Options()
        logOptions.readersMax = max(logOptions.readersMax, connections)
        let log = try await EventLog.open(settings, logOptions)
        let end = try await run(settings, log)
        await log.close()
        guard end == .success else { throw end }
    }

    // Connections that read and fold.
    private var connections: Int {
        jobs ?? min(ProcessInfo.processInfo.activeProcessorCount, RebuildCommand.jobsMax)
    }

    private func run(_ settings: ConnectionSettings, _ log: EventLog) async throws -> ExitCode {
        let projector = Projector(log: log, settings: settings) {
            FoldContext(catalogs: try await CatalogStore(log: log).history())
        }
        let progress = SharedProgress("rebuild", isQuiet: output.quiet)
        var options = Projector.RebuildOptions()
        options.jobs = connections
        options.progress = { progress.report($0, "events") }
        options.notice = { Terminal.write("rebuild: \($0)") }
        let run = RebuildRun(
            command: self,
            projector: projector,
            chosen: projections.isEmpty ? nil : try projector.projections(named: known(projector)),
            whatIf: try await whatIf(log),
            options: options,
            progress: progress,
            log: log
        )
        if let html { try OutputFile(html).check() }
        if discard { return try await run.discard() }
        if compares { return try await run.compare() }
        if promote { return try await run.promote() }
        return try await run.rebuild()
    }

    // What an older program has left can be dropped, and nothing else be done with it.
    private func known(_ projector: Projector) -> [String] {
        guard discard else { return projections }
        let retired = projector.retired(among: projections)
        return projections.filter { !retired.contains($0) }
    }

    private func whatIf(_ log: EventLog) async throws -> Projector.WhatIf? {
        guard let with else { return nil }
        let catalogs = try await CatalogStore(log: log).history()
        let bytes = try RebuildCommand.policyBytes(of: with)
        do throws(PolicyError) {
            let document = try PolicyDocument(json: bytes)
            return Projector.WhatIf(
                context: try document.context(catalogs),
                text: document.canonicalText
            )
        } catch {
            throw Failure(
                Exit.badInput,
                "\(with == "-" ? "the policy of stdin" : with): \(error.message)"
            )
        }
    }

    private static func policyBytes(of path: String) throws -> [UInt8] {
        do {
            let handle =
                path == "-"
                ? FileHandle.standardInput
                : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            // One byte more than is allowed tells that there is more.
            return [UInt8](try handle.read(upToCount: PolicyDocument.byteCountMax + 1) ?? Data())
        } catch {
            throw Failure(
                Exit.inputMissing,
                "the policy \(path) cannot be read: is it a file, and yours to read?"
            )
        }
    }
}
