import ArgumentParser
import EventLog
import Events
import Postgres

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database's schema to this version.",
        subcommands: [Apply.self, Status.self],
        defaultSubcommand: Apply.self
    )

    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "up",
            abstract: "Apply the migrations that are missing, in one transaction."
        )

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        @Option(
            help: "Lanes of a new ledger: a power of two up to 1024; fixed for ever. Default 1."
        )
        var lanes: Int?

        @Option(help: "Hash partitions of the tables of a new ledger; 0 for plain tables.")
        var partitions = 0

        @Flag(help: "Do all of it, then roll back.")
        var dryRun = false

        func validate() throws {
            if let lanes, LaneCount(lanes) == nil {
                throw ValidationError("--lanes must be a power of two from 1 to 1024, not \(lanes)")
            }
            guard (0...1024).contains(partitions) else {
                throw ValidationError("--partitions must be from 0 to 1024, not \(partitions)")
            }
        }

        func run() async throws {
            let layout = Migrator.Layout(
                lanes: lanes.flatMap(LaneCount.init),
                partitions: partitions
            )
            let applied = try await Migrator.migrate(
                try await database.settings(),
                layout,
                isDryRun: dryRun
            )
            if output.json {
                try Terminal.print(
                    json: Report(
                        applied: applied.map(\.name),
                        dryRun: dryRun,
                        version: Migrator.newestVersion
                    )
                )
                return
            }
            for step in applied {
                Terminal.print("\(dryRun ? "would apply" : "applied")  \(step.name)")
            }
            if applied.isEmpty {
                Terminal.print("the schema is up to date (version \(Migrator.newestVersion))")
            }
        }

        private struct Report: Encodable {
            let applied: [String]
            let dryRun: Bool
            let version: Int
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say which migrations the database has."
        )

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let steps = try await Migrator.status(try await database.settings())
            if output.json {
                try Terminal.print(json: steps.map(Line.init))
                return
            }
            for step in steps {
                Terminal.print("\(step.isApplied ? "applied" : "missing")  \(step.name)")
            }
        }

        private struct Line: Encodable {
            let version: Int
            let name: String
            let applied: Bool

            init(_ step: Migrator.Step) {
                version = step.version
                name = step.name
                applied = step.isApplied
            }
        }
    }
}
