internal import Events

/// The table `active_periods`: the rows of `ActivePeriods`.
struct ActivePeriodsProjection: Projection {
    let name = "active_periods"
    let version = 1
    let columns = [
        "lane", "environment", "original_transaction_id", "ordinal", "product_id",
        "purchase_date_ms", "expires_date_ms", "valid_from_ms", "valid_to_ms", "kind",
        "end_reason", "positions",
    ]

    var tableSQL: String { String(decoding: PackageResources.active_periods_sql, as: UTF8.self) }

    var indexSQL: String {
        String(decoding: PackageResources.active_periods_indexes_sql, as: UTF8.self)
    }

    func rows(of timeline: Timeline) -> [ProjectionRow] {
        ActivePeriods(timeline).rows.enumerated().map { index, row in
            ProjectionRow(
                values: [
                    .int32(Int32(timeline.lane)),
                    .text(row.stream.environment.word),
                    .text(row.stream.originalTransactionId),
                    .int32(Int32(index + 1)),
                    .text(row.productId),
                    .integer(row.purchaseDate.milliseconds),
                    .integer(row.expiresDate.milliseconds),
                    .integer(row.validFrom.milliseconds),
                    .integer(row.validTo.milliseconds),
                    .text(row.kind.rawValue),
                    .text(row.endReason.rawValue),
                    .integers(row.positions.map(\.offset)),
                ],
                canonicalBytes: row.canonicalBytes
            )
        }
    }
}
