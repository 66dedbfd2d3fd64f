import AppStore
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

/// The subscriptions that a name means: one meaning for `access`, `eligibility`, `explain`, `blame`
/// and `diff`.
///
/// All that were the customer's at the instant, by links, tokens and what Apple says of the
/// account. Who asks by a subscription's own id asks about that one too, whoever had it then.
struct AskedSubject {
    /// Whom the name means.
    let customer: Customer
    /// The subscriptions, by `StreamID`.
    let streams: [CustomerStream]

    /// Why each counts.
    var grounds: AnswerGrounds { AnswerGrounds(customer, streams) }

    /// The same, and all that ever were the customer's.
    var everStreams: [CustomerStream] {
        let known = Set(streams.map(\.stream))
        let others = (customer.streams + customer.related).filter { !known.contains($0.stream) }
        return (streams + others).sorted { $0.stream < $1.stream }
    }

    init(
        _ id: String,
        in environment: Environment,
        at instant: Instant,
        knownAt: KnownAt,
        of ledger: Ledger
    ) async throws {
        let customer = try await ledger.customer(id, in: environment, knownAt: knownAt)
        var streams = customer.streams(ownedAt: instant)
        let own = StreamID(environment: environment, originalTransactionId: id)
        if !streams.contains(where: { $0.stream == own }) {
            let history = try await ledger.log.history(of: own, knownAt: knownAt)
            if !history.events.isEmpty { streams.append(CustomerStream(history, receipts: [])) }
        }
        self.customer = customer
        self.streams = streams.sorted { $0.stream < $1.stream }
    }
}

extension StreamOptions {
    /// Prints on stderr that a subscription is one of several of its customer's, where the answer
    /// is about this one alone.
    func printSiblings(of stream: StreamID, in log: EventLog) async throws {
        let ledger = Ledger(log: log, verifier: AppStoreVerifier(policy: VerificationPolicy()))
        let id = stream.originalTransactionId
        var others = 0
        do throws(EventLogError) {
            let customer = try await ledger.customer(id, in: stream.environment, knownAt: knownAt)
            others = customer.streams.count { $0.stream != stream }
        } catch {
            guard error.code == .tooManyStreams else { throw error }
            Terminal.write("this answer is about \(id) alone: \(error.message)")
        }
        guard others > 0 else { return }
        Terminal.write(
            "this answer is about \(id) alone; other subscriptions of the same customer: \(others). "
                + "`subledger customers show \(id)` lists them and why; `access` and `explain` answer "
                + "for all of them"
        )
    }
}
