/// A view or function of schema `analytics`: what analysts read, upon the live views of
/// projections.
package struct AnalyticsRelation: Sendable {
    /// Its name in the schema.
    package let name: String
    /// Whether it is called with arguments, or read.
    package let kind: Kind
    /// DDL that makes it, or puts it in the place of an older one.
    package let sql: String

    /// How it is read.
    package enum Kind: Sendable {
        /// `SELECT … FROM analytics.<name>`.
        case view
        /// `SELECT … FROM analytics.<name>(…)`.
        case function
    }

    /// The names of the projections that it reads itself, each once, ascending.
    package var projections: [String] { AnalyticsRelation.names(after: "projection.", in: sql) }

    /// The names of the others of the schema that it reads itself, each once, ascending.
    package var relations: [String] {
        AnalyticsRelation.names(after: "analytics.", in: sql).filter { $0 != name }
    }

    // Names are written with their schema everywhere, for whoever calls a function has a path of
    // their own. Words in comments and texts are no names.
    private static func names(after schema: String, in sql: String) -> [String] {
        let code = sql.replacing(#/--[^\n]*|'(?:[^']|'')*'/#, with: "")
        var names: Set<String> = []
        for found in code.split(separator: schema, omittingEmptySubsequences: false).dropFirst() {
            let name = found.prefix { $0.isLetter && $0.isASCII || $0 == "_" }
            if !name.isEmpty { names.insert(String(name)) }
        }
        return names.sorted()
    }
}

extension AnalyticsRelation {
    /// All of them; each comes after those that it reads.
    package static let all: [AnalyticsRelation] = [
        AnalyticsRelation("metric_definition", PackageResources.analytics_metric_definition_sql),
        AnalyticsRelation(
            "last_signed_at",
            PackageResources.analytics_last_signed_at_sql,
            .function
        ),
        AnalyticsRelation("recorded_at", PackageResources.analytics_recorded_at_sql, .function),
        AnalyticsRelation("customers", PackageResources.analytics_customers_sql),
        AnalyticsRelation("transactions", PackageResources.analytics_transactions_sql),
        AnalyticsRelation("movements", PackageResources.analytics_movements_sql),
        AnalyticsRelation("periods", PackageResources.analytics_periods_sql),
        AnalyticsRelation("subscriptions", PackageResources.analytics_subscriptions_sql),
        AnalyticsRelation("customer_value", PackageResources.analytics_customer_value_sql),
        AnalyticsRelation(
            "daily_snapshot_between",
            PackageResources.analytics_daily_snapshot_between_sql,
            .function
        ),
        AnalyticsRelation("daily_snapshot", PackageResources.analytics_daily_snapshot_sql),
        AnalyticsRelation("retention_at", PackageResources.analytics_retention_at_sql, .function),
        AnalyticsRelation("retention", PackageResources.analytics_retention_sql),
        AnalyticsRelation(
            "ingest_quality_by_day",
            PackageResources.analytics_ingest_quality_by_day_sql,
            .function
        ),
        AnalyticsRelation("ingest_quality", PackageResources.analytics_ingest_quality_sql),
    ]

    /// Those that can be made where these projections have live views.
    package static func available(with projections: Set<String>) -> [AnalyticsRelation] {
        var names: Set<String> = []
        return all.filter { relation in
            let isAvailable =
                projections.isSuperset(of: relation.projections)
                && names.isSuperset(of: relation.relations)
            if isAvailable { names.insert(relation.name) }
            return isAvailable
        }
    }

    /// Those that a query reads, with all that they read themselves; each comes after those.
    package static func needed(by query: String) -> [AnalyticsRelation] {
        var needed = Set(names(after: "analytics.", in: query))
        for relation in all.reversed() where needed.contains(relation.name) {
            needed.formUnion(relation.relations)
        }
        return all.filter { needed.contains($0.name) }
    }

    /// The names of the projections that a query over these reads, itself or through them.
    package static func projections(
        of relations: [AnalyticsRelation],
        and query: String
    ) -> Set<String> {
        Set(relations.flatMap(\.projections) + names(after: "projection.", in: query))
    }

    /// The same SQL over temporary tables of the session, the projection's with their own prefix.
    package static func temporary(_ sql: String) -> String {
        sql.replacing("analytics.", with: "pg_temp.")
            .replacing("projection.", with: "pg_temp.projection_")
    }

    private init(_ name: String, _ sql: [UInt8], _ kind: Kind = .view) {
        self.name = name
        self.kind = kind
        self.sql = String(decoding: sql, as: UTF8.self)
    }
}
