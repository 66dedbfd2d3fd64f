import CommandSupport
import ArgumentParser
import Events
import Projections
import Subledger

struct EligibilityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eligibility",
        abstract: "Which offers a customer is eligible for, and which purchases rule out others.",
        discussion: """
            Answers per subscription group: an introductory offer used for one product is used for \
            its whole group. Each answer names the first rule that applies, and the purchase that \
            it applies to. Apple makes the decision at the time of purchase; this answer is more \
            cautious and lets a refund block offers. A customer never seen before counts as one \
            who has bought nothing, and is eligible; one of whom everything was erased is unknown \
            (exit 4). --product selects the group of a product, according to the catalog.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(
        help: Clock.help("The instant to answer for. Default: now."),
        transform: Clock.time
    )
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions

    @Option(help: "Only this subscription group, even if it is unknown. Default: all known groups.")
    var group: String?

    @Option(
        help: ArgumentHelp(
            "Only the subscription group of this product; repeat for more.",
            valueName: "product"
        )
    )
    var product: [String] = []

    @OptionGroup var database: DatabaseOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let ledger = try await database.openLedger()
        let answer = try await ledger.eligibility(
            of: question.subject,
            at: clocks.instant,
            group: group,
            products: product,
            knownAt: clocks.knownAt
        )
        await ledger.close()
        AnswerNotes.write(answer.erasures)
        try output.print(answer, answer.text)
    }
}

extension EligibilityDocument {
    /// The answer as text.
    fileprivate var text: [String] {
        let title = "\(id) · \(environment) · \(at.clock) UTC"
        let nothing =
            isKnown
            ? [] : ["eligible, nothing bought: no purchase of \(id) is known in \(environment)"]
        guard !groups.isEmpty else {
            guard isKnown else { return [title] + nothing + linkLines }
            return [
                title,
                "no subscription of this customer is known, and only subscriptions have offers; to "
                    + "ask about an unknown group, use --group",
            ]
        }
        var table = TextTable(["group", "offer", "eligible", "rule", "because of"])
        for group in groups {
            for (index, (offer, verdict)) in group.verdicts.enumerated() {
                table.add([
                    index == 0 ? group.name : "", offer, verdict.eligible ? "yes" : "no",
                    verdict.rule, verdict.blocking?.text ?? verdict.listedByApple?.text ?? "",
                ])
            }
            table.add(["", "offer code", "as \(group.subscriber)", "", ""])
        }
        let asked = products.map {
            "\($0.productId) is of group \($0.subscriptionGroupIdentifier)"
        }
        return [title] + nothing + asked + [table.text] + subscriptions.lines
            + linkLines
    }

    private var linkLines: [String] {
        linksNotInForce.map { link in
            link.isLater
                ? link.line : link.line + "; it still counts: an offer can be used only once"
        }
    }
}

extension WinBackList {
    fileprivate var text: String {
        let offers =
            eligibleWinBackOfferIds.isEmpty
            ? "no offer" : eligibleWinBackOfferIds.joined(separator: ", ")
        return "\(offers) as of \(asOf.clock) (\(originalTransactionId) \(positions.marks))"
    }
}

extension BlockingTransaction {
    fileprivate var text: String {
        "\(productId) \(purchaseDate.clock) → \(expiresDate.clock) (\(originalTransactionId) "
            + "\(positions.marks))"
    }
}
