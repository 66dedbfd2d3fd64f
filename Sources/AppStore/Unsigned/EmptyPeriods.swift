import Events

/// Periods in a payload that give no access, because the purchase is not before the expiry.
///
/// Responses of 2014 give the time of the request as the purchase date of every row. They are taken
/// as stated, because nothing shows which of the two dates is wrong.
enum EmptyPeriods {
    /// Most periods that a notice lists; all are counted.
    static let namedMax = 5

    /// What the operator should know about the empty periods among these facts, if there are any.
    static func notices(_ facts: [Fact]) -> [VerifiedPayload.Notice] {
        var seen: Set<Period> = []
        let periods = facts.compactMap { fact -> Period? in
            guard fact.kind == .transaction, fact.expiresDate != Instant(milliseconds: 0),
                fact.expiresDate <= fact.purchaseDate
            else { return nil }
            let period = Period(
                stream: fact.stream,
                purchaseDate: fact.purchaseDate,
                expiresDate: fact.expiresDate
            )
            return seen.insert(period).inserted ? period : nil
        }
        guard !periods.isEmpty else { return [] }

        let named = periods.prefix(namedMax).map { period in
            "\(period.stream.originalTransactionId) bought \(period.purchaseDate), expires"
                + " \(period.expiresDate)"
        }
        let more = periods.count - named.count
        return [
            VerifiedPayload.Notice(
                code: .periodsEmpty,
                message: (periods.count == 1 ? "1 period gives" : "\(periods.count) periods give")
                    + " no access, because the purchase is not before the expiry; accepted as "
                    + "stated: "
                    + named.joined(separator: "; ") + (more > 0 ? " … and \(more) more." : "."),
                leftOut: 0
            )
        ]
    }

    private struct Period: Hashable {
        let stream: StreamID
        let purchaseDate: Instant
        let expiresDate: Instant
    }
}
