import ArgumentParser
import CommandSupport
import Foundation

extension BenchCommand {
    struct Verify: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Verifying against bare P-256, decoding against plain JSONDecoder.",
            discussion: """
                Needs no database. One thread does all work, so the rates are those of one core. \
                Time is the processor time of that thread, so other programs hardly affect it. \
                Each round measures everything in short turns, one after the other; ratios are \
                taken within a round, and medians over the rounds are printed. Bare means: the \
                same signatures with the same crypto library, with key, signatures and digests \
                prepared, and nothing hashed or decoded; with hashing means: the SHA-256 of \
                the same messages too. A notification contains three signatures, so it is compared \
                with a third of the bare rate. Plain means: Foundation's JSONDecoder into Codable \
                structs of the same verifyReceipt responses, 500 rows each; ours are decoded into \
                facts, as by `ingest --vouch`, and once more only parsed. Use a release build.
                """
        )

        @Option(help: "Rounds; ratios are medians over them.")
        var rounds = 5

        @Option(help: "Seconds of processor time of each measurement in a round.")
        var seconds = 0.5

        @OptionGroup var output: OutputOptions

        /// The longest measurement of a round, in seconds: more than an hour must be a mistake.
        private static let secondsMax = 3600.0

        func validate() throws {
            guard rounds >= 1 else { throw ValidationError("--rounds must be at least 1") }
            guard seconds > 0, seconds <= Verify.secondsMax else {
                throw ValidationError(
                    "--seconds must be more than 0 and at most \(Int(Verify.secondsMax))"
                )
            }
        }

        func run() throws {
            output.note("making and signing payloads")
            let bench = VerifyBench(material: try VerifyBenchMaterial())
            var results = VerifyBenchResults(seconds: seconds)
            for round in 1...rounds {
                output.note("round \(round) of \(rounds)")
                try bench.measure(seconds: seconds, into: &results)
            }
            try output.print(results.table, json: results.summary)
        }
    }
}

/// The measurements, which alternate.
struct VerifyBench {
    let material: VerifyBenchMaterial

    /// Turns of each measurement in a round, so a slow phase of the machine affects all alike.
    private static let turns = 8

    /// What is measured, in the order of the turns.
    enum Measurement: Int, CaseIterable {
        /// Signatures over prepared digests with a prepared key.
        case bare
        /// The same, with the SHA-256 of each message.
        case bareWithHashing
        /// Signed transactions, verified and translated into facts.
        case transactions
        /// Notifications with three signatures, verified and translated into facts.
        case notifications
        /// App receipts, verified and translated into facts.
        case receipts
        /// Bytes of verifyReceipt responses, parsed, with every member visited.
        case parse
        /// Bytes of the same responses, checked and translated into facts, as `ingest --vouch`
        /// does.
        case decode
        /// Bytes of the same responses, by JSONDecoder.
        case plainDecode
    }

    func measure(seconds: Double, into results: inout VerifyBenchResults) throws {
        var cursors = [Int](repeating: 0, count: Measurement.allCases.count)
        var amounts = [Double](repeating: 0, count: Measurement.allCases.count)
        var times = amounts
        for _ in 0..<VerifyBench.turns {
            for measurement in Measurement.allCases {
                let cell = measurement.rawValue
                let start = ProcessorClock.seconds
                var elapsed = 0.0
                repeat {
                    amounts[cell] += try material.step(measurement, cursors[cell])
                    cursors[cell] += 1
                    elapsed = ProcessorClock.seconds - start
                } while elapsed < seconds / Double(VerifyBench.turns)
                times[cell] += elapsed
            }
        }
        results.rounds.append(zip(amounts, times).map { $0 / $1 })
    }
}

/// The processor time of this thread.
private enum ProcessorClock {
    /// Seconds, from an arbitrary start.
    static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The measurements: the rates of each round, per second of one core.
struct VerifyBenchResults {
    let seconds: Double
    /// The rates of each round, in the order of the measurements.
    var rounds: [[Double]] = []

    /// Signatures in a notification: its own, its transaction's, its renewal info's.
    static let signaturesPerNotification = 3.0

    /// Medians with the names that scripts read.
    var summary: [String: Double] {
        [
            "appReceiptsPerSecond": rate(.receipts),
            "bareVerificationsPerSecond": rate(.bare),
            "bareVerificationsWithHashingPerSecond": rate(.bareWithHashing),
            "decodeMegabytesPerSecond": rate(.decode) / 1e6,
            "decodeRatio": ratio(.decode, to: .plainDecode),
            "notificationRatio": notificationRatio,
            "notificationsPerSecond": rate(.notifications),
            "parseMegabytesPerSecond": rate(.parse) / 1e6,
            "parseRatio": ratio(.parse, to: .plainDecode),
            "plainDecodeMegabytesPerSecond": rate(.plainDecode) / 1e6,
            "rounds": Double(rounds.count),
            "seconds": seconds,
            "transactionRatio": ratio(.transactions, to: .bare),
            "transactionsPerSecond": rate(.transactions),
        ]
    }

    private typealias Cell = VerifyBench.Measurement

    var table: String {
        let bare = rate(.bare)
        let hashed = rate(.bareWithHashing)
        var table = TextTable(["measurement", "subledger", "bare or plain", "ratio"])
        func add(_ name: String, _ ours: Double, _ theirs: Double, _ ratio: Double, _ unit: String)
        {
            table.add([name, "\(Int(ours)) \(unit)", "\(Int(theirs)) \(unit)", hundredths(ratio)])
        }
        add("transactions", rate(.transactions), bare, ratio(.transactions, to: .bare), "/s")
        let third = bare / VerifyBenchResults.signaturesPerNotification
        add("notifications", rate(.notifications), third, notificationRatio, "/s")
        add("bare with hashing", hashed, bare, ratio(.bareWithHashing, to: .bare), "/s")
        for (name, ours) in [("decode, 500 rows", Cell.decode), ("only parse them", .parse)] {
            let (our, plain) = (rate(ours) / 1e6, rate(.plainDecode) / 1e6)
            add(name, our, plain, ratio(ours, to: .plainDecode), "MB/s")
        }
        table.add(["app receipts", "\(Int(rate(.receipts))) /s", "", ""])
        return table.text
    }

    private var notificationRatio: Double {
        ratio(.notifications, to: .bare) * VerifyBenchResults.signaturesPerNotification
    }

    private func rate(_ measurement: VerifyBench.Measurement) -> Double {
        median(rounds.map { $0[measurement.rawValue] })
    }

    private func ratio(
        _ measurement: VerifyBench.Measurement,
        to other: VerifyBench.Measurement
    ) -> Double {
        median(rounds.map { $0[measurement.rawValue] / $0[other.rawValue] })
    }
}
