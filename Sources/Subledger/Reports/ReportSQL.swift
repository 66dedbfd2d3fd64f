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
        (name: "{{cohorts}}", file: PackageResources.part_cohorts_sql),
        (name: "{{month_ends}}", file: PackageResources.part_month_ends_sql),
        (name: "{{payments}}", file: PackageResources.part_payments_sql),
        (name: "{{purchase}}", file: PackageResources.part_purchase_sql),
        (name: "{{purchase_of_movement}}", file: PackageResources.part_purchase_of_movement_sql),
        shared("{{case_of_movement}}"),
        (name: "{{is_asked_day}}", file: PackageResources.part_is_asked_day_sql),
        (name: "{{standing}}", file: PackageResources.part_standing_sql),
        (name: "{{standing_columns}}", file: PackageResources.part_standing_columns_sql),
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
