import ArgumentParser

/// Another format of the lines that `feed` and `effects` print.
enum LineFormat: String, CaseIterable, ExpressibleByArgument {
    case cloudevents

    static let help = ArgumentHelp(
        "Print each line as a CloudEvent 1.0 (JSON) whose data is the JSON document.",
        discussion: """
            cloudevents: its id is the same whenever the line is read, its source names the ledger, \
            and its subject is the originalTransactionId.
            """,
        valueName: "format"
    )
}
