import ArgumentParser
import Catalog
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct CatalogListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Every version of the catalog, by number."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let versions = try await CatalogVersions.read(database)
        if output.json {
            try Terminal.print(json: versions.map(CatalogVersionDocument.init))
            return
        }
        guard !versions.isEmpty else {
            Terminal.print("no catalog was imported")
            return
        }
        var table = TextTable([
            "version", "effective from", "imported", "subscriptions", "other products", "source",
        ])
        for version in versions {
            table.add([
                "\(version.record.version)", version.record.effectiveFrom.clock,
                version.record.recordedAt.clock, "\(version.catalog.subscriptions.count)",
                "\(version.catalog.otherProducts.count)", version.record.source,
            ])
        }
        Terminal.print(table.text)
    }
}
