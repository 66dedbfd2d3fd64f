/// A report over the whole ledger: a business question, with its definition and its SQL over the
/// schema `analytics`.
///
/// A report gets a new version when a number is computed differently.
package struct Report: Sendable {
    /// Its name in requests.
    package let name: String
    /// Incremented when the same facts give different numbers.
    package let version: Int
    /// What it counts, in a few sentences.
    package let definition: String
    /// What its numbers can be broken down by.
    package let dimensions: [Dimension]
    /// The default breakdown if the question names none.
    package let usual: [Dimension]
    /// The columns that identify a row, after those of the dimensions.
    let keys: [Column]
    /// The columns with its numbers.
    let columns: [Column]
    /// The column to sort by, in descending order; nil for the order of the keys.
    let greatestFirst: String?
    /// The column that its picture shows, and what that says, as the beginning of a title; nil for
    /// its closing balance, a share, money or a number of things.
    let drawn: (column: String, title: String)?

    /// Whether a row is about one customer, which the role `analyst` must not see.
    package var namesCustomers: Bool { keys.contains { $0.name == "customer_id" } }

    /// A dimension of the numbers, as columns of the query.
    package enum Dimension: String, CaseIterable, Codable, Sendable {
        /// The month, UTC: of what is counted, or of the cohort.
        case month
        /// The week, UTC, from Monday to Sunday, named by its Monday.
        case week
        /// The month of Apple's fiscal calendar, UTC, as `FY2026-01`.
        case fiscalMonth = "fiscal-month"
        /// Apple's productId.
        case product
        /// Country of the storefront.
        case country
        /// Kind of offer.
        case offer
    }

    /// A column of a report.
    package struct Column: Codable, Hashable, Sendable {
        /// Its name in SQL, in CSV and in the vocabulary of the tables.
        package let name: String
        /// The type of its values.
        package let kind: Kind

        /// A type of values.
        package enum Kind: String, Codable, Sendable {
            /// Text; nil if Apple did not state it.
            case text
            /// A number of things.
            case count
            /// Milliunits of the currency in the column `currency`.
            case money
            /// A share in percent, with two decimals; nil if the whole is zero.
            case percent
            /// A point in time.
            case instant
            /// Whether something is so.
            case flag
        }
    }

    // The file with the query; see `text(by:)` for the placeholders in braces.
    private let file: [UInt8]

    init(
        _ name: String,
        version: Int = 1,
        _ definition: String,
        by dimensions: [Dimension] = [.month, .fiscalMonth, .product, .country, .offer],
        usual: [Dimension] = [],
        keys: [String] = [],
        columns: [String],
        greatestFirst: String? = nil,
        drawn: (column: String, title: String)? = nil,
        sql file: [UInt8]
    ) {
        self.name = name
        self.version = version
        self.definition = definition
        self.dimensions = dimensions
        self.usual = usual
        self.keys = keys.map(Column.key)
        self.columns = columns.map(Column.number)
        self.greatestFirst = greatestFirst
        self.drawn = drawn
        self.file = file
    }
}

extension Report.Dimension {
    /// The name of its column.
    var column: String {
        switch self {
        case .month: "month"
        case .week: "week"
        case .fiscalMonth: "fiscal_month"
        case .product: "product_identifier"
        case .country: "country"
        case .offer: "offer_type"
        }
    }

    /// Its value in a query that has the purchases, or what else is counted, as `x`.
    var expression: String {
        switch self {
        case .week: "date_trunc('week', x.day::timestamp) AS week"
        case .fiscalMonth:
            "({{months}})[width_bucket(x.day::timestamp, {{months}})] AS fiscal_month"
        case .month, .product, .country, .offer: "x.\(column)"
        }
    }

    /// How the instants of times are written, by column.
    static let forms = [
        "month": "YYYY-MM", "week": "YYYY-MM-DD", "fiscal_month": "YYYY-MM-DD",
    ]

    /// Whether it is a time: a report has one of these at most.
    var isTime: Bool { Self.forms[column] != nil }

    /// The accepted forms of a breakdown, for errors.
    package static let breakdownForms =
        "none, or of month, week, fiscal-month, product, country and offer"
    private static let noBreakdown = "none"

    /// Parses a breakdown.
    ///
    /// - Parameters:
    ///   - text: Dimensions, separated by commas, or `none`.
    ///   - refuse: Makes the error of a word that is not a dimension.
    /// - Returns: The dimensions, in that order.
    /// - Throws: That error.
    package static func breakdown(
        _ text: String,
        orThrow refuse: (String) -> any Error
    ) throws -> [Self] {
        if text == noBreakdown { return [] }
        return try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            guard let dimension = Self(rawValue: String(word)) else { throw refuse(String(word)) }
            return dimension
        }
    }

    /// A breakdown as it is written in a question.
    package static func text(_ breakdown: [Self]) -> String {
        breakdown.isEmpty ? noBreakdown : breakdown.map(\.rawValue).joined(separator: ",")
    }
}

