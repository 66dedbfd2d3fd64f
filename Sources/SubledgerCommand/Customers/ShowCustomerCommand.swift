import CommandSupport
import ArgumentParser
import Events
import Projections
import Subledger

struct ShowCustomerCommand: AsyncParsableCommand, KnowledgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "The subscriptions of a customer, and who had each of them when.",
        discussion: """
            ID is a customer's name, an app account token, an appTransactionId, a transaction id \
            or an original transaction id. Computed from the log, not read from a table. \
            Subscriptions without a link are joined if Apple states something that they share: an \
            app account token, an appTransactionId, an app receipt, a migration, a transaction or \
            a web order line item. A link to another customer takes precedence for its \
            subscription.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(
        help: Clock.help("Also list the subscriptions that the customer had at this instant."),
        transform: Clock.time
    )
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let ledger = try await database.openLedger()
        let customer = try await ledger.found(
            try await ledger.subject(question.subject),
            knownAt: clocks.knownAt
        )
        await ledger.close()
        let answer = CustomerDocument(customer, at: clocks.at)
        try output.print(answer, answer.text(customer, at: clocks.at))
    }
}

extension CustomerDocument {
    /// The answer as text.
    ///
    /// - Parameters:
    ///   - customer: The customer, for the times in which bonds apply.
    ///   - instant: The instant asked about.
    /// - Returns: The lines.
    fileprivate func text(_ customer: Customer, at instant: Instant?) -> [String] {
        let own = Owner.appAccountToken(id)
        let names =
            (self.customer.map { ["customer \($0)"] } ?? [])
            + appAccountTokens.filter { .appAccountToken($0) != own }
        var lines = [
            ([id, "\(environment)"] + names + [QuestionZone.shown.name]).joined(separator: " · ")
        ]
        lines += streams.flatMap(\.text)
        let grounds = customer.timedGrounds(of: customer.streams)
        if !grounds.isEmpty { lines.append("\n" + grounds.joined(separator: "\n")) }
        if !related.isEmpty {
            lines.append("\nnow with other customers, but linked to or claimed by this one before:")
        }
        lines += related.flatMap(\.text)
        let others = customer.timedGrounds(of: customer.related)
        if !others.isEmpty { lines.append("\n" + others.joined(separator: "\n")) }
        lines += ambiguous.map { "\n" + $0.line }
        guard let instant, let ownedAt else { return lines }
        let owned = ownedAt.isEmpty ? "none" : ownedAt.joined(separator: ", ")
        let links = LinkNotInForce.all(of: customer, at: instant).map(\.line)
        return lines + ["\ntheirs at \(instant.clock): \(owned)"] + links
    }
}

extension CustomerDocument.Stream {
    fileprivate var text: [String] {
        var lines = [
            "\n\(originalTransactionId)  \(productIds.joined(separator: ", "))", ownersText.text,
        ]
        lines += links.filter(\.isContested).map { claim in
            " CONTESTED: \(claim.customer ?? "") \(claim.from.sinceWords), held by "
                + "\(claim.contests ?? "") (#\(claim.position))"
        }
        if tokens.count > 1 {
            lines.append(" its app account token changed \(tokens.count - 1) times")
        }
        return lines
    }
}
