import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

/// Which customer a question is about, where, when, and as known when.
struct CustomerOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The customer, by any of their names.",
            discussion:
                "The app's own name, an app account token, an appTransactionId, a transaction id, "
                + "original or not."
        )
    )
    var id: String

    @Option(help: "Production, Sandbox, Xcode …; they are never mixed.")
    var environment = Environment.production.word

    @Option(help: "The instant that is asked about. Default: now.", transform: Clock.instant)
    var at: Instant?

    @Option(
        help: Clock.knownAtHelp,
        transform: Clock.knownAt
    )
    var knownAt: KnownAt = .latest

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("the id is empty") }
    }

    /// What was known of the customer; exit 4 where it was nothing.
    func ask(_ database: DatabaseOptions, at instant: Instant) async throws -> KnownCustomer {
        let ledger = try await Ledger.open(try await database.settings())
        let subject = try await subject(in: ledger, at: instant)
        let catalogs = try await ledger.catalogs(knownAt: knownAt)
        let named = StreamID(environment: Environment(environment), originalTransactionId: id)
        let asked = Set(subject.everStreams.map(\.stream)).union([named])
        try await ErasureMarks.tell(of: asked.sorted(), in: ledger.log)
        await ledger.log.close()
        return KnownCustomer(
            timelines: subject.streams.map(\.timeline),
            tenureEnds: subject.customer.tenureEnds(after: instant),
            everTimelines: subject.everStreams.map(\.timeline),
            grounds: subject.grounds,
            everGrounds: AnswerGrounds(subject.customer, subject.everStreams),
            environment: subject.customer.environment,
            catalogs: catalogs,
            lanes: ledger.log.identity.lanes
        )
    }

    private func subject(in ledger: Ledger, at instant: Instant) async throws -> AskedSubject {
        try await Clock.check(knownAt, in: ledger.log)
        let subject = try await AskedSubject(
            id,
            in: Environment(environment),
            at: instant,
            knownAt: knownAt,
            of: ledger
        )
        guard subject.everStreams.isEmpty else { return subject }
        let known = try await ledger.environments(ofCustomer: id)
        throw nothingKnown(in: known, lanes: ledger.log.identity.lanes)
    }

    private func nothingKnown(in environments: [Environment], lanes: LaneCount) -> Failure {
        let known = environments.map(\.word).joined(separator: ", ")
        let message =
            if environments.isEmpty {
                "no subscription has \(id) as its customer, app account token, appTransactionId or "
                    + "transaction; "
                    + "`subledger streams` lists those that are known"
            } else if environments.contains(where: { $0.word == environment }) {
                "nothing was known of \(id) as of --known-at \(knownAt.text(lanes: lanes)); leave it "
                    + "out for what is known now"
            } else {
                "\(id) is not known in \(environment), but in \(known); say so with --environment"
            }
        return Failure(Exit.notFound, message)
    }
}

/// What is known of a customer: all that folds need to answer.
struct KnownCustomer {
    /// The subscriptions that were theirs.
    let timelines: [Timeline]
    /// When those that are known to be given to somebody else later stop being theirs.
    let tenureEnds: [StreamID: Instant]
    /// Those, and all that ever were: an offer that was used once stays used (app-store.md §G.b).
    let everTimelines: [Timeline]
    /// Why those of `timelines` count.
    let grounds: AnswerGrounds
    /// Why those of `everTimelines` count.
    let everGrounds: AnswerGrounds
    /// Where they were bought.
    let environment: Environment
    /// What is sold, and was.
    let catalogs: CatalogHistory
    /// The ledger's lanes, for writing positions.
    let lanes: LaneCount
}
