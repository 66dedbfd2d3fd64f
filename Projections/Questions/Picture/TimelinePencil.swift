internal import Events

/// Draws the lanes of a picture over one axis.
struct TimelinePencil {
    let axis: TimelineAxis
    let glyphs: TimelineGlyphs

    private func lane(_ name: String) -> TimelineLane { TimelineLane(name, columns: axis.columns) }

    /// The labels of the axis.
    var labels: TimelineLane {
        var lane = lane("")
        for tick in axis.ticks { lane.write(tick.label, at: tick.column) }
        return lane
    }

    /// The ticks, and the mark of the instant asked about.
    func marks(asked: Instant) -> TimelineLane {
        var lane = lane("")
        let column = axis.column(of: asked)
        // At the right edge, the word is placed before its arrow.
        let start = min(column, axis.columns - glyphs.asked.count)
        for tick in axis.ticks where !(start - 1...start + glyphs.asked.count ~= tick.column) {
            lane.set(tick.column, glyphs.tick)
        }
        lane.write(glyphs.asked, at: start)
        return lane
    }

    /// The kind of period that gives access, column by column; owned purchases are drawn like paid
    /// ones.
    ///
    /// A column shows its middle. A period between two middles still gets one cell, unless another
    /// access occupies it.
    func access(
        _ name: String,
        _ rows: [ActivePeriod],
        _ oneTime: [OneTimePurchase]
    ) -> TimelineLane {
        var lane = lane(name)
        let starts = rows.map(\.validFrom) + oneTime.flatMap(\.owned).map(\.lowerBound)
        guard let first = starts.min() else { return lane }
        func answer(at instant: Instant) -> AccessAnswer {
            AccessAnswer(rows, oneTime, isKnown: true, at: instant)
        }

        for column in 0..<axis.columns {
            let instant = axis.middle(of: column)
            switch answer(at: instant) {
            case .access(let row): lane.set(column, glyphs.cell(row.kind))
            case .owned: lane.set(column, glyphs.paid)
            case .none, .notOwned:
                if instant >= first { lane.set(column, glyphs.nothing) }
            }
        }

        let isFree = lane.cells.map { $0 == " " || $0 == glyphs.nothing }
        let short = rows.filter { $0.validFrom < $0.validTo && axis.isBetweenMiddles($0) }
        for row in short {
            let column = axis.column(of: row.validFrom)
            if isFree.indices.contains(column), isFree[column] {
                lane.set(column, glyphs.cell(row.kind))
            }
        }

        for row in rows where row.endReason == .refunded || row.endReason == .revoked {
            guard axis.start <= row.validTo, row.validTo < axis.end else { continue }
            let column = axis.column(of: row.validTo)
            // The only cell of a short period is left to it.
            let isTaken = short.contains { axis.column(of: $0.validFrom) == column }
            lane.set(isTaken ? min(column + 1, axis.columns - 1) : column, glyphs.refund)
        }
        if answer(at: axis.end).hasAccess { lane.set(axis.columns - 1, glyphs.onward) }
        return lane
    }

    /// The product that was paid for, or tried.
    func products(_ rows: [ActivePeriod]) -> TimelineLane {
        var lane = lane("product")
        let paid = rows.filter { !$0.isGrace && $0.validFrom < $0.validTo }
        for row in paid where row.validTo > axis.start && row.validFrom < axis.end {
            let replaces = paid.contains {
                $0.isReplaced && $0.validTo == row.validFrom && $0.stream == row.stream
            }
            lane.span(
                from: axis.column(of: row.validFrom),
                to: axis.column(of: row.validTo),
                label: row.kind == .trial ? "trial" : row.shortProductId,
                edges: (
                    replaces ? glyphs.change : glyphs.left, glyphs.line,
                    row.validTo > axis.end ? glyphs.onward : glyphs.right
                )
            )
        }
        return lane
    }

    /// Whether auto-renewal was on, from each change to the next.
    func renewals(_ timelines: [Timeline]) -> TimelineLane {
        var lane = lane("renew")
        for timeline in timelines {
            var changes: [(column: Int, word: String)] = []
            for change in timeline.autoRenewChanges {
                // The setting in force at the start of the axis is shown in its first column.
                let column = axis.column(of: change.asOf)
                if column == 0 { changes = [] }
                if column < axis.columns { changes.append((column, change.isOn ? "on" : "off")) }
            }
            for (index, change) in changes.enumerated() {
                let isLast = index + 1 == changes.count
                let end = isLast ? axis.columns : changes[index + 1].column - 1
                lane.write(change.word, at: change.column)
                let start = change.column + change.word.count + 1
                guard start < end else { continue }
                for column in start..<end where lane.cells[column] == " " {
                    lane.set(column, glyphs.line)
                }
            }
        }
        return lane
    }

    /// What was paid and refunded, without the amounts of family members, which the customer did
    /// not pay (Apple's data: trap 33).
    func money(_ timelines: [Timeline]) -> TimelineLane {
        var lane = lane("money")
        for payment in timelines.flatMap(\.payments).sorted(by: Payment.areInOrder)
        where axis.start <= payment.at && payment.at < axis.end {
            lane.write(
                payment.text(minus: glyphs.minus, reversed: glyphs.reversed),
                at: axis.column(of: payment.at)
            )
        }
        return lane
    }
}

extension TimelineAxis {
    // Whether a period is on the axis, and contains no column's middle.
    fileprivate func isBetweenMiddles(_ row: ActivePeriod) -> Bool {
        guard start <= row.validFrom, row.validFrom < end else { return false }
        let column = column(of: row.validFrom)
        return ![column, column + 1].contains { column in
            let instant = middle(of: column)
            return row.validFrom <= instant && instant < row.validTo
        }
    }
}

extension ActivePeriod {
    /// The last two parts of the product's id, which distinguish the products of one app.
    package var shortProductId: String {
        productId.split(separator: ".").suffix(2).joined(separator: ".")
    }
}
