import ArgumentParser
import CommandSupport
import Projections

struct TablesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tables",
        abstract: "The tables of projections: list them, compare, check, promote, discard.",
        discussion: """
            After a fold was mended: `tables diff` builds new tables up to where the live ones \
            stand and shows what is otherwise, for whom and by which events; they wait, and \
            `tables promote` brings them up to date and puts them live.
            """,
        subcommands: [List.self, Diff.self, Check.self, Promote.self, Discard.self],
        defaultSubcommand: List.self
    )
}

extension TablesCommand {
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a rebuild would change in the live tables; the new ones wait.",
            discussion: """
                Money is told of one table, so that no sum counts twice: of `movements` where \
                amounts differ there, else of the first other table in which they do. What further \
                tables say of it stands beside, and is not to be added.
                """
        )

        @Flag(help: "Put the new tables live at once.")
        var promote = false

        @Option(
            help: ArgumentHelp(
                "Keep the new tables in this schema, beside.",
                discussion: "They do not wait for `tables promote` then.",
                valueName: "schema"
            ),
            transform: SchemaName.checked
        )
        var into: String?

        @OptionGroup var comparison: ComparisonOptions
        @OptionGroup var build: BuildOptions
        @OptionGroup var tables: TableOptions

        func validate() throws {
            guard into == nil || !promote else {
                throw ValidationError(
                    "--into keeps tables beside the live ones: they are not promoted"
                )
            }
        }

        func run() async throws {
            var work = TableWork(.diff(isPromoted: promote), tables)
            work.schema = into
            work.comparison = comparison
            work.connections = build.connections
            try await work.run()
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare the live tables with a rebuild of them; exit 3 on any difference.",
            discussion: """
                Proves that the live tables and their views are what a rebuild makes. Exit 3 also \
                where the live tables refuse other subscriptions, or for other reasons.
                """
        )

        @OptionGroup var comparison: ComparisonOptions
        @OptionGroup var build: BuildOptions
        @OptionGroup var tables: TableOptions

        func run() async throws {
            var work = TableWork(.check, tables)
            work.comparison = comparison
            work.connections = build.connections
            try await work.run()
        }
    }

    struct Promote: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the tables that wait up to date, and put them live."
        )

        @OptionGroup var tables: TableOptions

        func run() async throws { try await TableWork(.promote, tables).run() }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drop the tables that wait, or those named.",
            discussion: """
                Of a projection that this program does not have any more, the live table.
                """
        )

        @Option(
            help: ArgumentHelp("Drop all tables of this schema.", valueName: "schema"),
            transform: SchemaName.checked
        )
        var schema: String?

        @OptionGroup var tables: TableOptions

        func validate() throws {
            guard schema == nil || tables.projections.isEmpty else {
                throw ValidationError("--schema drops all tables of it; leave the names out")
            }
        }

        func run() async throws {
            var work = TableWork(.discard, tables)
            work.schema = schema
            try await work.run()
        }
    }
}
