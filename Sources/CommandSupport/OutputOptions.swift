package import ArgumentParser

/// Whether tables fit the terminal.
package struct TableWidthOption: ParsableArguments {
    @Flag(help: "On a terminal: do not shorten wide tables.")
    package var wide = false

    /// An option that the parser fills.
    package init() {}

    /// Tells `Terminal`, which prints tables of every command.
    package func validate() { Terminal.leaveTablesWide(wide) }
}

/// How results are printed.
package struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document.")
    package var json = false

    @Flag(name: .shortAndLong, help: "Write only errors to stderr.")
    package var quiet = false

    @OptionGroup package var table: TableWidthOption

    /// Options that the parser fills.
    package init() {}
}
