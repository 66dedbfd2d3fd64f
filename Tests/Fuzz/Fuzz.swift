import Foundation

/// Fuzzes every decoder until the time is over or a failure is found.
///
/// Arguments: `--seconds N` (or the environment's SUBLEDGER_FUZZ_SECONDS), `--seed S`, `--from N`
/// to start at a later case. A crash prints the number of its case; `--from` with that number
/// reproduces it. With `--corpus FOLDER` it only writes the genuine payloads there, one per file.
@main
struct Fuzz {
    /// Seconds by default.
    private static let secondsDefault = 60.0
    /// Cases between two checks of the clock.
    private static let batchCount: UInt64 = 2_000
    /// Batches between two lines of output.
    private static let batchesPerLine = 50
    /// The most memory that the cases may add to what the corpus takes: an input has some ten
    /// thousand bytes, so anything near this limit is a leak or an amplification.
    private static let growthByteCountMax = 256 << 20

    static func main() throws {
        let environment = ProcessInfo.processInfo.environment["SUBLEDGER_FUZZ_SECONDS"]
        let seconds =
            argument("--seconds").flatMap(Double.init)
            ?? environment.flatMap(Double.init) ?? secondsDefault
        let seed = argument("--seed").flatMap { UInt64($0) } ?? 1
        let fuzzer = try Fuzzer(seed: seed)
        if let folder = argument("--corpus") {
            try fuzzer.writeCorpus(to: URL(fileURLWithPath: folder))
            return
        }
        let start = Date()
        let memory = peakByteCount()
        var number = argument("--from").flatMap { UInt64($0) } ?? 0
        let first = number
        var counts: [Decoder: Int] = [:]
        var batches = 0
        installCrashHandler()
        while Date().timeIntervalSince(start) < seconds {
            for _ in 0..<batchCount {
                let decoder = fuzzer.decoder(ofCase: number)
                counts[decoder, default: 0] += 1
                caseUnderWay = number
                do throws(Finding) {
                    try fuzzer.run(decoder, number)
                } catch {
                    print("FOUND seed \(seed) case \(number) (\(decoder)): \(error)")
                    exit(1)
                }
                number += 1
            }
            batches += 1
            let growth = peakByteCount() - memory
            guard growth <= growthByteCountMax else {
                print("FOUND seed \(seed) before case \(number): \(growth) bytes of memory more")
                exit(1)
            }
            if batches % batchesPerLine == 0 { report(number - first, since: start, growth) }
        }
        report(number - first, since: start, peakByteCount() - memory)
        let table = counts.sorted { $0.key.rawValue < $1.key.rawValue }
        print("seed \(seed): " + table.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    }

    private static func argument(_ name: String) -> String? {
        let arguments = CommandLine.arguments
        guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
            return nil
        }
        return arguments[index + 1]
    }

    private static func report(_ count: UInt64, since start: Date, _ growth: Int) {
        let seconds = Date().timeIntervalSince(start)
        print(
            "\(count) executions in \(Int(seconds)) s, \(Int(Double(count) / seconds)) per second,"
                + " \(growth >> 20) MiB above the corpus"
        )
        fflush(nil)
    }

    // The peak resident set size in bytes, as Linux and macOS record it.
    private static func peakByteCount() -> Int {
        var usage = rusage()
        #if os(Linux)
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss << 10
        #else
        getrusage(RUSAGE_SELF, &usage)
        return usage.ru_maxrss
        #endif
    }
}

/// The running case: read by the crash handler, which may call nothing that allocates.
nonisolated(unsafe) private var caseUnderWay: UInt64 = 0

private func installCrashHandler() {
    for crash in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT] {
        signal(crash) { number in
            var digits: (UInt8, UInt8) = (0x30, 0x0a)
            for byte in "\nCRASHED in case ".utf8 {
                digits.0 = byte
                write(2, &digits.0, 1)
            }
            var rest = caseUnderWay
            var scale: UInt64 = 1
            while rest / scale >= 10 { scale *= 10 }
            while scale > 0 {
                digits.0 = 0x30 + UInt8(rest / scale)
                write(2, &digits.0, 1)
                rest %= scale
                scale /= 10
            }
            write(2, &digits.1, 1)
            signal(number, SIG_DFL)
            raise(number)
        }
    }
}
