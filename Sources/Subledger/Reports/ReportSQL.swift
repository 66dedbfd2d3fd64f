internal import Events
internal import Projections

/// The SQL of reports: one file for each query, and for each part that several queries share.
///
/// Placeholders in braces stand for parts of a query; `Report.text` and `ReportConversion` fill
/// them in.
enum ReportSQL {
    /// A file's text, without the comments at its beginning, which may name tables.
    static func text(_ file: [UInt8]) -> String {
        String(decoding: file, as: UTF8.self).split(separator: "\n")
            .drop { $0.hasPrefix("--") }.joined(separator: "\n")
    }

    /// A file's text with the parts that it names.
    static func filled(_ file: [UInt8]) -> String {
        parts.reduce(text(file)) { query, part in
            query.contains(part.name) ? query.replacing(part.name, with: text(part.file)) : query
        }
    }

    // A part that names others comes before them.
    private static let parts = [
        shared("{{recognised_revenue}}"),
        (name: "{{cohorts}}", file: embeddedFile("part-cohorts.sql")),
        (name: "{{month_ends}}", file: embeddedFile("part-month-ends.sql")),
        (name: "{{payments}}", file: embeddedFile("part-payments.sql")),
        (name: "{{purchase}}", file: embeddedFile("part-purchase.sql")),
        (name: "{{purchase_of_movement}}", file: embeddedFile("part-purchase-of-movement.sql")),
        shared("{{case_of_movement}}"),
        (name: "{{is_asked_day}}", file: embeddedFile("part-is-asked-day.sql")),
        (name: "{{standing}}", file: embeddedFile("part-standing.sql")),
        (name: "{{standing_columns}}", file: embeddedFile("part-standing-columns.sql")),
        shared("{{upgrade_refunds}}"),
    ]

    /// A part that views of schema `analytics` have, too.
    static func shared(_ name: String) -> (name: String, file: [UInt8]) {
        guard let file = AnalyticsRelation.sharedParts[name] else {
            preconditionFailure("no view has the part \(name)")
        }
        return (name, file)
    }
}
