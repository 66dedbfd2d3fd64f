import CommandSupport
import ArgumentParser
import Events
import Projections
import Subledger

struct RefundsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds",
        abstract: "Refunds requested, declined, granted and reversed, purchase by purchase.",
        discussion: """
            Lists every refund case, then the state of each purchase. Computed from the log, not \
            read from a table.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(
        help: Clock.help(
            "Cases, states and money at this instant, as known now."
        ),
        transform: Clock.time
    )
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let answer = try await database.ask { ledger in
            try await ledger.refunds(
                of: question.subject,
                at: clocks.at,
                knownAt: clocks.knownAt
            )
        }
        try output.print(answer, answer.text)
    }
}

extension RefundsDocument {
    /// The answer as text.
    fileprivate var text: [String] {
        var lines = ["\(originalTransactionId) · \(environment) · UTC"]
        guard isKnown else { return lines + [NothingKnown.words] }
        if !withoutPurchase.isEmpty {
            lines.append(
                "refunds of unknown purchases, so their amounts are unknown: "
                    + "\(withoutPurchase.marks); `subledger event` shows each"
            )
        }
        if !refunds.isEmpty {
            lines.append(cases)
        } else if withoutPurchase.isEmpty {
            lines.append("no refund was requested or granted")
        }
        var table = TextTable(["purchase", "product", "state", "paid", "kept"])
        for purchase in purchases {
            let currency = purchase.currency
            table.add([
                purchase.purchaseDate.clock, purchase.productId,
                RefundWords.text(purchase.state, purchase.kind),
                Amount.text(purchase.grossMilliunits, currency),
                Amount.kept(purchase.netMilliunits, of: purchase.grossMilliunits, currency),
            ])
        }
        lines.append("\n" + table.text)
        return lines
            + estimates.map { estimate in
                "estimate, not counted in any total: about "
                    + Amount.text(estimate.estimatedRefundMilliunits, estimate.currency)
                    + " of \(estimate.productId) for the change at \(estimate.replacedAt.clock)"
                    + "; Apple signs no amount (\(estimate.positions.marks))"
            }
    }

    private var cases: String {
        var table = TextTable([
            "purchase", "product", "state", "timing", "requested", "declined", "refunded",
            "reported", "reversed", "given back", "because of",
        ])
        for row in refunds {
            table.add([
                row.purchaseDate.clock, row.productId, row.stateWords, row.timing?.rawValue ?? "–",
                clock(row.requested, row.requestReason),
                clock(row.declined),
                clock(row.revoked, row.earlierRevocationDate.map { "(was \($0.clock))" }),
                clock(row.announced), clock(row.reversed, row.reversal?.rawValue),
                Amount.text(row.refundedMilliunits, row.currency), row.positions.marks,
            ])
        }
        return table.text
    }

    private func clock(_ instant: Instant?, _ word: String? = nil) -> String {
        guard let clock = instant?.clock else { return "–" }
        return word.map { "\(clock) \($0)" } ?? clock
    }
}

extension RefundCase {
    /// The state as text, with the number of seats that were taken back.
    fileprivate var stateWords: String {
        let words = RefundWords.text(state.rawValue, kind?.rawValue)
        return seatQuantity.map { words.replacing("seats", with: counted($0, "seat")) } ?? words
    }
}
