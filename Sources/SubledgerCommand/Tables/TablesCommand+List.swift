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
            abstract: "Every table of a projection: which fold made it, and how far it goes.",
            discussion: """
                The states are:

                  live     behind the view of schema projection
                  ready    made by `tables diff`, waiting for `tables promote`
                  beside   kept by `rebuild --into`
                  fixed    kept by `rebuild --into` as of --to
                  filling  being rebuilt; where no rebuild runs, one was killed, and the next drops \
                it

                `follow` brings live, ready and beside on, but none that another policy made \
                (what-if, kept by `rebuild --with --into`), and none of another fold.
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
                try Terminal.print(json: tables.map(TableDocument.init))
                return
            }
            guard !tables.isEmpty else {
                Terminal.write("there are no tables yet; `subledger rebuild` makes them")
                return
            }
            var text = TextTable([
                "projection", "state", "schema", "version", "rows", "lag", "refused", "digest",
            ])
            for table in tables {
                text.add([
                    table.name, table.state.rawValue, table.schema,
                    "\(table.version)\(remark(table))", "\(table.rows)",
                    "\(table.lag)", "\(table.refused)", "\(table.digest.hex.prefix(12))",
                ])
            }
            Terminal.print(text.text)
            let retired = tables.filter { $0.state == .live && !$0.isKnown }.map(\.name)
            if !retired.isEmpty {
                Terminal.write(
                    "this program does not keep up what it does not have; where no other does either, "
                        + "`subledger tables discard \(retired.joined(separator: " "))` drops it"
                )
            }
            if tables.contains(where: {
                $0.state == .live && $0.isKnown && !$0.isCurrent && $0.policy == nil
            }) {
                Terminal.write(
                    "other folds than those of this program made some live tables; "
                        + "`subledger tables diff` shows what a rebuild would change"
                )
            }
        }

        private func remark(_ table: Projector.Table) -> String {
            if table.policy != nil { return " (what-if)" }
            guard table.isKnown else { return " (not known here)" }
            return table.isCurrent ? "" : " (other fold)"
        }
    }
}
