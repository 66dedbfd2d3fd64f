import ArgumentParser
import EventLog
import Events
import Projections

/// Which customer a question is about, where, when, and as known when.
struct CustomerOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The customer, by any of their names.",
            discussion: "An originalTransactionId."
        )
    )
    var id: String

    @Option(help: "Production, Sandbox, Xcode …; they are never mixed.")
    var environment = Environment.production.word

    @Option(help: "The instant that is asked about. Default: now.", transform: Clock.instant)
    var at: Instant?

    @Option(
        help: "Use only what the log knew then: an offset, lane:offset pairs, or an instant.",
        transform: Clock.knownAt
    )
    var knownAt: KnownAt = .latest

    /// What was known of the customer; exit 4 where it was nothing.
    func ask(_ database: DatabaseOptions, at instant: Instant) async throws -> KnownCustomer {
        let log = try await database.openLog()
        let timelines = try await timelines(in: log, at: instant)
        await log.close()
        return KnownCustomer(
            timelines: timelines,
            environment: Environment(environment),
            catalogues: .none,
            lanes: log.identity.lanes
        )
    }

    private func timelines(in log: EventLog, at instant: Instant) async throws -> [Timeline] {
        var question = StreamOptions()
        question.originalTransactionId = id
        question.environment = environment
        question.knownAt = knownAt
        let stream = try await question.stream(in: log)
        let history = try await log.history(of: stream, knownAt: knownAt)
        guard !history.events.isEmpty else { throw nothingKnown }
        return [Timeline(history)]
    }

    private var nothingKnown: Failure {
        Failure(
            Exit.notFound,
            "nothing was known of \(id) as of --known-at \(knownAt); leave it out for what is "
                + "known now"
        )
    }
}

/// What is known of a customer: all that folds need to answer.
struct KnownCustomer {
    /// The subscriptions that were theirs.
    let timelines: [Timeline]
    /// Where they were bought.
    let environment: Environment
    /// What is sold, and was.
    let catalogues: CatalogueHistory
    /// The ledger's lanes, for writing positions.
    let lanes: LaneCount
}
