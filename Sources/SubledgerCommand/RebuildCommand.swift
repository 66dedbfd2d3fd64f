import ArgumentParser
import EventLog
import Events
import Foundation
import Projections
import Projector
import Subledger

struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Make the tables of projections anew from the log.",
        discussion: """
            New tables are filled beside the live ones and put in their place in one short \
            transaction: readers of the views in schema `projection` never see half of them.
            """
    )

    @Argument(help: "Names of projections; all where none is named.")
    var projections: [String] = []

    @Option(help: "Connections that read and fold at the same time. Default: one a processor.")
    var jobs: Int?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let jobs, !(1...Projector.jobsMax).contains(jobs) {
            throw ValidationError("--jobs must be from 1 to \(Projector.jobsMax), not \(jobs)")
        }
    }

    func run() async throws {
        let settings = try await database.settings()
        let log = try await EventLog.open(settings)
        let progress = SharedProgress("rebuild", isQuiet: output.quiet)
        let context = FoldContext(catalogues: try await CatalogueStore(log: log).history())
        let projector = Projector(log: log, settings: settings, context: context)
        let chosen = try projector.projections(named: projections)
        var options = Projector.RebuildOptions()
        options.jobs = jobs ?? ProcessInfo.processInfo.activeProcessorCount
        options.progress = { progress.report($0, "events") }
        let rebuilt = try await projector.rebuild(chosen, options)
        progress.finish()
        await log.close()
        if output.json {
            try Terminal.print(json: rebuilt.map(Line.init))
            return
        }
        for projection in rebuilt {
            Terminal.print(
                "\(projection.name): \(projection.rows) rows from \(projection.events) events of "
                    + "\(projection.streams) streams, digest \(projection.digest)"
            )
        }
    }

    private struct Line: Encodable {
        let name: String
        let version: Int
        let rows: Int
        let events: Int
        let streams: Int
        let digest: String
        let positions: [String: Int64]

        init(_ rebuilt: Projector.Rebuilt) {
            name = rebuilt.name
            version = rebuilt.version
            rows = rebuilt.rows
            events = rebuilt.events
            streams = rebuilt.streams
            digest = rebuilt.digest.hex
            positions = Dictionary(
                uniqueKeysWithValues: rebuilt.positions.map { ("\($0.key)", $0.value) }
            )
        }
    }
}
