package import EventLog
package import Events
internal import Foundation

/// The close of a month: `close.json`, which is written last into the folder of its files.
///
/// It records all that computes the same files again: the bound of knowledge, the versions of
/// definitions, folds and catalog, and the newest commit of each lane.
package struct CloseDocument: Codable, Hashable, Sendable {
    /// Always `CloseDocument.type`; distinguishes the document from others.
    package let type: String
    /// The version of this document.
    package let format: Int
    /// The version of the program that wrote it.
    package let program: String
    /// The ledger's id as a UUID.
    package let ledgerId: String
    /// The month, UTC, as `2026-03`.
    package let month: String
    /// Where the purchases were made.
    package let environment: StoreEnvironment
    /// Whether reports about customers, and customers behind corrections, are included.
    package let namesCustomers: Bool
    /// The bound of knowledge, as `--known-at` accepts it.
    package let knownAt: String
    /// The newest commit of each lane by then.
    package let heads: [VerificationReport.Head]
    /// The newest version of the catalog by then; 0 for none.
    package let catalogVersion: Int
    /// The versions of the folds, by name.
    package let folds: [String: Int]
    /// Erasures in the ledger when it was closed.
    package let erasures: Int64
    /// The reports of the month.
    package let reports: [Entry]
    /// What changed since then in months that were closed earlier.
    package let corrections: [Correction]
    /// The files, in the order in which they were written.
    package internal(set) var files: [File]

    /// The value of `type` that identifies the document.
    package static let type = "subledger-close"
    /// Its name in the folder.
    package static let fileName = "close.json"
    /// The name of the checkpoint next to it.
    package static let checkpointName = "checkpoint.json"

    static let currentFormat = 1

    /// A report, with what it was asked.
    package struct Entry: Codable, Hashable, Sendable {
        /// Its name.
        package let name: String
        /// The version of its definition.
        package let version: Int
        /// What its numbers are broken down by.
        package let by: [Report.Dimension]
        /// The first day, UTC.
        package let from: String
        /// The last day, UTC.
        package let to: String
        /// How its money is converted and estimated; nil if amounts are as Apple signed them.
        package let money: ReportMoney?

        /// The name of its files, without an ending.
        var fileName: String { name + (money?.fileSuffix ?? "") }
    }

    /// The corrections of a month.
    package struct Correction: Codable, Hashable, Sendable {
        /// The month.
        package let month: String
        /// The bound of the close that they begin from.
        package let since: String
        /// The reports that are compared.
        package let reports: [Entry]

        /// How the names of its files begin.
        var fileName: String { "corrections-\(month)" }
    }

    /// A file.
    package struct File: Codable, Hashable, Sendable {
        /// Its name in the folder.
        package let path: String
        /// Its size.
        package let bytes: Int
        /// SHA-256 of its bytes, in hexadecimal.
        package let sha256: String

        init(_ path: String, _ content: [UInt8]) {
            self.path = path
            bytes = content.count
            sha256 = Digest.of(content).hex
        }
    }
}

/// The file of corrections of a month.
struct CorrectionsDocument: Codable, Hashable, Sendable {
    /// The month.
    let month: String
    /// What changed in each report.
    let reports: [ReportChangesDocument]
}

/// A question for the close of a month.
package struct CloseQuestion: Sendable {
    /// The month, UTC, as `2026-03`.
    package var month: String
    /// Where the purchases were made.
    package var environment = StoreEnvironment.production
    /// Whether reports about customers, and customers behind corrections, are included.
    package var namesCustomers = false
    /// How money is converted and estimated in a second file of each report that accepts it; the
    /// default adds no files.
    package var money = ReportMoney()
    /// Earlier closes: what changed since the newest of them is added, for each month that it
    /// closed or corrected.
    package var earlier: [CloseDocument] = []

    /// Creates a question without corrections.
    package init(month: String) {
        self.month = month
    }
}

extension CloseDocument {
    /// The close as a file.
    package func file() throws -> [UInt8] { try exportedFile() }

    /// Whether this program can read it: its format, months, days, bounds and currencies.
    package var isReadable: Bool {
        let entries = reports + corrections.flatMap(\.reports)
        return format == CloseDocument.currentFormat && erasures >= 0
            && ([month] + corrections.map(\.month)).allSatisfy { Month($0)?.text == $0 }
            && ([knownAt] + corrections.map(\.since)).allSatisfy { KnownAt($0) != nil }
            && entries.allSatisfy { Instant($0.from) != nil && Instant($0.to) != nil }
            && entries.allSatisfy { $0.money?.currency.map(CurrencyRate.isCode) ?? true }
    }

    /// Its questions, without a bound of knowledge; only of reports that this program has.
    func questions(_ entries: [Entry]) -> [ReportQuestion] {
        entries.compactMap { entry in
            Report.named(entry.name).map { report in
                var question = ReportQuestion(report)
                question.dimensions = entry.by
                question.from = Instant(entry.from)
                question.to = Instant(entry.to)
                question.environment = environment
                question.money = entry.money ?? ReportMoney()
                question.limit = ReportQuestion.limitMax
                return question
            }
        }
    }

    /// The months that it closed or corrected, with the reports about money.
    var months: [(month: String, reports: [Entry])] {
        let closed = reports.filter { Report.named($0.name)?.hasMoney ?? false }
        return [(month, closed)] + corrections.map { ($0.month, $0.reports) }
    }
}

extension Encodable {
    /// The bytes that `--json` prints.
    func printedFile() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [0x0a]
    }
}
