import CommandSupport

/// The measurements of `bench report`, in seconds, by report and by round.
struct ReportBenchResults {
    let events: Int
    var reports = Samples<String>()
    /// The handwritten queries, by report.
    var queries = Samples<String>()
    var exports: [Double] = []
    /// COPY of the rows that were exported.
    var copies: [Double] = []
    /// Rows of the last export.
    var rows: Int64 = 0
    var copiedBytes = 0

    /// The document of `--json`; ratios are medians of the ratios of the rounds.
    struct Summary: Encodable {
        let events: Int
        let rounds: Int
        /// The greatest of the reports' ratios.
        let ratioMax: Double
        /// Seconds of each report and of its handwritten query, and the first divided by the second.
        let reports: [String: [String: Double]]
        /// The ratio is the speed of the export divided by that of COPY.
        let export: [String: Double]
    }

    var summary: Summary {
        Summary(
            events: events,
            rounds: exports.count,
            ratioMax: reports.names.map(ratio).max() ?? 0,
            reports: Dictionary(
                uniqueKeysWithValues: reports.names.map { name in
                    let seconds = [
                        "seconds": median(reports[name]), "sqlSeconds": median(queries[name]),
                        "ratio": ratio(name),
                    ]
                    return (name, seconds)
                }
            ),
            export: [
                "rows": Double(rows), "copiedBytes": Double(copiedBytes),
                "seconds": median(exports), "copySeconds": median(copies),
                "ratio": medianRatio(copies, exports),
            ]
        )
    }

    var table: String {
        var table = TextTable(["report", "seconds", "hand-written", "ratio"])
        for name in reports.names {
            let seconds = [median(reports[name]), median(queries[name])]
            table.add([name] + (seconds + [ratio(name)]).map(text))
        }
        return table.text
            + "\nexport: \(rows) rows in \(text(median(exports))) s, COPY of "
            + "\(copiedBytes >> 20) MiB in \(text(median(copies))) s: "
            + "\(text(medianRatio(copies, exports))) of its speed; \(events) events"
    }

    private func ratio(_ report: String) -> Double { medianRatio(reports[report], queries[report]) }

    private func text(_ value: Double) -> String { "\((value * 1000).rounded() / 1000)" }
}
