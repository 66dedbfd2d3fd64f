import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections

struct RefundsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds",
        abstract: "What was asked back, given back and taken again, purchase by purchase.",
        discussion: """
            Every case, then how each purchase stands. Folded from the log at once; no table \
            stands between.
            """
    )

    @OptionGroup var question: StreamOptions

    @Option(
        help: "Only purchases and cases that had begun by this instant.",
        transform: Clock.instant
    )
    var at: Instant?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        let document = try await document(from: log)
        await log.close()
        if output.json { try Terminal.print(json: document) } else { document.printTable() }
    }

    private func document(from log: EventLog) async throws -> RefundsDocument {
        let stream = try await question.stream(in: log)
        let history = try await log.history(of: stream, knownAt: question.knownAt)
        try await ErasureMarks.tell(of: [stream], in: log)
        try await question.printSiblings(of: stream, in: log)
        let timeline = Timeline(history)
        let cases = Refunds(timeline).rows.filter { row in
            at.map { at in row.begun.map { $0 <= at } ?? true } ?? true
        }
        let purchases = TransactionRows(timeline, .none).rows.filter {
            hasBegun($0.time.start)
        }
        let estimates = PlanChanges(timeline, .none).rows.filter { change in
            change.effective.map(hasBegun) ?? false
        }
        return RefundsDocument(
            stream,
            cases,
            purchases,
            estimates,
            unplaced: Refunds.unplaced(in: timeline),
            RevocationChanges(history),
            lanes: log.identity.lanes
        )
    }

    private func hasBegun(_ start: Instant) -> Bool { at.map { start <= $0 } ?? true }
}

extension RefundCase {
    /// The first instant of the case; nil where none is known.
    fileprivate var begun: Instant? {
        [requested, declined, revoked, announced, reversed].compactMap { $0 }.min()
    }
}

/// The JSON of `refunds`.
struct RefundsDocument: Encodable {
    let originalTransactionId: String
    let environment: String
    let refunds: [Case]
    let purchases: [Purchase]
    /// Announcements of which no purchase is known.
    let withoutPurchase: [PositionValue]
    /// What Apple probably gave back for changes of plan: not counted in any total, for
    /// Apple signs no amount.
    let estimates: [Estimate]

    struct Estimate: Encodable {
        let productId: String
        let replacedAt: Int64
        let estimatedRefundMilliunits: Int64
        let currency: String?
        let positions: [PositionValue]

        init?(_ change: PlanChange, lanes: LaneCount) {
            guard let milliunits = change.estimatedRefundMilliunits,
                let effective = change.effective
            else { return nil }
            productId = change.fromProductId
            replacedAt = effective.milliseconds
            estimatedRefundMilliunits = milliunits
            currency = change.estimatedRefundCurrency
            positions = change.positions.map { PositionValue($0, lanes: lanes) }
        }
    }

    struct Case: Encodable {
        let productId: String
        let purchaseDate: Int64
        let expiresDate: Int64?
        let state: String
        let kind: String?
        let timing: String?
        let requested: Int64?
        let consumptionRequestReason: String?
        let declined: Int64?
        let revocationDate: Int64?
        /// The date that Apple had signed before it signed that one; nil where it signed no other.
        let earlierRevocationDate: Int64?
        let announced: Int64?
        let reversed: Int64?
        let reversal: String?
        let revocationReason: Int64?
        let revocationPercentage: Int64?
        let priceMilliunits: Int64?
        let refundedMilliunits: Int64?
        let currency: String?
        let isNet: Bool
        let positions: [PositionValue]

        init(_ row: RefundCase, _ changes: RevocationChanges, lanes: LaneCount) {
            productId = row.productId
            purchaseDate = row.purchaseDate.milliseconds
            expiresDate = row.expiresDate?.milliseconds
            state = row.state.rawValue
            kind = row.kind?.rawValue
            timing = row.timing?.rawValue
            requested = row.requested?.milliseconds
            consumptionRequestReason = row.requestReason
            declined = row.declined?.milliseconds
            revocationDate = row.revoked?.milliseconds
            earlierRevocationDate =
                changes.earlierDate(than: row.revoked, at: row.positions)?.milliseconds
            announced = row.announced?.milliseconds
            reversed = row.reversed?.milliseconds
            reversal = row.reversal?.rawValue
            revocationReason = row.reason
            revocationPercentage = row.percentageMilli
            priceMilliunits = row.priceMilliunits
            refundedMilliunits = row.refundedMilliunits
            currency = row.currency
            isNet = row.isNet
            positions = row.positions.map { PositionValue($0, lanes: lanes) }
        }
    }

