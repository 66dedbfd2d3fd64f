internal import Events

/// A view or function of schema `analytics`, for analysts, defined over the live views of
/// projections.
package struct AnalyticsRelation: Sendable {
    /// Its name in the schema.
    package let name: String
    /// Whether it is called with arguments, or read.
    package let kind: Kind
    /// DDL that creates it, or replaces an earlier one.
    package let sql: String

    /// How it is read.
    package enum Kind: Sendable {
        /// `SELECT … FROM analytics.<name>`.
        case view(Grain)
        /// `SELECT … FROM analytics.<name>(…)`.
        case function
    }

    /// The meaning of a row of a view.
    package struct Grain: Sendable {
        /// The columns that identify a row.
        package let key: [String]
        /// The instant or day by which rows are grouped into months; nil if rows have no time.
        package let time: String?
    }

    /// The meaning of a row; nil for a function.
    package var grain: Grain? {
        guard case .view(let grain) = kind else { return nil }
        return grain
    }

    /// Whether its rows follow from the log alone; those that count ingest runs do not.
    package var followsFromLog: Bool {
        !AnalyticsRelation.needed(by: "analytics.\(name)").contains {
            $0.sql.contains("ledger.ingestion")
        }
    }

    /// The names of the projections that it reads directly, without duplicates, ascending.
    package var projections: [String] { AnalyticsRelation.names(after: "projection.", in: sql) }

    /// The names of the other relations of the schema that it reads directly, without duplicates,
    /// ascending.
    package var relations: [String] {
        AnalyticsRelation.names(after: "analytics.", in: sql).filter { $0 != name }
    }

    // All names include their schema, because the caller of a function has a search path of their
    // own. Words in comments and texts are not names.
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
    /// All relations, each after those that it reads.
    package static let all: [AnalyticsRelation] = [
        AnalyticsRelation(
            "metric_definition",
            embeddedFile("analytics-metric-definition.sql"),
            key: ["name", "version"]
        ),
        AnalyticsRelation("last_signed_at", embeddedFile("analytics-last-signed-at.sql")),
        AnalyticsRelation("recorded_at", embeddedFile("analytics-recorded-at.sql")),
        AnalyticsRelation(
            "repeated_purchases",
            Array(
                String(decoding: embeddedFile("analytics-repeated-purchases.sql"), as: UTF8.self)
                    .replacing("{{placeholder}}", with: Placeholder.pattern).utf8
            )
        ),
        AnalyticsRelation(
            "customers",
            embeddedFile("analytics-customers.sql"),
            key: ["original_transaction_id", "environment", "lane", "valid_from"]
        ),
        AnalyticsRelation(
            "transactions",
            filled(
                embeddedFile("analytics-transactions.sql"),
                """
                Purchases as they are known now: one row each, in the names of RevenueCat''s \
                exports where the meaning is theirs. Totals of a past day change as refunds come \
                in.
                """
            ),
            key: ["original_transaction_id", "environment", "lane", "ordinal"],
            time: "start_time"
        ),
        AnalyticsRelation(
            "transactions_history",
            filled(
                embeddedFile("analytics-transactions.sql"),
                """
                What was known of purchases, and when: the columns of analytics.transactions, one \
                row each time that one of them changed. As known at an instant: known_from <= \
                instant AND (known_to IS NULL OR instant < known_to). The customer and what is sold \
                are as known now. Only the rows with is_latest are independent of the order in \
                which facts arrived. It exists after `subledger rebuild transactions_history`.
                """,
                and: ", t.first_lane_offset, t.known_from, t.known_to, t.is_latest"
            ),
            key: ["original_transaction_id", "environment", "lane", "ordinal"],
            time: "start_time"
        ),
        AnalyticsRelation(
            "movements",
            filled(
                embeddedFile("analytics-movements.sql"),
                """
                What began, went on, was paid, given back and ended, as it is known now: one row \
                each, at its instant on Apple''s clock.
                """,
                corrects: reversed
            ),
            key: ["original_transaction_id", "environment", "lane", "ordinal"],
            time: "occurred_at"
        ),
        AnalyticsRelation(
            "movements_history",
            filled(
                embeddedFile("analytics-movements.sql"),
                """
                The movements as they became known: the columns of analytics.movements, one row \
                each, and one with the movement correction, and the amount back, for each that \
                later facts withdrew or changed. No row ever changes, so that sums over the rows \
                with known_from <= instant are those that were known then. It exists after \
                `subledger rebuild movements_history`.
                """,
                corrects: "m.corrects_ordinal",
                and: ", m.known_from"
            ),
            key: ["original_transaction_id", "environment", "lane", "ordinal"],
            time: "occurred_at"
        ),
        AnalyticsRelation(
            "periods",
            embeddedFile("analytics-periods.sql"),
            key: [
                "original_transaction_id", "environment", "lane", "valid_from", "valid_to", "kind",
                "product_identifier", "purchase_date_ms", "expires_date_ms",
            ],
            time: "valid_from"
        ),
        AnalyticsRelation(
            "subscriptions",
            embeddedFile("analytics-subscriptions.sql"),
            key: ["original_transaction_id", "environment", "lane"]
        ),
        AnalyticsRelation(
            "customer_value",
            embeddedFile("analytics-customer-value.sql"),
            key: ["customer_id", "environment", "currency"]
        ),
        AnalyticsRelation(
            "daily_snapshot_between",
            embeddedFile("analytics-daily-snapshot-between.sql")
        ),
        AnalyticsRelation(
            "daily_snapshot",
            embeddedFile("analytics-daily-snapshot.sql"),
            key: [
                "day", "environment", "product_identifier", "country", "currency", "offer_type",
                "renewal_number",
            ],
            time: "day"
        ),
        AnalyticsRelation(
            "recognised_revenue",
            recognisedRevenue,
            key: ["original_transaction_id", "environment", "lane", "ordinal", "recognised_month"],
            time: "recognised_month"
        ),
        AnalyticsRelation("retention_at", embeddedFile("analytics-retention-at.sql")),
        AnalyticsRelation(
            "retention",
            embeddedFile("analytics-retention.sql"),
            key: [
                "cohort", "environment", "product_identifier", "period_length", "period_number",
            ],
            time: "cohort"
        ),
        AnalyticsRelation(
            "ingest_quality_by_day",
            embeddedFile("analytics-ingest-quality-by-day.sql")
        ),
        AnalyticsRelation(
            "ingest_quality",
            embeddedFile("analytics-ingest-quality.sql"),
            key: ["day", "source"],
            time: "day"
        ),
    ]

    /// Those that can be created if these projections have live views.
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

    /// The relations that a query reads, directly or indirectly; each comes after those it reads.
    package static func needed(by query: String) -> [AnalyticsRelation] {
        var needed = Set(names(after: "analytics.", in: query))
        for relation in all.reversed() where needed.contains(relation.name) {
            needed.formUnion(relation.relations)
        }
        return all.filter { needed.contains($0.name) }
    }

    /// The names of the projections that a query over these reads, directly or indirectly.
    package static func projections(
        of relations: [AnalyticsRelation],
        and query: String
    ) -> Set<String> {
        Set(relations.flatMap(\.projections) + names(after: "projection.", in: query))
    }

    /// The same SQL over temporary tables of the session; those of projections have a prefix.
    package static func temporary(_ sql: String) -> String {
        sql.replacing("analytics.", with: "pg_temp.")
            .replacing("projection.", with: "pg_temp.projection_")
    }

    /// The state of temporary tables that the relations of the session read.
    package static let readState = "projection"

    /// The temporary table of a projection that holds a state.
    package static func temporaryTable(_ projection: String, of state: String) -> String {
        "pg_temp.\(state)_\(projection)"
    }

    // The common part of the view of what is known now and the view of when it became known.
    private static func filled(
        _ sql: [UInt8],
        _ comment: String,
        corrects: String = "",
        and more: String = ""
    ) -> [UInt8] {
        Array(
            String(decoding: sql, as: UTF8.self)
                .replacing("{{comment}}", with: comment).replacing("{{corrects}}", with: corrects)
                .replacing("{{knowledge}}", with: more).utf8
        )
    }

    /// The SQL that the view of recognised revenue and reports are made of, by its placeholders.
    package static let sharedParts = [
        "{{recognised_revenue}}": embeddedFile("part-recognised-revenue.sql"),
        "{{upgrade_refunds}}": embeddedFile("part-plan-changes.sql"),
        "{{case_of_movement}}": embeddedFile("part-case-of-movement.sql"),
    ]

    // The shared part for all environments and until the newest signature, without a conversion.
    private static var recognisedRevenue: [UInt8] {
        var sql = String(decoding: embeddedFile("analytics-recognised-revenue.sql"), as: UTF8.self)
        for part in ["{{recognised_revenue}}", "{{upgrade_refunds}}", "{{case_of_movement}}"] {
            let text = String(decoding: sharedParts[part] ?? [], as: UTF8.self)
            sql = sql.replacing(part, with: text)
        }
        let values = [
            "{{transactions}}": "(SELECT * FROM analytics.transactions WHERE NOT is_repeated)",
            "{{rate}}": "1", "{{of_purchase}}": "", "{{of_cohort}}": "",
            "{{months}}": "(SELECT months FROM bound)", "$1::date": "(SELECT first_day FROM bound)",
            "$2::date": "(SELECT last_day FROM bound)", "$4": "(SELECT until FROM bound)",
        ]
        sql = sql.replacing(#/[a-z]\.environment = \$3/#, with: "true")
        return Array(values.reduce(sql) { $0.replacing($1.key, with: $1.value) }.utf8)
    }

    // The movement that Apple reversed, by what is known now.
    private static let reversed = """
        (SELECT max(o.ordinal) FROM projection.movements o
        WHERE o.lane = m.lane AND o.environment = m.environment
            AND o.original_transaction_id = m.original_transaction_id
            AND o.ordinal < m.ordinal AND o.product_identifier = m.product_identifier
            AND (o.purchase_date_ms = m.purchase_date_ms
                OR m.movement = 'plan_change_cancelled')
            AND (m.movement, o.movement) IN (('refund_reversed', 'exit_refund'),
                ('refund_declined', 'refund_requested'),
                ('plan_change_cancelled', 'plan_change_scheduled')))
        """

    private init(_ name: String, _ sql: [UInt8]) {
        self.name = name
        self.sql = String(decoding: sql, as: UTF8.self)
        kind = .function
    }

    private init(_ name: String, _ sql: [UInt8], key: [String], time: String? = nil) {
        self.name = name
        self.sql = String(decoding: sql, as: UTF8.self).replacing("{{table}}", with: name)
        kind = .view(Grain(key: key, time: time))
    }
}
