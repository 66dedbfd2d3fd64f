internal import Events

/// The table `movements`: the rows of `Movements`.
struct MovementsProjection: DeclaredProjection {
    let name = "movements"
    let version = 8
    let definition = embeddedFile("movements.sql")
    let indexes = embeddedFile("movements-indexes.sql")

    func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<Movement>
    ) {
        MovementsProjection.declare(&column, of: row, isWithdrawn: false)
    }

    /// Visits the columns of a movement, or of the row that withdraws it: that has the same values
    /// at the same time, with the amount negated.
    static func declare<Visitor: ColumnVisitor & ~Copyable>(
        _ column: inout Visitor,
        of row: UnsafePointer<Movement>,
        isWithdrawn: @autoclosure () -> Bool
    ) {
        column("movement", isWithdrawn() ? "correction" : row.pointee.kind.rawValue)
        column("apple_event", isWithdrawn() ? nil : row.pointee.appleEvent)
        column("apple_event_grouping", isWithdrawn() ? nil : row.pointee.kind.appleGrouping)
        column("apple_event_sub_type", isWithdrawn() ? nil : row.pointee.appleSubType)
        column("rc_event", isWithdrawn() ? nil : row.pointee.rcEvent)
        column("occurred_at", row.pointee.occurred)
        column("product_identifier", row.pointee.productId)
        column("previous_product_identifier", row.pointee.previousProductId)
        column("purchase_date_ms", row.pointee.purchaseDate.milliseconds)
        column("expires_date_ms", row.pointee.expiresDate?.milliseconds)
        column(
            "amount_milliunits",
            isWithdrawn() ? row.pointee.amountBack : row.pointee.amountMilliunits
        )
        column("currency", row.pointee.currency)
        column("is_family_shared", row.pointee.isFamilyShared)
        column("is_resubscribe", row.pointee.isResubscribe)
        column("expiration_reason", row.pointee.expirationReason?.rawValue)
        column("is_shared", row.pointee.sharing != nil)
        column("seat_quantity", row.pointee.seatQuantity)
    }

    var tableSQL: String {
        tableSQL(
            comment: """
                What began, continued, was paid, was refunded and ended: one row each, at the time \
                it occurred. In the order of occurred_at, then movement. A fold of the log; rebuild \
                it, never edit it.
                """
        )
    }

    // A movement is identified by its word, its purchase and its instant.
    var comparison: RowComparison {
        RowComparison(
            "movement",
            identities: [
                .columns("movement", "purchase_date_ms", "occurred_at", "product_identifier"),
                .columns("movement", "purchase_date_ms", "occurred_at"),
                .columns("movement", "purchase_date_ms"),
                .columns("purchase_date_ms", "occurred_at", "product_identifier"),
            ],
            aspects: [
                "movement-moved": ["occurred_at"],
                "movement-kind-changed": ["movement", "apple_event"],
                "expiration-reason-changed": ["expiration_reason"],
                "amount-changed": ["amount_milliunits", "currency"],
                "product-changed": ["product_identifier", "previous_product_identifier"],
            ],
            money: .init(amount: "amount_milliunits", currency: "currency", isJournal: true),
            instant: "occurred_at"
        )
    }

    func folded(_ timeline: Timeline, _ context: FoldContext) -> [Movement] {
        Movements(timeline, context.catalogs).rows
    }
}

extension Movement: CausedRow {
    // The least integer has no negation.
    fileprivate var amountBack: Int64? {
        let back = amountMilliunits.map { Int64(0).subtractingReportingOverflow($0) }
        return back.flatMap { $0.overflow ? nil : $0.partialValue }
    }
}
