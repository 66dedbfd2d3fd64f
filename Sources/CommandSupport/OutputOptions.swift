import ArgumentParser

/// How results are printed.
package struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document.")
    package var json = false

    @Flag(name: .shortAndLong, help: "Write only errors to stderr.")
    package var quiet = false

    /// Options that the parser fills.
    package init() {}
}
