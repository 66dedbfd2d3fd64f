import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Projector
import Subledger

extension TablesCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the tables of projections, with their folds and positions.",
            discussion: """
                The states are:

                  live     shown by the view of the same name in schema projection
                  ready    built by `tables diff`, waiting for `tables promote`
                  kept     next to the live one, in the schema of `rebuild --into`
                  pinned   the same, up to the position of `rebuild --to`
                  filling  being rebuilt, or left by a killed rebuild; the next rebuild drops it

                `follow` updates live, ready and kept tables, except those of another policy \
                (what-if, kept by `rebuild --with --into`) or of another fold.
                """
        )

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let settings = try await database.settings()
            var options = EventLog.Options()
            options.readersMax = 1
            let log = try await EventLog.open(settings, options)
            let projector = Projector(log: log, settings: settings)
            let tables = try await projector.tables()
            await log.close()

            if output.json {
                try Terminal.print(json: tables)
                return
            }
            guard !tables.isEmpty else {
                Terminal.write("no tables exist yet; `subledger rebuild` creates them")
                return
            }

            var text = TextTable([
                "projection", "state", "schema", "version", "rows", "lag", "refused", "digest",
            ])
            for table in tables {
                text.add([
                    table.name, table.state.rawValue, table.schema,
                    "\(table.version)\(table.remark)", "\(table.rows)",
                    "\(table.lag)", "\(table.refused)", "\(table.digest.hex.prefix(12))",
                ])
            }
            Terminal.print(text.text)

            for notice in tables.notices { Terminal.write(notice) }
        }
    }
}
