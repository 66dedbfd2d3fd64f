import CommandSupport
import ArgumentParser
import Events
import Subledger

struct EligibilityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eligibility",
        abstract: "Which offers a customer may be made, and what stands in the way.",
        discussion: """
            By subscription group: an introductory offer used for one product is used for all of \
            its group. The first rule that says something is named, with the purchase it is about. \
            Apple decides when the customer buys; a refund blocks here, which is more careful. Of a \
            customer never seen the answer is that nothing was bought, and they are eligible. \
            --product asks about a product by its group, which the catalog names.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(
        help: Clock.help("The instant that is asked about. Default: now."),
        transform: Clock.time
    )
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions

    @Option(help: "Only this subscription group, known or not. Default: all that are known.")
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
    /// The answer for people.
    fileprivate var text: [String] {
        let title = "\(id) · \(environment) · \(at.clock) UTC"
        let nothing =
            isKnown
            ? [] : ["eligible, nothing bought: no purchase of \(id) is known in \(environment)"]
        guard !groups.isEmpty else {
            guard isKnown else { return [title] + nothing + linkLines }
            return [
                title,
                "no subscription is known of this customer, and only subscriptions have offers; "
                    + "--group asks about a group that is not known",
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
                ? link.line : link.line + "; it counts all the same, for an offer is used once"
        }
    }
}

extension EligibilityDocument.Listed {
    fileprivate var text: String {
        let offers =
            eligibleWinBackOfferIds.isEmpty
            ? "no offer" : eligibleWinBackOfferIds.joined(separator: ", ")
        return "\(offers) as of \(asOf.clock) (\(originalTransactionId) \(positions.text))"
    }
}

extension EligibilityDocument.Blocking {
    fileprivate var text: String {
        "\(productId) \(purchaseDate.clock) → \(expiresDate.clock) (\(originalTransactionId) "
            + "\(positions.text))"
    }
}
