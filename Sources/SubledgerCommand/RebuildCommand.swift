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
        abstract: "Make the tables of projections anew from the log.",
        discussion: """
            New tables are filled beside the live ones and put in their place in one short \
            transaction: readers of the views in schema `projection` never see half of them. \
            Killed at any moment it leaves the live tables as they were; start it again.

            After a fold was mended: `--diff` builds the new tables up to where the live ones \
            stand and shows what is otherwise, for whom and by which events; they wait, and \
            `--promote` brings them up to date and puts them live. `--check` only proves that the \
            live tables are what a rebuild makes, and ends with 3 where they are not. `--with` \
            judges another policy before it is adopted (`explain` and the other questions answer by \
            the adopted one all the same):

              {"graceCounts":false,"familyCounts":true,"reversalIsRetroactive":true,
               "catalogueVersion":1}

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

    @Option(help: ArgumentHelp("Keep the tables in this schema, beside.", valueName: "schema"))
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
            "Show what another policy changes. The tables are dropped, or kept with --into.",
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
        guard to == nil || into != nil && !diff && with == nil else {
            throw ValidationError(
                "--to is for --into: live tables go up to the end of the log, and are compared "
                    + "where they stand"
            )
        }
        guard compares || html == nil && samples == nil else {
            throw ValidationError("--html and --samples are for --diff, --check and --with")
        }
    }

    /// Each has a connection and some megabytes, and keeps a processor busy here and another in the
    /// server; the tables are written by one connection each all the same.
    private static let jobsMax = 16

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
            FoldContext(catalogues: try await CatalogueStore(log: log).history())
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
        if let html,
            FileManager.default.fileExists(atPath: html)
                ? !FileManager.default.isWritableFile(atPath: html)
                : !FileManager.default.isWritableFile(
                    atPath: URL(fileURLWithPath: html).deletingLastPathComponent().path
                )
        {
            throw Failure(Exit.inputMissing, "\(html) cannot be written")
        }
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
        let catalogues = try await CatalogueStore(log: log).history()
        guard let bytes = FileManager.default.contents(atPath: with) else {
            throw Failure(Exit.inputMissing, "the policy \(with) cannot be read")
        }
        do throws(PolicyError) {
            let document = try PolicyDocument(json: [UInt8](bytes))
            return Projector.WhatIf(
                context: try document.context(catalogues),
                text: document.canonicalText
            )
        } catch {
            throw Failure(Exit.badInput, "\(with): \(error.message)")
        }
    }
}

/// One run of `rebuild`, with all it needs.
struct RebuildRun {
    let command: RebuildCommand
    let projector: Projector
    let chosen: [any Projection]?
    let whatIf: Projector.WhatIf?
    let options: Projector.RebuildOptions
    let progress: SharedProgress
    let log: EventLog

    func rebuild() async throws -> ExitCode {
        let rebuilt: [Projector.Rebuilt]
        if let schema = command.into {
            rebuilt = try await projector.build(
                chosen,
                into: schema,
                upTo: command.to ?? .latest,
                options
            )
        } else {
            rebuilt = try await projector.rebuild(chosen, options)
        }
        progress.finish()
        try print(rebuilt)
        return end(rebuilt)
    }

    func discard() async throws -> ExitCode {
        let gone = try await discarded()
        if command.output.json {
            try Terminal.print(json: ["discarded": gone])
        } else if gone.isEmpty {
            Terminal.write(
                "no tables wait to be promoted; nothing was dropped"
                    + (command.projections.isEmpty
                        ? "" : ": live tables of projections that this program has stay")
            )
        } else {
            Terminal.print("dropped \(gone.joined(separator: ", "))")
        }
        return .success
    }

    private func discarded() async throws -> [String] {
        if let schema = command.into {
            try await projector.discard(schema: schema, options)
            return [schema]
        }
        let retired = projector.retired(among: command.projections)
        let dropped = retired.isEmpty ? [] : try await projector.discard(retired: retired, options)
        guard command.projections.isEmpty || retired.count < command.projections.count else {
            return dropped
        }
        return try await dropped + projector.discard(chosen, options)
    }

    func compare() async throws -> ExitCode {
        let comparison = try await projector.compare(
            chosen,
            then: afterwards,
            whatIf: whatIf,
            catalogue: command.check ? .ofLive : .newest,
            samplesMax: command.samples ?? ProjectionDifference.samplesDefault,
            options
        )
        progress.finish()
        let report = try await report(comparison)
        // Both results are one document.
        let isOneDocument = command.diff && command.promote && command.output.json
        if !isOneDocument { try show(report, promotion: nil) }
        tell(comparison)
        // What is refused as it was is no difference.
        if command.check { return comparison.isClean ? .success : Exit.mismatch }
        let unmatched = comparison.unmatched.map(\.name)
        let end = end(
            comparison.tables,
            told: comparison.tables.filter { !unmatched.contains($0.name) }
        )
        guard command.diff, command.promote else { return end }
        let promoted =
            isOneDocument
            ? try await promote(with: report, after: comparison.tables)
            : try await promote(after: comparison.tables)
        return end == .success ? promoted : end
    }

    var afterwards: Projector.Afterwards {
        if let schema = command.into { return .keep(into: schema) }
        return command.check || whatIf != nil ? .drop : .wait
    }

    // Of tables of which as many refused subscriptions were told already nothing is told again.
    func end(
        _ rebuilt: [Projector.Rebuilt],
        told: [Projector.Rebuilt] = []
    ) -> ExitCode {
        let refused = rebuilt.filter { $0.refused > 0 }
        for table in refused
        where !told.contains(where: { ($0.name, $0.refused) == (table.name, table.refused) }) {
            Terminal.write(
                "rebuild: \(table.name) has no row of \(table.refused) refused "
                    + "\(table.refused == 1 ? "subscription" : "subscriptions"); "
                    + "`SELECT * FROM projection.refused_stream` says which and why"
            )
        }
        return refused.isEmpty ? .success : Exit.mismatch
    }

    private func print(_ rebuilt: [Projector.Rebuilt]) throws {
        if command.output.json {
            try Terminal.print(json: rebuilt.map(RebuiltDocument.init))
            return
        }
        for projection in rebuilt {
            Terminal.print(
                "\(projection.name): \(projection.rows) rows from \(projection.events) events of "
                    + "\(projection.streams) streams, digest \(projection.digest)"
            )
        }
    }
}
