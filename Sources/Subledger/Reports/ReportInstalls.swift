internal import EventLog
internal import Postgres

/// Installs by day, and by country if the operator's file has countries: what Apple signs for the
/// ledger contains none.
package struct ReportInstalls: Hashable, Sendable {
    /// The file, as the operator named it.
    package let file: String
    /// Whether lines have a country; nil without lines.
    package private(set) var hasCountries: Bool?
    private var counts: [Place: Int64] = [:]

    /// The most lines of a file: thirty years of forty countries.
    package static let linesMax = 400_000

    /// The most installs of a line; the sum of all lines is exact.
    package static let countMax: Int64 = 1_000_000_000

    private struct Place: Hashable {
        let day: String
        /// Empty without countries.
        let country: String
    }

    /// Where the installs of a report come from.
    package struct Source: Codable, Hashable, Sendable {
        /// The file, as the operator named it.
        package let file: String
        /// The first day with installs, as `2026-03-03`.
        package let firstDay: String
        /// The last day with installs.
        package let lastDay: String
    }

    /// No installs yet.
    package init(file: String) {
        self.file = file
    }

    /// Adds a line; lines of the same day and country are summed.
    ///
    /// - Parameters:
    ///   - count: The installs, from 0 to `countMax`.
    ///   - day: The day, as `2026-03-03`.
    ///   - country: ISO 3166-1 alpha-3; empty in a file without countries.
    package mutating func add(_ count: Int64, on day: String, in country: String) {
        hasCountries = !country.isEmpty
        counts[Place(day: day, country: country), default: 0] += count
    }
}

extension ReportInstalls {
    /// The file with its first and its last day; nil without lines.
    var source: Source? {
        guard let first = counts.keys.map(\.day).min(), let last = counts.keys.map(\.day).max()
        else { return nil }
        return Source(file: file, firstDay: first, lastDay: last)
    }

    /// Refuses a report without installs, and a breakdown that they do not have.
    func check(_ question: ReportQuestion) throws(QuestionError) {
        try QuestionError.refuse(
            unless: question.report.columns.contains(.installs),
            "report \(question.report.name) has no installs: leave out --installs, which is for "
                + "`subledger report initial-conversion`"
        )
        for dimension in question.by where [.product, .offer].contains(dimension) {
            throw QuestionError(
                .unknownReport,
                "installs cannot be broken down by \(dimension.rawValue): an install is not of one; "
                    + "leave out --installs, or use another breakdown"
            )
        }
        try QuestionError.refuse(
            unless: !question.by.contains(.country) || hasCountries == true,
            "the installs of \(file) cannot be broken down by country: the file has no column country"
        )
    }

    /// SQL for the rows of a question: day, country and installs.
    static func table(of question: ReportQuestion) -> String {
        question.installs == nil
            ? "(SELECT NULL::date, NULL::text, NULL::bigint WHERE false)"
            : "unnest($5::date[], $6::text[], $7::bigint[])"
    }

    /// The parameters of this SQL; a report with installs has no money, so they come after those
    /// of every report.
    var parameters: [PostgresValue] {
        [
            .textArray(counts.keys.map(\.day)),
            .textArray(counts.keys.map { $0.country.isEmpty ? nil : $0.country }),
            .int8Array(Array(counts.values)),
        ]
    }
}
