import ArgumentParser
import Catalog
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct CatalogDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "The differences between two versions.",
        discussion: "Default: the newest version and the one imported before it."
    )

    @Argument(help: ArgumentHelp("Two versions, the older first.", valueName: "version"))
    var numbers: [Int] = []

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard numbers.isEmpty || numbers.count == 2 else {
            throw ValidationError("expected two versions, or none to compare the newest two")
        }
    }

    func run() async throws {
        let versions = try await CatalogVersions.read(database)
        let (old, new) = try pair(versions)
        let difference = CatalogDifference(from: old.catalog, to: new.catalog)
        if output.json {
            try Terminal.print(
                json: CatalogDifferenceDocument(
                    difference,
                    from: old.record.version,
                    to: new.record.version
                )
            )
            return
        }
        Terminal.print("version \(old.record.version) → version \(new.record.version)")
        if difference.isEmpty { Terminal.print("no differences") }
        CatalogWording.print(difference)
    }

    private func pair(
        _ versions: [CatalogStore.Version]
    ) throws -> (CatalogStore.Version, CatalogStore.Version) {
        if numbers.count == 2 {
            return (
                try CatalogVersions.find(numbers[0], in: versions),
                try CatalogVersions.find(numbers[1], in: versions)
            )
        }
        guard versions.count >= 2 else {
            throw Failure(
                Exit.notFound,
                "a comparison needs two versions of the catalog, which has "
                    + "\(versions.count); `subledger catalog import` adds one"
            )
        }
        return (versions[versions.count - 2], versions[versions.count - 1])
    }
}