    struct Purchase: Encodable {
        let productId: String
        let purchaseDate: Int64
        let expiresDate: Int64?
        let state: String
        let kind: String?
        let grossMilliunits: Int64?
        let netMilliunits: Int64?
        let currency: String?

        init(_ row: TransactionRow, _ net: RefundCase?) {
            productId = row.product.productId
            purchaseDate = row.time.start.milliseconds
            expiresDate = row.time.end?.milliseconds
            state = net?.state.rawValue ?? "kept"
            kind = net?.kind?.rawValue
            grossMilliunits = row.money.grossMilliunits
            netMilliunits = row.money.netMilliunits
            currency = row.money.currency
        }
    }

    init(
        _ stream: StreamID,
        _ cases: [RefundCase],
        _ rows: [TransactionRow],
        _ changes: [PlanChange],
        unplaced: [Position],
        _ revocations: RevocationChanges,
        lanes: LaneCount
    ) {
        originalTransactionId = stream.originalTransactionId
        environment = stream.environment.word
        refunds = cases.map { Case($0, revocations, lanes: lanes) }
        estimates = changes.compactMap { Estimate($0, lanes: lanes) }
        purchases = rows.map { row in
            let net = cases.last { refund in
                refund.isNet && refund.purchaseDate == row.time.start
                    && refund.expiresDate == row.time.end
                    && refund.productId.utf8.elementsEqual(row.product.productId.utf8)
            }
            return Purchase(row, net)
        }
        withoutPurchase = unplaced.map { PositionValue($0, lanes: lanes) }
    }
}

extension RefundsDocument {
    /// The same for people.
    fileprivate func printTable() {
        Terminal.print("\(originalTransactionId) · \(environment) · UTC")
        if !withoutPurchase.isEmpty {
            Terminal.print(
                "of no known purchase, so that no amount is known: \(withoutPurchase.text); "
                    + "`subledger event` shows each"
            )
        }
        if refunds.isEmpty, withoutPurchase.isEmpty {
            Terminal.print("no refund was asked for or given")
        } else if !refunds.isEmpty {
            Terminal.print(casesText)
        }
        var table = TextTable(["purchase", "product", "stands", "paid", "kept"])
        for purchase in purchases {
            table.add([
                clock(purchase.purchaseDate), purchase.productId,
                RefundWords.text(purchase.state, purchase.kind),
                amount(purchase.grossMilliunits, purchase.currency),
                Amount.kept(
                    purchase.netMilliunits,
                    of: purchase.grossMilliunits,
                    purchase.currency
                ),
            ])
        }
        Terminal.print("\n" + table.text)
        for estimate in estimates {
            Terminal.print(
                "estimate, not counted in any total: about "
                    + amount(estimate.estimatedRefundMilliunits, estimate.currency)
                    + " of \(estimate.productId) for the change at \(clock(estimate.replacedAt))"
                    + "; Apple signs no amount (\(estimate.positions.text))"
            )
        }
    }

    private var casesText: String {
        var table = TextTable([
            "purchase", "product", "case", "when", "asked", "declined", "refunded", "told",
            "reversed", "given back", "because of",
        ])
        for row in refunds {
            table.add([
                clock(row.purchaseDate), row.productId,
                RefundWords.text(row.state, row.kind), row.timing ?? "–",
                clock(row.requested, row.consumptionRequestReason), clock(row.declined),
                clock(
                    row.revocationDate,
                    row.earlierRevocationDate.map {
                        "(was \(Instant(milliseconds: $0).clock))"
                    }
                ),
                clock(row.announced), clock(row.reversed, row.reversal),
                amount(row.refundedMilliunits, row.currency), row.positions.text,
            ])
        }
        return table.text
    }

    private func clock(_ milliseconds: Int64?, _ word: String? = nil) -> String {
        guard let milliseconds else { return "–" }
        let clock = Instant(milliseconds: milliseconds).clock
        return word.map { "\(clock) \($0)" } ?? clock
    }

    private func amount(_ milliunits: Int64?, _ currency: String?) -> String {
        Amount.text(milliunits, currency)
    }
}
