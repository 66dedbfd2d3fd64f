import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

/// Whom a question with two clocks is about.
struct CustomerOrStreamOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A customer, an app account token, an appTransactionId or a transaction id.",
            discussion: """
                Whatever it is, the question is about all subscriptions that were the customer's at \
                the time, as with `access`.
                """
        )
    )
    var id: String

    @Option(help: "Production, Sandbox, Xcode …; needed where the id is known in several.")
    var environment: String?

    @Flag(help: "Only the subscription that has ID as its originalTransactionId.")
    var alone = false

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("the id is empty") }
    }

    /// Finds the subscriptions and reads them with both clocks.
    ///
    /// - Parameters:
    ///   - ledger: Where.
    ///   - instant: At which they are the customer's.
    ///   - knownAt: How much of the log may be used.
    /// - Returns: The histories, cut to what was known.
    /// - Throws: A failure where nothing has the id, or several environments do; `EventLogError`.
    func ask(
        _ ledger: Ledger,
        at instant: Instant,
        knownAt: KnownAt
    ) async throws -> AskedCustomer {
        let whole = try await read(ledger, at: instant, knownAt: knownAt)
        let knownAt = try await ledger.log.wholeCommits(knownAt)
        return AskedCustomer(
            id: id,
            environment: whole.environment,
            lanes: ledger.log.identity.lanes,
            erasures: ErasureMarks(whole.histories.flatMap(\.events)),
            grounds: whole.grounds,
            tenures: whole.tenures,
            histories: whole.histories.map { history in
                let lane = ledger.log.identity.lanes.lane(
                    of: history.stream.originalTransactionId
                )
                return history.cut(to: knownAt, lane: lane)
            }
        )
    }

    private func read(
        _ ledger: Ledger,
        at instant: Instant,
        knownAt: KnownAt
    ) async throws -> (
        environment: Environment, grounds: AnswerGrounds, tenures: [StreamID: Range<Instant>],
        histories: [RecordedHistory]
    ) {
        let own = try await ledger.log.environments(of: id)
        let known = own.isEmpty && !alone ? try await ledger.environments(ofCustomer: id) : own
        let environment = try chosen(from: known)
        if own.isEmpty {
            try await Clock.check(knownAt, in: ledger.log)
        } else {
            try await StreamOptions.check(knownAt, of: id, in: ledger.log)
        }
        if alone {
            let stream = StreamID(environment: environment, originalTransactionId: id)
            return (environment, .none, [:], [try await ledger.log.recordedHistory(of: stream)])
        }
        let subject = try await AskedSubject(
            id,
            in: environment,
            at: instant,
            knownAt: knownAt,
            of: ledger
        )
        // By its own id a subscription is asked about also where nothing was known of it then.
        let named = StreamID(environment: environment, originalTransactionId: id)
        let read = Set(subject.streams.map(\.stream)).union(own.isEmpty ? [] : [named]).sorted()
        var histories: [RecordedHistory] = []
        for stream in read { histories.append(try await ledger.log.recordedHistory(of: stream)) }
        return (environment, subject.grounds, subject.customer.tenures(at: instant), histories)
    }

    private func chosen(from found: [Environment]) throws -> Environment {
        let wanted = environment.map(Environment.init)
        let matching = wanted.map { word in found.filter { $0 == word } } ?? found.preferred
        let known = found.map(\.word).joined(separator: ", ")
        guard let first = matching.first else {
            throw Failure(
                Exit.notFound,
                found.isEmpty
                    ? alone
                        ? "no event has the originalTransactionId \(id); `subledger streams` lists "
                            + "those that are known, and without --alone ID may be any name"
                        : "no subscription has \(id) as its original transaction, transaction, app "
                            + "account token, appTransactionId or customer; `subledger streams` and "
                            + "`subledger customers list` list those that are known"
                    : "\(id) is not known in \(wanted?.word ?? ""), but in \(known)"
            )
        }
        guard matching.count == 1 else {
            throw Failure(
                .validationFailure,
                "\(id) is known in \(known): say which with --environment"
            )
        }
        return first
    }
}

/// The subscriptions that a question is about, as far as they were known.
struct AskedCustomer {
    let id: String
    let environment: Environment
    let lanes: LaneCount
    /// What was erased of the subscriptions, whenever that was.
    let erasures: ErasureMarks
    /// Why each subscription counts.
    let grounds: AnswerGrounds
    /// The time around the instant in which each was the customer's.
    let tenures: [StreamID: Range<Instant>]
    let histories: [RecordedHistory]

    /// The lanes of the subscriptions, ascending, each once.
    var usedLanes: [Int] {
        Set(histories.map { lanes.lane(of: $0.stream.originalTransactionId) }).sorted()
    }

    /// Where the events came from.
    func evidence(in log: EventLog) async throws -> [Position: EvidenceSummary] {
        var found: [Position: EvidenceSummary] = [:]
        for history in histories {
            found.merge(try await log.eventSummaries(of: history.latest)) { first, _ in first }
        }
        return found
    }
}

extension RecordedHistory {
    /// The history as it was at a bound of knowledge.
    func cut(to knownAt: KnownAt, lane: Int) -> RecordedHistory {
        switch knownAt {
        case .latest: self
        case .time(let instant): cut(at: instant)
        case .offsets(let offsets): offsets[lane].map { cut(upTo: $0) } ?? self
        }
    }
}
