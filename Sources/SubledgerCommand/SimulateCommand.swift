import AppStoreSimulator
import ArgumentParser
import Events
import Foundation

struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Write the signed payloads of a synthetic App Store.",
        discussion: """
            Everything follows from the seed, byte for byte. The payloads are signed by a test \
            root, written beside them as root.der: ingest them with --root-certificate. Use --truth \
            to have what the periods of each subscription must come out as.
            """
    )

    @Option(help: "Number of subscriptions.")
    var subscriptions = 200

    @Option(help: "The seed; the same seed gives the same bytes.")
    var seed: UInt64 = 1

    @Option(help: "The folder to write to; made where it is missing.")
    var out: String

    @Option(help: "Production or Sandbox.")
    var environment = "Production"

    @Option(help: "Write the true periods to this file, one JSON object a subscription.")
    var truth: String?

    @Flag(help: "Write one file a payload instead of NDJSON.")
    var files = false

    @OptionGroup var output: OutputOptions

    /// Most subscriptions of one simulation: what its ids can tell apart.
    static let subscriptionsMax = 1_000_000_000

    func validate() throws {
        guard (1...SimulateCommand.subscriptionsMax).contains(subscriptions) else {
            throw ValidationError(
                "--subscriptions must be from 1 to \(SimulateCommand.subscriptionsMax)"
            )
        }
    }

    func run() throws {
        let simulator = AppStoreSimulator(seed: seed, environment: Environment(environment))
        var writer = try SimulationWriter(folder: out, isOneFileEach: files)
        try writer.write(root: simulator.store.pki.rootDER)
        let truthFile = try truth.map(SimulationWriter.create)
        var progress = Progress("simulate", isQuiet: output.quiet)
        for (index, life) in simulator.lives(subscriptions).enumerated() {
            for delivery in life.deliveries() { try writer.write(delivery) }
            if let truthFile {
                let line = try Terminal.text(json: TruthLine(life))
                try truthFile.write(contentsOf: Data((line + "\n").utf8))
            }
            progress.report(index + 1, "subscriptions")
        }
        progress.finish()
        try writer.finish()
        if output.json {
            try Terminal.print(
                json: Summary(subscriptions: subscriptions, payloads: writer.payloads, seed: seed)
            )
        } else {
            Terminal.print(
                "\(writer.payloads) payloads of \(subscriptions) subscriptions in \(out); their "
                    + "root is \(out)/root.der"
            )
        }
    }

    private struct Summary: Encodable {
        let subscriptions: Int
        let payloads: Int
        let seed: UInt64
    }

    /// What really happened to one subscription, as `periods --json` must tell it.
    private struct TruthLine: Encodable {
        let originalTransactionId: String
        let environment: String
        let kinds: [String]
        let periods: [Row]
        let active: [[Int64]]

        struct Row: Encodable {
            let productId: String
            let purchaseDate: Int64
            let expiresDate: Int64
            let validFrom: Int64
            let validTo: Int64
            let kind: String
            let endReason: String
        }

        init(_ life: SubscriptionLife) {
            originalTransactionId = life.originalTransactionId
            environment = life.store.environment.word
            kinds = life.kinds.map(\.rawValue).sorted()
            periods = life.periods.map {
                Row(
                    productId: $0.productId,
                    purchaseDate: $0.purchaseDate.milliseconds,
                    expiresDate: $0.expiresDate.milliseconds,
                    validFrom: $0.validFrom.milliseconds,
                    validTo: $0.validTo.milliseconds,
                    kind: $0.kind.rawValue,
                    endReason: $0.endReason.rawValue
                )
            }
            active = life.active.map { [$0.from.milliseconds, $0.to.milliseconds] }
        }
    }
}

/// Writes payloads to a folder: one NDJSON file a channel, or a file each.
struct SimulationWriter {
    private let folder: String
    private let isOneFileEach: Bool
    private var handles: [Delivery.Channel: FileHandle] = [:]
    private(set) var payloads = 0

    init(folder: String, isOneFileEach: Bool) throws {
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        self.folder = folder
        self.isOneFileEach = isOneFileEach
    }

    func write(root: [UInt8]) throws {
        try Data(root).write(to: URL(fileURLWithPath: "\(folder)/root.der"))
    }

    mutating func write(_ delivery: Delivery) throws {
        payloads += 1
        if isOneFileEach {
            let number = String(String(payloads + 1_000_000_000).dropFirst())
            let path = "\(folder)/\(number)-\(delivery.channel.rawValue).json"
            try Data(delivery.payload).write(to: URL(fileURLWithPath: path))
            return
        }
        let handle: FileHandle
        if let open = handles[delivery.channel] {
            handle = open
        } else {
            handle = try SimulationWriter.create(
                "\(folder)/\(delivery.channel.rawValue).ndjson"
            )
            handles[delivery.channel] = handle
        }
        try handle.write(contentsOf: Data(delivery.payload + [UInt8(ascii: "\n")]))
    }

    func finish() throws {
        for handle in handles.values { try handle.close() }
    }

    /// A new, empty file; what was there is gone.
    static func create(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw Failure(Exit.permission, "\(path) cannot be written") }
        return handle
    }
}
