import ArgumentParser
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
        let log = try await database.openLog()
        let groups = try await groups(in: log, at: instant)
        await log.close()
        if json {
            try Terminal.print(
                json: EligibilityDocument(
                    groups,
                    question,
                    at: instant,
                    lanes: log.identity.lanes
                )
            )
        } else {
            EligibilityDocument.print(groups, question, at: instant)
        }
    }

    private func groups(in log: EventLog, at instant: Instant) async throws -> [GroupEligibility] {
        let offers = OfferEligibility(
            try await question.timelines(in: log, at: instant),
            environment: Environment(question.environment)
        )
        guard let group else { return offers.groups(at: instant) }
        return [offers.eligibility(in: .identified(group), at: instant)]
    }
}
