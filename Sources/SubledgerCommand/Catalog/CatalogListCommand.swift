import ArgumentParser
import Catalog
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct CatalogList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Every version of the catalog, by number."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let versions = try await CatalogVersions.read(database)
        if output.json {
            try Terminal.print(json: versions.map(CatalogVersionLine.init))
            return
        }
        guard !versions.isEmpty else {
            Terminal.print("no catalog was imported")
            return
        }
        var table = TextTable([
            "version", "effective from", "imported", "subscriptions", "others", "source",
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

/// Finds versions of the catalog.
enum CatalogVersions {
    static func read(_ database: DatabaseOptions) async throws -> [CatalogStore.Version] {
        let log = try await database.openLog()
        let versions = try await CatalogStore(log: log).versions()
        await log.close()
        return versions
    }

    /// The version of that number; the newest for nil.
    static func find(
        _ number: Int?,
        in versions: [CatalogStore.Version]
    ) throws -> CatalogStore.Version {
        guard let newest = versions.last else {
            throw Failure(
                Exit.notFound,
                "no catalog was imported; `subledger catalog import FILE` does it"
            )
        }
        guard let number else { return newest }
        guard let found = versions.first(where: { $0.record.version == number }) else {
            throw Failure(
                Exit.notFound,
                "there is no version \(number) of the catalog; `subledger catalog list` shows "
                    + "those from 1 to \(newest.record.version)"
            )
        }
        return found
    }
}
