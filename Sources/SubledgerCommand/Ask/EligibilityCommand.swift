import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections

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

    @OptionGroup var question: CustomerOptions

    @Option(help: "Only this subscription group, known or not. Default: all that are known.")
    var group: String?

    @OptionGroup var database: DatabaseOptions

    @Flag(name: .long, help: "Print one JSON document.")
    var json = false

    func run() async throws {
        let instant = question.at ?? .systemClock()
        let known = try await question.ask(database, at: instant)
        try tell(known, at: instant)
    }

    private func tell(_ known: KnownCustomer, at instant: Instant) throws {
        let offers = OfferEligibility(
            known.everTimelines,
            environment: known.environment,
            catalogs: known.catalogs
        )
        let groups =
            group.map { [offers.eligibility(in: .identified($0), at: instant)] }
            ?? offers.groups(at: instant)
        if json {
            try Terminal.print(
                json: EligibilityDocument(groups, question, known, at: instant)
            )
        } else {
            EligibilityDocument.print(groups, question, known, at: instant)
        }
    }
}
