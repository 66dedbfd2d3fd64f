import AppStore
import AppStoreSimulator
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Postgres

/// `subledger-bench`: compares the ledger with the best that the machine can do without it.
@main
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subledger-bench",
        abstract: "Compare the ledger's speed with the best this machine achieves without it.",
        subcommands: [
            Append.self, Ingest.self, Read.self, Verify.self, Rebuild.self, Effects.self,
            Reports.self, Serve.self,
        ]
    )

    struct Append: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Durable appends against plain INSERTs, batches against COPY BINARY.",
            discussion: """
                Works in a separate database, subledger_bench, on the configured server. Each \
                round measures the ledger and plain PostgreSQL one after the other; ratios are \
                taken within a round, and medians over the rounds are printed. Plain means: the \
                same event rows into a table with the same columns, constraints and indexes, by \
                as many connections as there are callers, without evidence, order or chain; for \
                batches, COPY BINARY of the same event and evidence rows. Use a release build.
                """
        )

        @Option(help: "Rounds; ratios are medians over them.")
        var rounds = 3

        @Option(help: "Appends by one caller in a round; more callers append more.")
        var appends = 1000

        @Option(help: "Batches of 1000 facts in a round.")
        var batches = 20

        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard rounds >= 1, appends >= 1, batches >= 1 else {
                throw ValidationError("--rounds, --appends and --batches must be at least 1")
            }
        }

        func run() async throws {
            let scratch = try await database.scratch()
            output.note("making and verifying payloads")
            let material = try BenchMaterial(appends: appends, batches: batches)
            var results = BenchResults()
            for round in 1...rounds {
                output.note("round \(round) of \(rounds)")
                try await scratch.make()
                let run = AppendBench(settings: scratch.settings, material: material)
                try await run.measure(into: &results)
            }
            try await scratch.drop()
            try output.print(results.table, json: results.summary)
        }
    }
}

/// Verified payloads to append: created once, used in every round on a new ledger.
struct BenchMaterial {
    /// The numbers of concurrent callers that are measured.
    static let callers = [1, 8, 32, 128]

    /// Facts in a batch.
    static let batchFacts = 1000

    /// Payloads of one signed transaction each, by number of callers.
    private(set) var singles: [Int: [Verified<[Fact]>]] = [:]
    /// The facts from Server API responses of a thousand signed transactions each.
    private(set) var batches: [[Verified<[Fact]>]] = []

    /// The number of appends in a measurement: enough for a steady state, few enough to create in
    /// seconds.
    static func appends(by callers: Int, base: Int) -> Int { base * min(callers, 12) }

    init(appends: Int, batches count: Int) throws {
        let pki = SimulatedPKI(seed: 1)
        let verifier = AppStoreVerifier(policy: try pki.policy())
        var number = 0
        func transaction() -> [UInt8] {
            number += 1
            return pki.sign(payloadJSON: BenchMaterial.transaction(number))
        }
        func verified(_ payload: [UInt8]) throws -> [Verified<[Fact]>] {
            try verifier.verify(payload: payload, source: "bench", receivedAt: .systemClock())
                .groups
        }
        for callers in BenchMaterial.callers {
            let count = BenchMaterial.appends(by: callers, base: appends)
            singles[callers] = try (0..<count).flatMap { _ in try verified(transaction()) }
        }
        batches = try (0..<count).map { _ in
            let transactions = (0..<BenchMaterial.batchFacts).map { _ in
                "\"" + String(decoding: transaction(), as: UTF8.self) + "\""
            }
            let body = "{\"signedTransactions\":[\(transactions.joined(separator: ","))]}"
            return try verified(Array(body.utf8))
        }
    }

    /// A transaction as Apple signs it, each for another customer.
    private static func transaction(_ number: Int) -> [UInt8] {
        let id = 2_000_000_900_000_000 + number
        let purchase = 1_760_000_000_000 + number * 1000
        return Array(
            """
            {"transactionId":"\(id)","originalTransactionId":"\(id)",\
            "webOrderLineItemId":"\(id)","bundleId":"com.example.bench",\
            "productId":"com.example.pro.monthly","subscriptionGroupIdentifier":"21752814",\
            "purchaseDate":\(purchase),"originalPurchaseDate":\(purchase),\
            "expiresDate":\(purchase + 2_592_000_000),"quantity":1,\
            "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
            "signedDate":\(purchase + 500),"environment":"Production",\
            "transactionReason":"PURCHASE","storefront":"USA","storefrontId":"143441",\
            "price":9990,"currency":"USD","appTransactionId":"704897469903383919"}
            """.utf8
        )
    }
}

/// The rates of the ledger and of plain PostgreSQL, by cell.
struct BenchResults {
    var ledger = Samples<String>()
    var plain = Samples<String>()

    /// `singleRatioAt32` and similar keys, with the underlying rates.
    var summary: [String: Double] {
        var summary: [String: Double] = [:]
        for cell in ledger.names {
            summary["\(cell.prefix(while: \.isLetter))RatioAt\(cell.drop(while: \.isLetter))"] =
                medianRatio(ledger[cell], plain[cell])
            summary["\(cell)PerSecond"] = median(ledger[cell])
            summary["\(cell)PlainPerSecond"] = median(plain[cell])
        }
        return summary
    }

    var table: String {
        var table = TextTable(["measurement", "ledger/s", "plain/s", "ratio"])
        for cell in ledger.names {
            table.add([
                cell, "\(Int(median(ledger[cell])))", "\(Int(median(plain[cell])))",
                hundredths(medianRatio(ledger[cell], plain[cell])),
            ])
        }
        return table.text
    }
}
