import ArgumentParser
import CommandSupport
import Subledger

extension TablesCommand {
    struct Describe: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what the tables of schema analytics and their columns mean.",
            discussion: """
                The tables and types are those of the database. --dbt prints a file of sources for \
                dbt, which you write to models/sources.yml of your project; print it again after \
                an update of this program.
                """
        )

        @Flag(help: "Print a file of sources for dbt, in YAML.")
        var dbt = false

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !dbt || !output.json else {
                throw ValidationError("--dbt and --json exclude each other")
            }
        }

        func run() async throws {
            let ledger = try await database.openLedger(isQuiet: output.quiet)
            let schema = try await ledger.schemaDescription()
            await ledger.close()
            if dbt { Terminal.put(schema.dbt) } else { try output.print(schema, schema.text) }
        }
    }
}
