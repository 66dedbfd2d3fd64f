internal import EventLog
internal import Events
internal import Projections

/// One subscription as far as it was known, with the notes that accompany an answer about it.
struct KnownSubscription {
    let history: StreamHistory
    let timeline: Timeline
    let notes: SubscriptionNotes

    var stream: StreamID { history.stream }
}

/// The notes that accompany every answer about one subscription.
struct SubscriptionNotes {
    /// Erasures of the subscription, at any time.
    let erasures: [ErasureMark]
    /// Other subscriptions of its customer, which the answer does not cover; nil if they cannot be
    /// counted: there are too many, or lanes cannot be reached.
    let others: Int?
    /// All subscriptions of its customer, including this one; empty if it is not theirs, or if they
    /// cannot be counted.
    let customerTimelines: [Timeline]
}

extension Ledger {
    /// What was known of one subscription.
    func known(_ subject: SubjectID, knownAt: KnownAt) async throws -> KnownSubscription {
        try await log.onOneConnection {
            let stream = try await stream(of: subject, knownAt: knownAt)
            let history = try await log.history(of: stream, knownAt: knownAt)
            return KnownSubscription(
                history: history,
                timeline: Timeline(history),
                notes: try await notes(on: stream, knownAt: knownAt)
            )
        }
    }

    /// What one subscription recorded, cut to whole commits.
    func recorded(
        _ subject: SubjectID,
        knownAt: KnownAt
    ) async throws -> (history: RecordedHistory, notes: SubscriptionNotes) {
        try await log.onOneConnection {
            let stream = try await stream(of: subject, knownAt: knownAt)
            let lane = log.identity.lanes.lane(of: stream.originalTransactionId)
            let used = try await log.wholeCommits(knownAt, lane: lane)
            return (
                try await log.recordedHistory(of: stream).cut(to: used),
                try await notes(on: stream, knownAt: knownAt)
            )
        }
    }

    /// The links of the customer with this id that do not give them a subscription at an instant;
    /// empty if the id is the subscription's own.
    func linksNotInForce(
        to subject: SubjectID,
        of stream: StreamID,
        at instant: Instant?,
        knownAt: KnownAt
    ) async throws -> [LinkNotInForce] {
        guard let instant,
            try await !streams(named: subject.id, in: stream.environment).contains(stream)
        else { return [] }
        let customer = try await customer(subject.id, in: stream.environment, knownAt: knownAt)
        return LinkNotInForce.all(of: customer, at: instant).filter { link in
            link.originalTransactionId.utf8.elementsEqual(stream.originalTransactionId.utf8)
        }
    }

    private func notes(
        on stream: StreamID,
        knownAt: KnownAt
    ) async throws(EventLogError) -> SubscriptionNotes {
        let erasures = try await erasures(of: [stream])
        do throws(EventLogError) {
            let customer = try await customer(
                stream.originalTransactionId,
                in: stream.environment,
                knownAt: knownAt
            )
            // A link may have assigned the id to another customer.
            let isTheirs = customer.streams.contains { $0.stream == stream }
            let others = isTheirs ? customer.streams.count - 1 : 0
            return SubscriptionNotes(
                erasures: erasures,
                others: others,
                customerTimelines: isTheirs ? customer.streams.map(\.timeline) : []
            )
        } catch {
            // The answer itself needs only the lane of its subscription.
            guard [.tooManyStreams, .lanesUnavailable].contains(error.code) else { throw error }
            return SubscriptionNotes(erasures: erasures, others: nil, customerTimelines: [])
        }
    }
}