extension Report {
    /// Whether it is about cohorts, which are whole months: of the month of the first day, too,
    /// what was before that day.
    var isOfCohortMonths: Bool { ReportSQL.text(file).contains("{{cohorts}}") }

    /// Whether some of its numbers are money.
    package var hasMoney: Bool { columns.contains { $0.kind == .money } }
}

extension Report.Column {
    /// A column that rows are grouped by: text, or the number of a period or month.
    static func key(_ name: String) -> Self {
        Self(name: name, kind: name.hasSuffix("_number") ? .count : .text)
    }

    /// A column of numbers, whose name ends with their unit.
    static func number(_ name: String) -> Self {
        let units: [(String, Kind)] = [
            ("_milliunits", .money), ("_percent", .percent), ("_time", .instant),
        ]
        return Self(name: name, kind: units.first { name.hasSuffix($0.0) }?.1 ?? .count)
    }

    /// The installs of the operator's file, which are unknown where it has none.
    static let installs = number("installs")

    /// Whether the row's day, week or month is not whole.
    static let isPartial = Self(name: "is_partial", kind: .flag)

    /// Whether it helps identify a row, and is not a note on its numbers.
    package var isLabel: Bool { kind == .text && !name.hasPrefix("rate_") }

    /// Its name in JSON: Apple's for a product, otherwise the same in camel case.
    package var jsonName: String {
        let words = name.replacing("product_identifier", with: "product_id").split(separator: "_")
        return words.dropFirst().reduce(String(words[0])) {
            $0 + $1.prefix(1).uppercased() + $1.dropFirst()
        }
    }
}

extension Report {
    /// The query, with its placeholders for what a question asks.
    var sql: String { ReportSQL.filled(file) }

    /// The columns of the query, in order.
    func columns(by dimensions: [Dimension]) -> [Column] {
        dimensions.map { .key($0.column) } + keys + columns
    }

    /// The query with parameters: `$1` the first day, `$2` the last one that has begun, `$3` the
    /// environment, `$4` the first instant that does not count, then those of the conversion.
    ///
    /// That instant is the midnight after the last day, or what follows Apple's newest signature.
    ///
    /// `{{by}}` stands for the columns of the dimensions, each with a comma after it, taken from
    /// `x`, a month or week as its first instant; `{{keys}}` for all columns that rows are grouped by;
    /// `{{months}}` for the first instants of the months from that of the first day to the one after
    /// the last day, in Apple's fiscal calendar if rows are grouped by its months; `{{begins}}` for
    /// whether `x.day` begins a group's time, `{{ends}}` for the last day of the time that `b.day`
    /// begins. `ReportConversion` fills in the rest.
    func text(
        by dimensions: [Dimension],
        in span: ReportSpan,
        limit: Int,
        _ conversion: ReportConversion
    ) -> String {
        let columns = dimensions.map { "\($0.expression), " }.joined()
        let keyCount = dimensions.count + keys.count
        let groups = keyCount == 0 ? "()" : (1...keyCount).map { "\($0)" }.joined(separator: ", ")
        let isMonthly = dimensions.contains(.month) || dimensions.contains(.fiscalMonth)
        let query = conversion.filling(sql).replacing("{{by}}", with: columns).replacing(
            "{{keys}}",
            with: groups
        )
        .replacing(
            "{{begins}}",
            with: isMonthly
                ? "(x.day = $1::date OR x.day::timestamp = ANY ({{months}}))" : "x.day = $1::date"
        )
        .replacing(
            "{{ends}}",
            with: isMonthly
                ? "least(({{months}})[1 + width_bucket(b.day::timestamp, {{months}})] "
                    + "- interval '1 day', $2::date)" : "$2::date"
        )
        .replacing("{{months}}", with: span.starts(isFiscal: dimensions.contains(.fiscalMonth)))
        let order =
            (greatestFirst.map { ["report.\($0) DESC"] } ?? [])
            + self.columns(by: dimensions).prefix(keyCount).map { column in
                let isText = column.kind == .text && Dimension.forms[column.name] == nil
                return isText ? "report.\(column.name) COLLATE \"C\"" : "report.\(column.name)"
            }
        // Months become text last: once for each group, not for each purchase.
        let written = (self.columns(by: dimensions) + conversion.columns).map { column in
            Dimension.forms[column.name].map { "to_char(report.\(column.name), '\($0)')" }
                ?? "report.\(column.name)"
        }
        // PostgreSQL needs a type for every parameter, even for those that a report does not use.
        return """
            WITH asked AS (
                SELECT $1::date, $2::date, $3::text, $4::timestamptz
            )\(conversion.tables)
            SELECT \(written.joined(separator: ", ")) FROM (
            \(query)
            ) report\(order.isEmpty ? "" : " ORDER BY " + order.joined(separator: ", "))
            LIMIT \(limit)
            """
    }
}
