import ArgumentParser
import Catalog
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct CatalogShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "The content of one version, and how it classifies each plan change."
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

        for product in version.catalog.subscriptions where product.contents != .itself {
            let parts = product.contents.productIds.joined(separator: ", ")
            Terminal.print(
                " \(product.contents.type)  \(product.productId): "
                    + (parts.isEmpty ? "its products are not listed" : parts)
            )
        }
        for product in version.catalog.otherProducts {
            Terminal.print(" \(product.type)  \(product.productId)")
        }
        for (name, grants) in version.catalog.entitlements.sorted(by: { $0.key < $1.key }) {
            Terminal.print(" Entitlement  \(name): \(grants.summary)")
        }
        CatalogWording.print(PlanChangeMatrix(version.catalog))
    }
}
