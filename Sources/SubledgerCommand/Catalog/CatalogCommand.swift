import ArgumentParser

struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: "What the app sells, in versions: levels tell an upgrade from a downgrade.",
        discussion: """
            Apple's payloads name products, but not which one is the higher level. With a \
            catalog a change of plan is an upgrade, a downgrade or a crossgrade; without one it \
            is only a change. A version is never overwritten and holds from the instant you name; \
            before the first one, the first holds.
            """,
        subcommands: [
            CatalogImportCommand.self, CatalogListCommand.self, CatalogShowCommand.self,
            CatalogDiffCommand.self,
        ]
    )
}
