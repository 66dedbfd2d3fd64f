import AppStoreSimulator
import ArgumentParser
import CommandSupport
import Events
import Foundation
import Subledger

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Write the signed payloads of a synthetic App Store.",
        discussion: """
            The same seed gives the same output, byte for byte. The payloads are signed by a test \
            root, written next to them as root.der, for `subledger ingest --root-certificate`. The \
            catalog is written as catalog.storekit, for `subledger catalog import`. --truth writes \
            the periods that the fold must return for each subscription.

            The same subscriptions are available in every format that Apple has used (--format):
              v2              App Store Server Notifications V2, and what restores send:
                              notification.ndjson, history.ndjson
              history         App Store Server API responses, requested after every change:
                              history.ndjson, statuses.ndjson
              verify-receipt  verifyReceipt responses, requested after every change:
                              verify-receipt.ndjson
              app-receipt     the signed receipts of a device, after every purchase:
                              app-receipt/SUBSCRIPTION-NUMBER.der
              v1              App Store Server Notifications V1:
                              v1-notification.ndjson

            Only v2 and history are complete. An app receipt contains no grace periods and nothing \
            that happened after it was created; verifyReceipt and V1 contain no prices, and only \
            the receipt inside them is signed.

            With --extras, some customers buy seats for a group or an organisation, buy bundles \
            and suites, or accept an offer instead of cancelling. Only v2 and history contain \
            what is new in these; where Apple has not published how a fact is written, the \
            article Apple's Data: Seats states what the payloads contain.

            --serve PORT serves a store of these subscriptions over HTTP instead: the App Store \
            Server API with its tokens, pages and rate limits, verifyReceipt, and notifications to \
            --notify URL with Apple's retries. Production is at /, the sandbox at /sandbox. The \
            key for tokens is written as AuthKey.p8. /control/truth has the true periods so far. \
            With --subscriptions 0 the store begins empty: POST /control/subscriptions buys, and \
            refunds, changes and failing charges are commands too (article Asking Apple).

            """
    )

    @Option(help: "Number of subscriptions.")
    var subscriptions = 200

    @Option(
        help: ArgumentHelp(
            "The seed; the same seed gives the same bytes.",
            discussion: """
                It also decides ids and keys: a second store beside the first needs another seed, \
                so that their subscriptions do not have the same ids.
                """
        )
    )
    var seed: UInt64 = 1

    @Option(help: "The folder to write to; created if missing.")
    var out: String

    @Option(help: "Production or Sandbox.")
    var environment = "Production"

    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "What to write: one format, several separated by commas, or all. (default: v2)",
            valueName: "format"
        )
    )
    var formats: [SimulationFormats] = []

    @Option(
        name: .customLong("extras"),
        help: ArgumentHelp(
            "What the app sells since 2026: seats, bundles, retention, several separated by "
                + "commas, or all. Default: none of these.",
            valueName: "extras"
        )
    )
    var extras: [SimulationExtras] = []

    @Option(help: "The shared secret in V1 notifications.")
    var sharedSecret = SubscriptionLife.sharedSecret

    @Option(help: "Write the true periods to this file, one JSON object per subscription.")
    var truth: String?

    @Flag(help: "Write one file per payload instead of NDJSON; app receipts always are.")
    var files = false

    @Flag(
        help: """
            Write the payloads as they occur in logs: compressed, after prefixes, in tables, dumps \
            and exports of databases. `ingest` reads the same payloads from them.
            """
    )
    var asLogs = false

    @OptionGroup(title: "A store over HTTP") var store: ServedStoreOptions
    @OptionGroup var output: OutputOptions

    /// The most subscriptions of one simulation, which its ids can distinguish.
    static let subscriptionsMax = 1_000_000_000

    func validate() throws {
        // A store may begin empty, to be filled by commands.
        let least = store.serve == nil ? 1 : 0
        guard (least...SimulateCommand.subscriptionsMax).contains(subscriptions) else {
            throw ValidationError(
                "--subscriptions must be from \(least) to \(SimulateCommand.subscriptionsMax)"
            )
        }
        guard !files || !asLogs else {
            throw ValidationError("--files and --as-logs cannot be combined")
        }
        guard store.serve != nil else { return }
        guard !files, !asLogs, formats.isEmpty, truth == nil, environment == "Production" else {
            throw ValidationError(
                "--serve writes no payloads: leave out --format, --files, --as-logs, --truth and "
                    + "--environment"
            )
        }
        guard subscriptions <= ServedStoreOptions.subscriptionsMax else {
            throw ValidationError(
                "--serve serves at most \(ServedStoreOptions.subscriptionsMax) subscriptions"
            )
        }
    }

    func run() async throws {
        if let port = store.serve { return try await store.run(port: port, self) }

        let simulator = AppStoreSimulator(
            seed: seed,
            environment: StoreEnvironment(environment),
            extras: chosenExtras
        )
        var writer = try SimulationWriter(folder: out, isOneFileEach: files, asLogs: asLogs)
        try writer.write(root: simulator.store.pki.rootDER)
        try writer.write(catalog: SimulatedCatalog.storekit)
        let truthFile = try truth.map(SimulationWriter.create)
        let progress = Progress("simulate", isQuiet: output.quiet)

        for (index, life) in simulator.lives(subscriptions).enumerated() {
            for format in SimulationFormat.chosen(formats) {
                let deliveries = format.deliveries(of: life, sharedSecret: sharedSecret)
                for (number, delivery) in deliveries.enumerated() {
                    try writer.write(delivery, of: life, number: number + 1)
                }
            }
            if let truthFile {
                let line = try Terminal.text(json: TruthLine(life))
                try truthFile.write(contentsOf: Data((line + "\n").utf8))
            }
            progress.report(index + 1, "subscription")
        }
        progress.finish()
        try writer.finish()
        try printSummary(writer)
    }

    /// What the app sells besides subscriptions for one customer.
    var chosenExtras: AppStoreSimulator.Extras {
        extras.reduce(into: []) { $0.formUnion($1.extras) }
    }

    private func printSummary(_ writer: SimulationWriter) throws {
        if output.json {
            try Terminal.print(
                json: Summary(
                    subscriptions: subscriptions,
                    payloads: writer.payloads,
                    seed: seed,
                    formats: SimulationFormat.chosen(formats).map(\.rawValue),
                    written: writer.places
                )
            )
            return
        }
        Terminal.print(
            "\(counted(writer.payloads, "payload")) of "
                + "\(counted(subscriptions, "subscription")) in \(out); the root certificate is "
                + "\(out)/root.der, the catalog \(out)/catalog.storekit"
        )
        for place in writer.places { Terminal.print("  \(place.path): \(place.payloads)") }
    }

    private struct Summary: Encodable {
        let subscriptions: Int
        let payloads: Int
        let seed: UInt64
        let formats: [String]
        let written: [SimulationWriter.Place]
    }

    /// What really happened to one subscription, which `periods --json` must match.
    private struct TruthLine: Encodable {
        let originalTransactionId: String
        let environment: String
        let kinds: [String]
        let periods: [SimulatedPeriod]
        let active: [[Instant]]

        init(_ life: SubscriptionLife) {
            originalTransactionId = life.originalTransactionId
            environment = life.store.environment.word
            kinds = life.kinds.map(\.rawValue).sorted()
            periods = life.periods
            active = life.active.map { [$0.from, $0.to] }
        }
    }
}
