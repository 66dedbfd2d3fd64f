import ArgumentParser

/// Whether an answer is printed as CSV, and whether for Excel.
struct CSVOptions: ParsableArguments {
    @Flag(help: "Print CSV (RFC 4180): a header, UTC times, money in thousandths.")
    var csv = false

    @Flag(
        help: ArgumentHelp(
            "Print CSV for Excel, which neither converts ids in it nor runs text.",
            discussion: """
                Text is written as ="2000000123", except for words of letters; money is in units \
                of the currency, in columns without _milliunits; UTF-8 with a byte order mark. \
                Numbers have a decimal point: where yours has a comma, open the file by Data, From \
                Text/CSV.
                """
        )
    )
    var excel = false

    /// Whether CSV is printed.
    var isCSV: Bool { csv || excel }
}
