import ArgumentParser
import Catalog
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

struct CatalogShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "What one version says, and what each change of plan is by it."
    )

    @Option(help: "The version's number. (default: the newest)")
    var version: Int?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let versions = try await CatalogVersions.read(database)
        let found = try CatalogVersions.find(version, in: versions)
        if output.json {
            try Terminal.print(json: CatalogShowDocument(found))
        } else {
            printTables(found)
        }
    }

    private func printTables(_ version: CatalogStore.Version) {
        let record = version.record
        Terminal.print(
            "version \(record.version), effective from \(record.effectiveFrom.clock), imported "
                + "\(record.recordedAt.clock) from \(record.source)"
        )
        if !version.catalog.subscriptions.isEmpty {
            var table = TextTable(["group", "level", "period", "price", "product", "offers"])
            for group in PlanChangeMatrix(version.catalog).groups {
                for product in group.subscriptions {
                    table.add([
                        product.subscriptionGroupIdentifier, "\(product.level)",
                        "\(product.duration)", product.prices.first?.summary ?? "–",
                        product.productId,
                        product.offers.map(\.summary).joined(separator: ", "),
                    ])
                }
            }
            Terminal.print(table.text)
        }
        for product in version.catalog.otherProducts {
            Terminal.print(" \(product.type)  \(product.productId)")
        }
        CatalogWording.print(PlanChangeMatrix(version.catalog))
    }
}

struct CatalogDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "What one version says otherwise than another.",
        discussion: "Without numbers: the newest version against the one imported before it."
    )

    @Argument(help: ArgumentHelp("Two versions, the older first.", valueName: "version"))
    var numbers: [Int] = []

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard numbers.isEmpty || numbers.count == 2 else {
            throw ValidationError("name two versions, or none for the newest two")
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
        if difference.isEmpty { Terminal.print("the same") }
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
                "there are no two versions of the catalog to compare, but \(versions.count); "
                    + "`subledger catalog import` adds one"
            )
        }
        return (versions[versions.count - 2], versions[versions.count - 1])
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
