import ArgumentParser
import Catalog
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Subledger

struct CatalogImportCommand: AsyncParsableCommand, ZonedCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import a file as the next version of the catalog.",
        discussion: """
            Accepts a .storekit file from Xcode, or a saved response of the App Store Connect API \
            (/v1/apps/ID/subscriptionGroups?include=subscriptions), or several responses in one \
            JSON array. Prints the differences from the previous version, and how each plan change \
            is now classified. A file with the content of the newest version adds nothing.

            Also accepts what grants your app's entitlements, for `subledger entitlements`: \
            {"entitlements": {"pro": {"products": ["com.example.lifetime"], "groups": ["Pro"]}}}, \
            where a group is Apple's identifier or its reference name. Such a file leaves the \
            products as they are, and a file of products leaves the entitlements as they are.
            """
    )

    @Argument(help: "The file, or - for stdin.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "The time from which this version applies; may be in the past. (default: now)",
            discussion: "If given, a version that differs only in this time is also added.",
            valueName: "instant"
        ),
        transform: Clock.time
    )
    var effectiveFrom: AskedTime?

    @OptionGroup var zone: ZoneOption

    @Flag(help: "Print what would happen, and add nothing.")
    var dryRun = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let content = try CatalogImportCommand.read(file)
        let log = try await database.openLog()
        let result = try await add(content, to: log)
        await log.close()
        for warning in result.content.warnings {
            Terminal.write("warning  \(warning.message) [\(warning.code.rawValue)]")
        }
        try print(CatalogImportDocument(result, isDryRun: dryRun), result)
    }

    private func add(
        _ content: CatalogContent,
        to log: EventLog
    ) async throws -> CatalogStore.Import {
        let now = Instant.systemClock()
        return try await CatalogStore(log: log).add(
            content,
            effectiveFrom: zone.instant(effectiveFrom, "--effective-from", now: now),
            source: file,
            recordedAt: now,
            isDryRun: dryRun
        )
    }

    private func print(
        _ document: CatalogImportDocument,
        _ result: CatalogStore.Import
    ) throws {
        if output.json {
            try Terminal.print(json: document)
            return
        }
        let record = result.version.record
        guard result.isAdded else {
            Terminal.print(
                "version \(record.version), effective from \(record.effectiveFrom.clock), has "
                    + "the same content: nothing was added"
            )
            return
        }
        let catalog = result.version.catalog
        Terminal.print(
            (dryRun ? "would be version " : "version ")
                + "\(record.version), effective from \(record.effectiveFrom.clock): "
                + "\(counted(catalog.subscriptions.count, "subscription")), "
                + "\(catalog.otherProducts.count) other products"
                + (catalog.entitlements.isEmpty
                    ? "" : ", \(counted(catalog.entitlements.count, "entitlement"))")
        )
        CatalogWording.print(result.difference)
        CatalogWording.print(PlanChangeMatrix(catalog))
    }

    private static func read(_ path: String) throws -> CatalogContent {
        let bytes = try WholeFile.bytes(
            of: path,
            "the catalog",
            upTo: CatalogFile.byteCountMax,
            takesStandardInput: true
        )
        do throws(CatalogError) {
            return try CatalogFile.read(bytes)
        } catch {
            throw Failure(Exit.badInput, "\(path): \(error)")
        }
    }
}
