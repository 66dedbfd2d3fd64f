import ArgumentParser
import CommandSupport
import EventLog
import Events
import Postgres
import Projector
import Subledger

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create the database schema, or update it to this program's version.",
        discussion: discussion,
        subcommands: [Apply.self, Status.self],
        defaultSubcommand: Apply.self
    )

    /// The text of `migrate --help` and `migrate up --help`.
    private static let discussion = """
        Also creates missing roles, and repairs owners, privileges, triggers and functions that \
        differ from what the ledger requires: after pg_restore into a new cluster, run `migrate` \
        once. If nothing has to change, it takes no lock that blocks readers or appends.

        The number of lanes of a ledger can never be changed, because positions and digests depend \
        on it. One lane is right for a ledger that stays on one PostgreSQL server. Use `--lanes \
        256` if you may want to spread the ledger over several servers later: each lane is a \
        separate log, with its own chain of digests.

        If a table stays in use, `migrate` changes nothing and exits with 75.

        `migrate up --help` lists the options.
        """

    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "up",
            abstract:
                "Apply the missing migrations in one transaction, then build missing indexes.",
            discussion: discussion
        )

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        @Option(
            help: """
                Number of lanes of a new ledger: a power of two up to 1024. It can never be \
                changed. Default: 1.
                """
        )
        var lanes: Int?

        @Option(help: "Hash partitions of the tables of a new ledger; 0 for plain tables.")
        var partitions = 0

        @Flag(
            help: """
                Distribute the tables by lane over the servers of a Citus cluster; a ledger that \
                exists is moved with its rows (article Scaling out).
                """
        )
        var distributed = false

        @Flag(help: "List what would change: apply all changes, then roll them back.")
        var dryRun = false

        @Option(
            help: ArgumentHelp(
                "Seconds to wait for the lock on a table; appends are blocked meanwhile.",
                valueName: "seconds"
            )
        )
        var lockTimeout = Migrator.lockTimeoutSecondsDefault

        func validate() throws {
            guard (1...86_400).contains(lockTimeout) else {
                throw ValidationError("--lock-timeout must be from 1 to 86400, not \(lockTimeout)")
            }
            if let lanes, LaneCount(lanes) == nil {
                throw ValidationError("--lanes must be a power of two from 1 to 1024, not \(lanes)")
            }
            if distributed, partitions > 0 {
                throw ValidationError("--distributed and --partitions exclude each other")
            }
            guard (0...1024).contains(partitions) else {
                throw ValidationError("--partitions must be from 0 to 1024, not \(partitions)")
            }
        }

        func run() async throws {
            let layout = Migrator.Layout(
                lanes: lanes.flatMap(LaneCount.init),
                partitions: partitions,
                isDistributed: distributed
            )
            let settings = try await database.settings(createIfAbsent: !dryRun)
            let changes = try await Migrator.migrate(
                settings,
                layout,
                isDryRun: dryRun,
                lockTimeoutSeconds: lockTimeout,
                notice: { Terminal.write($0) }
            )

            if !dryRun || changes.applied.isEmpty { try await reportViews(settings) }
            let (applied, mended, built, distributed) =
                dryRun
                ? ("would apply", "would repair", "would build", "would create")
                : ("applied", "repaired", "built", "created")
            var lines = changes.applied.map { "\(applied)  \($0.name)" }
            lines += changes.mended.map { "\(mended)  \($0)" }
            lines += changes.indexed.map { "\(built)  index \($0)" }
            lines += changes.distributed.map { "\(distributed)  \($0)" }
            if changes.isEmpty {
                lines = ["the schema is up to date (version \(Migrator.newestVersion))"]
            }
            try output.print(Report(changes, dryRun: dryRun), lines)
        }

        // An owner of the log alone may not read them; `doctor` does.
        private func reportViews(_ settings: ConnectionSettings) async throws {
            do {
                let views = try await DatabaseChecks.projecting(settings) {
                    projector throws(ProjectorError) in try await projector.alteredViews()
                }
                for view in views { Terminal.write("not repaired: \(view.message)") }
            } catch let error as ProjectorError where error.code == .permissionDenied {
                return
            }
        }

        private struct Report: Encodable {
            let applied: [String]
            let mended: [String]
            let indexed: [String]
            let distributed: [String]
            let dryRun: Bool
            let version: Int

            init(_ changes: Migrator.Changes, dryRun: Bool) {
                applied = changes.applied.map(\.name)
                mended = changes.mended
                indexed = changes.indexed
                distributed = changes.distributed
                self.dryRun = dryRun
                version = Migrator.newestVersion
            }
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all migrations, and whether each one is applied."
        )

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let steps = try await Migrator.status(try await database.settings())
            try output.print(
                steps.map(Line.init),
                steps.map { "\($0.isApplied ? "applied" : "missing")  \($0.name)" }
            )
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
