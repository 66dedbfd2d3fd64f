import CommandSupport
import ArgumentParser
import Events
import Projections
import Subledger

struct PeriodsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "periods",
        abstract: "When a subscription gave access, and why it stopped.",
        discussion: """
            Computed from the log, not read from a table. A period is open if it had not ended \
            when Apple last reported on the subscription. If its end has passed since, the \
            text output shows "ended 2015-07-09, no renewal known"; --json and the table \
            active_periods, which do not depend on the current time, still show open.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(help: Clock.help("Only the periods that contain this instant."), transform: Clock.time)
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let answer = try await database.ask { ledger in
            try await ledger.periods(
                of: question.subject,
                at: clocks.at,
                knownAt: clocks.knownAt
            )
        }
        try output.print(answer, answer.text(at: clocks.instant))
    }
}

extension PeriodsDocument {
    /// The answer as text.
    func text(at instant: Instant) -> [String] {
        let title = "\(originalTransactionId) · \(environment) · UTC"
        guard isKnown else { return [title, NothingKnown.words] }
        if periods.isEmpty, let oneTimePurchase {
            return [title, oneTimePurchase.sentence(without: "periods")]
        }
        var table = TextTable(["from", "to", "kind", "ended", "product", "because of"])
        for row in periods {
            table.add([
                row.validFrom.clock, row.validTo.clock, row.kind.rawValue,
                row.endWords(at: instant),
                row.productWords, row.positions.marks,
            ])
        }
        let times = active.map(\.text)
        return [
            title, table.text,
            times.isEmpty ? "no access" : "access " + times.joined(separator: ", "),
        ] + linksNotInForce.map(\.line)
    }
}

extension ActivePeriod {
    /// What was bought, and its billing plan if Apple stated one.
    fileprivate var productWords: String {
        var words = [productId] + [billingPlanType].compactMap { $0 }
        if let number = commitment?.periodNumber, let count = commitment?.periodCount {
            words.append("\(number) of \(count)")
        }
        if let expires = commitment?.expiresDate {
            words.append("committed until \(expires.clock)")
        }
        if let seatQuantity { words.append(counted(seatQuantity, "seat")) }
        if let bundleProductId { words.append("in bundle \(bundleProductId)") }
        words += (advancedCommerceItems ?? []).map { item in
            let name = item.displayName.map { " “\($0)”" } ?? ""
            let price = item.priceMilliunits.map { " " + Amount.text($0, nil) } ?? ""
            return "item \(item.sku)\(name)\(price)"
        }
        return words.joined(separator: " · ")
    }

    /// Why it ended, with Apple's reason if it stated one; by the clock if Apple made no statement.
    fileprivate func endWords(at instant: Instant) -> String {
        if endReason == .open, validTo <= instant {
            return "ended \(validTo.clock.prefix(10)), no renewal known"
        }
        if planChange == .crossgrade { return "crossgraded" }
        if endReason == .assignmentEnded { return "assignment ended" }
        return endReason.rawValue + (expirationReason.map { " (\($0.rawValue))" } ?? "")
    }
}
