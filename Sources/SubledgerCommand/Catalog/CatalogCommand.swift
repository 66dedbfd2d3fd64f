import ArgumentParser

struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: "Versions of the product catalog, which decides which plan change is an upgrade.",
        discussion: """
            Apple's payloads name products, but not their levels. With a catalog, a plan change is \
            an upgrade, a downgrade or a crossgrade; without one, it is only a change. It also \
            defines what grants the entitlements of your app. A version \
            is never overwritten, and is effective from the time that you name; the first \
            version also applies before that time.
            """,
        subcommands: [
            CatalogImportCommand.self, CatalogListCommand.self, CatalogShowCommand.self,
            CatalogDiffCommand.self,
        ]
    )
}
