import Subledger

/// One row per free trial, and whether its customer went on to pay.
struct Trials: Projection {
    let name = "trials"
    let version = 1
    let columns = ["product_identifier", "ends_at", "has_converted"]
    var tableSQL: String {
        table("product_identifier text", "ends_at timestamptz", "has_converted boolean")
    }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        let purchases = TransactionRows(timeline, context.catalogs).rows
        return purchases.indices.filter { purchases[$0].terms.isTrialPeriod }.map { index in
            let (trial, next) = (purchases[index], purchases[(index + 1)...].first)
            return ProjectionRow(
                .text(trial.product.productId),
                ColumnValue(timestamp: trial.time.end),
                .boolean(next?.place.isTrialConversion ?? false),
                causedBy: trial.positions + (next?.positions ?? [])
            )
        }
    }
}
