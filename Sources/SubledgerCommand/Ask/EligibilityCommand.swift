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
            Apple decides when the customer buys; a refund blocks here, which is more careful.
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

    @OptionGroup var database: DatabaseOptions

    @Flag(name: .long, help: "Print one JSON document.")
    var json = false

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let ledger = try await database.openLedger()
        let answer = try await ledger.eligibility(
            of: question.subject,
            at: clocks.instant,
            group: group,
            knownAt: clocks.knownAt
        )
        await ledger.close()
        AnswerNotes.write(answer.erasures)
        if json { try Terminal.print(json: answer) } else { answer.text.forEach(Terminal.print) }
    }
}

extension EligibilityDocument {
    /// The answer for people.
    fileprivate var text: [String] {
        let title = "\(id) · \(environment) · \(at.clock) UTC"
        guard !groups.isEmpty else {
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
        return [title, table.text] + subscriptions.lines
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
