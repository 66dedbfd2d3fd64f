package import EventLog
package import Events

/// A question to a report.
package struct ReportQuestion: Sendable {
    /// The report.
    package var report: Report
    /// The breakdown, in this order; nil for the default.
    package var dimensions: [Report.Dimension]?
    /// The first day, UTC, given by an instant within it; nil for that of the first purchase.
    package var from: Instant?
    /// The last day, UTC, given by an instant within it; nil for the last whole day before Apple's
    /// newest signature.
    ///
    /// If the day is not over by then, it counts as far as that instant.
    package var to: Instant?
    /// Where the purchases were made.
    package var environment = StoreEnvironment.production
    /// How much of the log is used; nil for the content of the live tables, which needs no fold.
    package var knownAt: KnownAt?
    /// How money is converted and estimated.
    package var money = ReportMoney()
    /// The installs, for report initial-conversion; nil if none were given.
    package var installs: ReportInstalls?
    /// The most rows of the answer, which are held in memory.
    package var limit = ReportQuestion.limitDefault

    /// The default number of rows.
    package static let limitDefault = 10_000

    /// The most rows that a question may request.
    package static let limitMax = 1_000_000

    /// Creates a question about everything in the live tables.
    package init(_ report: Report) {
        self.report = report
    }
}

/// A report with everything needed to run it again.
package struct ReportDocument: Codable, Hashable, Sendable {
    /// The report's name.
    package let name: String
    /// The version of its definition, incremented when the same facts give different numbers.
    package let version: Int
    /// What it counts, in a few sentences.
    package let definition: String
    /// Where the purchases were made.
    package let environment: StoreEnvironment
    /// The first day, UTC, as `2026-03-03`.
    package let from: String
    /// The last day, UTC.
    package let to: String
    /// The instant on Apple's clock after which nothing counts, in any report: the end of the last
    /// day, or the newest signature if that is earlier.
    ///
    /// What began, ended or was given back later counts as if it had not happened.
    package let asOf: Instant
    /// What the numbers are broken down by.
    package let by: [Report.Dimension]
    /// The newest event of each lane that is included, by the lane's number.
    package let positions: [String: Int64]
    /// The newest version of the catalog used by the folds; 0 for none.
    package let catalogVersion: Int
    /// The versions of the folds that the numbers are computed from, by name.
    package let folds: [String: Int]
    /// How money is converted and estimated; nil if amounts are as Apple signed them.
    package let money: ReportMoney?
    /// Where the installs come from; nil if none were given.
    package internal(set) var installs: ReportInstalls.Source?
    /// Erasures in the ledger, at any time: only these change what was known at a position.
    package let erasures: Int64
    /// Subscriptions that a fold refused, which are not counted.
    package let refusedSubscriptions: Int
    /// The command that prints this report again; nil if none can, because a catalog or rates
    /// imported later than these positions were used.
    package let command: String?
    /// Whether these are all rows; false if the limit was reached.
    package let isComplete: Bool
    /// The columns, in order.
    package let columns: [Report.Column]
    /// The rows, by the JSON name of their columns.
    package private(set) var rows: [[String: ReportValue]]

    /// The same with only the first rows.
    package func first(_ count: Int) -> ReportDocument {
        var document = self
        document.rows = Array(rows.prefix(count))
        return document
    }
}

/// A report, and how much of the log gives it again.
package struct ReportAnswer: Sendable {
    /// The report.
    package let document: ReportDocument
    /// The bound that gives the same report at any later time; nil if none can, because a catalog or
    /// rates imported later were used.
    package let knownAt: KnownAt?
}

/// The available reports.
package struct ReportListDocument: Codable, Hashable, Sendable {
    /// The reports, most asked-for first.
    package let reports: [Entry]

    /// A report.
    package struct Entry: Codable, Hashable, Sendable {
        /// Its name in requests.
        package let name: String
        /// The version of its definition.
        package let version: Int
        /// What it counts, in a few sentences.
        package let definition: String
        /// What it can be broken down by.
        package let by: [Report.Dimension]

        /// Its version, and what it can be broken down by, as text.
        package var words: String {
            let by = by.map(\.rawValue).joined(separator: ", ")
            return "definition \(version)" + (by.isEmpty ? "" : "; by \(by)")
        }
    }

    /// All reports: those over tables, and those that read the log itself.
    package static let all = ReportListDocument(
        reports: ReportListDocument(of: Report.all).reports + ofLog
    )

    /// Some reports over tables.
    package init(of reports: [Report]) {
        self.init(
            reports: reports.map {
                Entry(
                    name: $0.name,
                    version: $0.version,
                    definition: $0.definition,
                    by: $0.dimensions
                )
            }
        )
    }

    private init(reports: [Entry]) { self.reports = reports }

    private static let ofLog = [
        Entry(
            "anomalies",
            "Subscriptions that need attention: refund loops, purchases that were refunded again, "
                + "subscriptions with every purchase refunded, and periods without access."
        ),
        Entry(
            "wrong-answers",
            "How long access answers were wrong because events arrived late."
        ),
        Entry(
            "gaps",
            "Renewals that never arrived, statuses from Apple that contradict the ledger, and "
                + "events that became known only by asking Apple."
        ),
        Entry(
            "drift",
            "Statuses and renewal info that Apple signed and that differ from what the ledger "
                + "derives from the other events."
        ),
        Entry(
            "ingest-quality",
            "How much of the input was refused, already known or restored, by source."
        ),
    ]
}

extension ReportListDocument.Entry {
    // A report over the log, which has no dimensions.
    fileprivate init(_ name: String, _ definition: String) {
        self.init(name: name, version: 1, definition: definition, by: [])
    }
}
