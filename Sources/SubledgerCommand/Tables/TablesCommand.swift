import ArgumentParser
import CommandSupport
import Projections

struct TablesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tables",
        abstract: "List, describe, compare, check, promote and discard the tables of projections.",
        discussion: """
            After you change a fold, `tables diff` builds new tables up to the position of the \
            live ones, and shows what differs, for which customers, and which events cause the \
            difference. The new tables wait until `tables promote` brings them up to date and \
            makes them live.
            """,
        subcommands: [List.self, Describe.self, Diff.self, Check.self, Promote.self, Discard.self],
        defaultSubcommand: List.self
    )
}

extension TablesCommand {
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a rebuild would change in the live tables; the new ones wait.",
            discussion: """
                Totals of money use one table, so that no amount counts twice: `movements` if \
                amounts differ there, otherwise the first other table in which they differ. \
                Amounts from further tables are shown, but not added.
                """
        )

        @Flag(help: "Make the new tables live immediately.")
        var promote = false

        @Option(
            help: ArgumentHelp(
                "Keep the new tables in this schema, apart from the live ones.",
                discussion: "`tables promote` then does not apply to them.",
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
                    "--into keeps the new tables apart from the live ones: they are not promoted"
                )
            }
        }

        func run() async throws {
            let action = TableWork.Action.diff(isPromoted: promote)
            try await TableWork(action, tables, build, comparison, schema: into).run()
        }
    }

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare the live tables with a rebuild of them; exit 3 on any difference.",
            discussion: """
                Proves that the live tables and their views equal a rebuild. Exit 3 also if a \
                rebuild refuses other subscriptions than the live tables do, or refuses them for \
                other reasons.
                """
        )

        @OptionGroup var comparison: ComparisonOptions
        @OptionGroup var build: BuildOptions
        @OptionGroup var tables: TableOptions

        func run() async throws { try await TableWork(.check, tables, build, comparison).run() }
    }

    struct Promote: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the waiting tables up to date, and make them live."
        )

        @OptionGroup var tables: TableOptions

        func run() async throws { try await TableWork(.promote, tables).run() }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drop all waiting tables, or the named ones.",
            discussion: """
                Also drops the live table of a named projection that this program does not have: one \
                that it had in an older version, or one of another program. Without names, tables of \
                other programs stay.
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
                throw ValidationError("--schema drops all tables of a schema; leave the names out")
            }
        }

        func run() async throws { try await TableWork(.discard, tables, schema: schema).run() }
    }
}
