import CommandSupport

/// The measurements of `bench report`, in seconds, by report and by round.
struct ReportBenchResults {
    private let events: Int
    private var order: [String] = []
    private var reports: [String: [Double]] = [:]
    private var queries: [String: [Double]] = [:]
    private var exports: [Double] = []
    private var copies: [Double] = []
    private var rows: Int64 = 0
    private var copiedBytes = 0

    init(events: Int) {
        self.events = events
    }

    mutating func record(_ report: String, _ seconds: Double, _ querySeconds: Double) {
        if reports[report] == nil { order.append(report) }
        reports[report, default: []].append(seconds)
        queries[report, default: []].append(querySeconds)
    }

    mutating func recordExport(_ seconds: Double, _ copySeconds: Double) {
        exports.append(seconds)
        copies.append(copySeconds)
    }

    mutating func note(rows: Int64, copiedBytes: Int) {
        (self.rows, self.copiedBytes) = (rows, copiedBytes)
    }

    /// The document of `--json`; ratios are medians of the ratios of the rounds.
    struct Summary: Encodable {
        let events: Int
        let rounds: Int
        /// The greatest of the reports' ratios.
        let ratioMax: Double
        let reports: [String: Pair]
        let export: Export

        struct Pair: Encodable {
            let seconds: Double
            let sqlSeconds: Double
            /// The duration of the report divided by that of the handwritten query.
            let ratio: Double
        }

        struct Export: Encodable {
            let rows: Int64
            let copiedBytes: Int
            let seconds: Double
            let copySeconds: Double
            /// The speed of the export divided by that of COPY.
            let ratio: Double
        }
    }

    var summary: Summary {
        let pairs = order.map { name in
            let (ours, theirs) = (reports[name, default: []], queries[name, default: []])
            return (
                name,
                Summary.Pair(
                    seconds: median(ours),
                    sqlSeconds: median(theirs),
                    ratio: median(zip(ours, theirs).map { $0 / $1 })
                )
            )
        }
        return Summary(
            events: events,
            rounds: exports.count,
            ratioMax: pairs.map(\.1.ratio).max() ?? 0,
            reports: Dictionary(uniqueKeysWithValues: pairs),
            export: Summary.Export(
                rows: rows,
                copiedBytes: copiedBytes,
                seconds: median(exports),
                copySeconds: median(copies),
                ratio: median(zip(copies, exports).map { $0 / $1 })
            )
        )
    }

    var table: String {
        let summary = summary
        var table = TextTable(["report", "seconds", "hand-written", "ratio"])
        for name in order {
            guard let pair = summary.reports[name] else { continue }
            table.add([
                name, ReportBenchResults.text(pair.seconds),
                ReportBenchResults.text(pair.sqlSeconds), ReportBenchResults.text(pair.ratio),
            ])
        }
        let export = summary.export
        return table.text
            + "\nexport: \(export.rows) rows in \(ReportBenchResults.text(export.seconds)) s, COPY of "
            + "\(export.copiedBytes >> 20) MiB in \(ReportBenchResults.text(export.copySeconds)) s: "
            + "\(ReportBenchResults.text(export.ratio)) of its speed; \(events) events"
    }

    private static func text(_ value: Double) -> String {
        "\((value * 1000).rounded() / 1000)"
    }
}
