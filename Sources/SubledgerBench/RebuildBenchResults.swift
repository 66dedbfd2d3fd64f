import CommandSupport
import Foundation

/// The measurements of `bench rebuild`, in seconds, by kind and by round.
struct RebuildBenchResults {
    /// The measurements, in the order of a round; the raw values are keys of the JSON.
    enum Measurement: String, CaseIterable {
        /// COPY of the whole table to a null sink of the server.
        case readLimit
        /// The same to this process, which discards it.
        case drainedRead
        /// Reading as in a rebuild, stream by stream, without a fold.
        case scan
        /// `active_periods` with one connection that reads and folds.
        case activePeriodsOneJob
        /// `active_periods` with one connection per core.
        case activePeriods
        /// All projections with one connection per core.
        case all
        /// All projections next to the live ones, and the differences.
        case diff
        /// Copying the tables of all projections inside the server, with their indexes.
        case writeLimit
        /// All projections over the last part of the log, by `follow`.
        case follow
        /// An approximation of `active_periods` by window functions.
        case plainSQL

        var title: String {
            switch self {
            case .readLimit: "read limit"
            case .drainedRead: "read limit, to this process"
            case .scan: "read by stream"
            case .activePeriodsOneJob: "active_periods, 1 job"
            case .activePeriods: "active_periods"
            case .all: "all projections"
            case .diff: "diff: all projections, compared"
            case .writeLimit: "write limit of all projections"
            case .follow: "follow: all projections, the last part"
            case .plainSQL: "plain SQL"
            }
        }
    }

    let events: Int
    /// Connections that read and fold: one per core.
    let jobs: Int
    /// The longest time that a promotion held its locks.
    var promoteLockMilliseconds = 0.0
    /// Events with which `follow` had to catch up.
    var followedEvents: Int64 = 0

    private var samples = Samples<Measurement>()
    // The peak memory of this process in any round.
    private var memoryMiB: [Measurement: Int] = [:]

    init(events: Int) {
        self.events = events
        jobs = ProcessInfo.processInfo.activeProcessorCount
    }

    /// Runs a body, and records its duration and the peak memory of this process.
    mutating func record<R>(_ what: Measurement, _ body: () async throws -> R) async throws -> R {
        PeakMemory.reset()
        let (seconds, result) = try await SubledgerBench.seconds(body)
        samples.add(seconds, to: what)
        memoryMiB[what] = max(memoryMiB[what, default: 0], PeakMemory.mebibytes)
        return result
    }

    /// The peak memory of this process in any measurement.
    var peakMemoryMiB: Int { memoryMiB.values.max() ?? 0 }

    var summary: Summary {
        let measured = samples.names.map { ($0.rawValue, median(samples[$0])) }
        return Summary(
            events: events,
            jobs: jobs,
            rounds: samples[.readLimit].count,
            peakMemoryMiB: peakMemoryMiB,
            ratioToReadLimit: ratio(.activePeriods, .readLimit),
            ratioOfAllToReadLimit: ratio(.all, .readLimit),
            ratioOfAllToBothLimits: medianRatio(samples[.all], bothLimits),
            ratioToPlainSQL: ratio(.activePeriods, .plainSQL),
            ratioOfAllToPlainSQL: ratio(.all, .plainSQL),
            ratioOfScanToReadLimit: ratio(.scan, .readLimit),
            followedEvents: followedEvents,
            followEventsPerSecond: rate(.follow),
            promoteLockMilliseconds: promoteLockMilliseconds,
            seconds: Dictionary(uniqueKeysWithValues: measured),
            memoryMiB: Dictionary(uniqueKeysWithValues: memoryMiB.map { ($0.rawValue, $1) })
        )
    }

    /// The document of `--json`; ratios are medians of the ratios of the rounds.
    struct Summary: Encodable {
        let events: Int
        let jobs: Int
        let rounds: Int
        let peakMemoryMiB: Int
        let ratioToReadLimit: Double
        let ratioOfAllToReadLimit: Double
        let ratioOfAllToBothLimits: Double
        let ratioToPlainSQL: Double
        let ratioOfAllToPlainSQL: Double
        let ratioOfScanToReadLimit: Double
        let followedEvents: Int64
        let followEventsPerSecond: Int
        let promoteLockMilliseconds: Double
        let seconds: [String: Double]
        let memoryMiB: [String: Int]
    }

    var table: String {
        var table = TextTable([
            "measurement", "seconds", "events/s", "of the read limit", "of SQL", "MiB",
        ])
        for what in Measurement.allCases where !samples[what].isEmpty {
            table.add([
                what.title, hundredths(median(samples[what])), "\(rate(what))",
                hundredths(ratio(what, .readLimit)), hundredths(ratio(what, .plainSQL)),
                "\(memoryMiB[what, default: 0])",
            ])
        }
        return table.text
            + "\npeak memory \(peakMemoryMiB) MiB, \(events) events, \(jobs) connections read and fold; "
            + "follow: \(followedEvents) events; promotion: locks for "
            + "\(hundredths(promoteLockMilliseconds)) ms at most"
    }

    // Reading the log and writing the tables, by round.
    private var bothLimits: [Double] {
        zip(samples[.readLimit], samples[.writeLimit]).map { $0 + $1 }
    }

    // Events a second, from the median.
    private func rate(_ what: Measurement) -> Int {
        guard !samples[what].isEmpty else { return 0 }
        return Int(Double(what == .follow ? Int(followedEvents) : events) / median(samples[what]))
    }

    private func ratio(_ what: Measurement, _ other: Measurement) -> Double {
        medianRatio(samples[what], samples[other])
    }
}
