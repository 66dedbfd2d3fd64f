package import ArgumentParser

/// Whether tables are fitted to the terminal.
package struct TableWidthOption: ParsableArguments {
    @Flag(help: "On a terminal: do not shorten wide tables.")
    package var wide = false

    /// Creates an option for the parser to fill.
    package init() {}

    /// Configures `Terminal`, which prints the tables of every command.
    package func validate() { Terminal.leaveTablesWide(wide) }
}

/// How results are printed.
package struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document.")
    package var json = false

    @Flag(name: .shortAndLong, help: "Write only errors to stderr.")
    package var quiet = false

    @OptionGroup package var table: TableWidthOption

    /// Creates options for the parser to fill.
    package init() {}
}
