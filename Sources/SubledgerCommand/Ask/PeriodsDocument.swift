import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Subledger

/// The fixed JSON of `periods` (DESIGN §8).
struct PeriodsDocument: Encodable {
    let originalTransactionId: String
    let environment: String
    let periods: [Row]
    let active: [[Int64]]

    struct Row: Encodable {
        let productId: String
        let purchaseDate: Int64
        let expiresDate: Int64
        let validFrom: Int64
        let validTo: Int64
        let kind: String
        let endReason: String
        let expirationReason: String?
        let billingPlanType: String?
        let commitment: Commitment?
        let advancedCommerceItems: [Item]?
        let positions: [PositionValue]
    }

    /// An item of an Advanced Commerce purchase, under Apple's names.
    struct Item: Encodable {
        // Apple's spelling.
        let SKU: String
        let displayName: String?
        let price: Int64?
        let revocationDate: Int64?

        init(_ item: CommerceItem) {
            SKU = item.sku
            displayName = item.displayName
            price = item.priceMilliunits
            revocationDate = item.revocationDate?.milliseconds
        }
    }

    /// The commitment of a period, under Apple's names.
    struct Commitment: Encodable {
        let billingPeriodNumber: Int64?
        let totalBillingPeriods: Int64?
        let commitmentExpiresDate: Int64?
        let commitmentPrice: Int64?

        init(_ commitment: BillingPlan.Commitment) {
            billingPeriodNumber = commitment.periodNumber
            totalBillingPeriods = commitment.periodCount
            commitmentExpiresDate = commitment.expiresDate?.milliseconds
            commitmentPrice = commitment.priceMilliunits
        }
    }

    init(
        _ stream: StreamID,
        _ rows: [ActivePeriod],
        _ active: [Range<Instant>],
        lanes: LaneCount
    ) {
        originalTransactionId = stream.originalTransactionId
        environment = stream.environment.word
        periods = rows.map { row in
            Row(
                productId: row.productId,
                purchaseDate: row.purchaseDate.milliseconds,
                expiresDate: row.expiresDate.milliseconds,
                validFrom: row.validFrom.milliseconds,
                validTo: row.validTo.milliseconds,
                kind: row.kind.rawValue,
                endReason: row.endReason.rawValue,
                expirationReason: row.expirationReason?.rawValue,
                billingPlanType: row.billingPlan?.type,
                commitment: row.billingPlan?.commitment.map(Commitment.init),
                advancedCommerceItems: row.items.isEmpty ? nil : row.items.map(Item.init),
                positions: row.positions.map { PositionValue($0, lanes: lanes) }
            )
        }
        self.active = active.map { [$0.lowerBound.milliseconds, $0.upperBound.milliseconds] }
    }

    /// The same for people.
    static func printTable(
        _ stream: StreamID,
        _ rows: [ActivePeriod],
        _ active: [Range<Instant>],
        at instant: Instant,
        instead sentence: String?,
        lanes: LaneCount
    ) {
        Terminal.print("\(stream.originalTransactionId) · \(stream.environment) · UTC")
        if rows.isEmpty, let sentence {
            Terminal.print(sentence)
            return
        }
        var table = TextTable(["from", "to", "kind", "ended", "product", "because of"])
        for row in rows {
            table.add([
                row.validFrom.clock, row.validTo.clock, row.kind.rawValue,
                row.endWords(at: instant), row.productWords, row.positions.marks(lanes: lanes),
            ])
        }
        Terminal.print(table.text)
        let intervals = active.map { "\($0.lowerBound.clock) – \($0.upperBound.clock)" }
        Terminal.print(
            intervals.isEmpty ? "no access" : "access " + intervals.joined(separator: ", ")
        )
    }
}

extension ActivePeriod {
    /// What was bought, and how it is paid where Apple said so.
    fileprivate var productWords: String {
        var words = [productId]
        if let type = billingPlan?.type { words.append(type) }
        if let commitment = billingPlan?.commitment, let number = commitment.periodNumber,
            let count = commitment.periodCount
        {
            words.append("\(number) of \(count)")
        }
        if let expires = billingPlan?.commitment?.expiresDate {
            words.append("committed until \(expires.clock)")
        }
        words += items.map { item in
            let name = item.displayName.map { " “\($0)”" } ?? ""
            let price = item.priceMilliunits.map { " " + Amount.text($0, nil) } ?? ""
            return "item \(item.sku)\(name)\(price)"
        }
        return words.joined(separator: " · ")
    }

    /// Why it ended, with Apple's reason where it said one; by the clock where Apple has not
    /// spoken.
    fileprivate func endWords(at instant: Instant) -> String {
        if endReason == .open, validTo <= instant { return "expired since Apple last spoke" }
        return endReason.rawValue + (expirationReason.map { " (\($0.rawValue))" } ?? "")
    }
}
