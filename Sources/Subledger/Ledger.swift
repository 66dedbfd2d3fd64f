public import AppStore
public import EventLog
public import Events
public import Postgres
public import Projections

/// A ledger of App Store subscriptions: payloads in, answers out.
///
/// The one type an app that embeds Subledger needs. Safe to use from many tasks.
public struct Ledger: Sendable {
    /// The log behind it.
    public let log: EventLog
    /// What is trusted and accepted.
    public let verifier: AppStoreVerifier
    let catalogStore: CatalogStore

    /// A ledger over an open log.
    public init(log: EventLog, verifier: AppStoreVerifier) {
        self.log = log
        self.verifier = verifier
        catalogStore = CatalogStore(log: log)
    }

    /// Opens the ledger of a database that `Migrator` has prepared.
    public static func open(
        _ settings: ConnectionSettings,
        policy: VerificationPolicy = VerificationPolicy(),
        options: EventLog.Options = EventLog.Options()
    ) async throws(EventLogError) -> Ledger {
        Ledger(
            log: try await EventLog.open(settings, options),
            verifier: AppStoreVerifier(policy: policy)
        )
    }

    /// Verifies a payload and appends what is news in it; returns when that is durable.
    ///
    /// A payload that is refused is kept among the rejections before the refusal is thrown; one that
    /// was refused before and is taken now is marked there. One
    /// payload is no run: it leaves no row in the statistics of `ingestQuality`.
    ///
    /// - Parameters:
    ///   - payload: The exact bytes that arrived.
    ///   - source: The channel they came by; kept with the evidence.
    ///   - arrival: Whether it arrived live or by an import; kept with the evidence.
    ///   - location: Where it was found, kept with a rejection; empty for nowhere to go back to.
    ///   - receivedAt: When they arrived, on our clock.
    ///   - voucher: Who stands behind what is not signed.
    /// - Returns: What became of each fact, and what was left out.
    /// - Throws: `Rejection` where nothing of the payload can be taken, now or later;
    ///   `EventLogError` where the log could not take it, or could not keep the rejection; then what was appended stays, and taking
    ///   in the payload again completes it.
    public func ingest(
        _ payload: [UInt8],
        source: String,
        arrival: Arrival = .live,
        location: String = "",
        receivedAt: Instant = .systemClock(),
        voucher: Voucher = .unvouched
    ) async throws -> Ingestion {
        let start = ContinuousClock.now
        let verified: VerifiedPayload
        do throws(Rejection) {
            verified = try verifier.verify(
                payload: payload,
                source: source,
                arrival: arrival,
                receivedAt: receivedAt,
                voucher: voucher
            )
        } catch {
            try await log.record([
                rejected(
                    payload,
                    error,
                    source: source,
                    at: location,
                    arrival: arrival,
                    receivedAt
                )
            ])
            throw error
        }
        let middle = ContinuousClock.now
        var ingestion = try await appendTogether([verified])[0]
        ingestion.timing = Ingestion.Timing(
            verification: middle - start,
            append: ContinuousClock.now - middle
        )
        if !verified.leavesOutUnproven {
            try await log.markTaken([Digest.of(payload)], at: receivedAt)
        }
        return ingestion
    }

    /// What of a refused payload is kept: its secrets never are.
    ///
    /// `original` is what arrived, where the payload is what was kept of it.
    func rejected(
        _ payload: [UInt8],
        of original: RejectedPayload.Original? = nil,
        _ rejection: Rejection,
        source: String,
        at location: String,
        arrival: Arrival,
        place: RejectedPayload.Place? = nil,
        _ receivedAt: Instant
    ) -> RejectedPayload {
        RejectedPayload(
            original ?? RejectedPayload.Original(payload),
            body: SecretFreeBody.redacted(payload, secret: verifier.policy.sharedSecret),
            reason: rejection.code.rawValue,
            message: rejection.message,
            source: source,
            location: location,
            arrival: arrival,
            place: place,
            receivedAt: receivedAt
        )
    }

    /// Appends what is news in payloads, in one commit where they are of one lane; `known` names
    /// units that the log holds.
    func appendTogether(
        _ verified: [VerifiedPayload],
        known: Set<Digest> = []
    ) async throws(EventLogError) -> [Ingestion] {
        var outcomes = try await log.append(verified.flatMap(\.groups), known: known)[...]
        return verified.map { payload in
            defer { outcomes = outcomes.dropFirst(payload.groups.count) }
            return Ingestion(
                facts: payload.facts,
                outcomes: Array(outcomes.prefix(payload.groups.count).joined()),
                notices: payload.notices
            )
        }
    }

    /// What became of one payload.
    public struct Ingestion: Sendable {
        /// What it says, in the order in which it was appended.
        public let facts: [Fact]
        /// What became of each fact.
        public let outcomes: [AppendOutcome]
        /// What was left out, or taken with a reservation.
        public let notices: [VerifiedPayload.Notice]

        /// How long it took; nil for one of many payloads that were taken together.
        public internal(set) var timing: Timing?

        /// How long a payload took, step by step.
        public struct Timing: Sendable {
            /// To verify it.
            public let verification: Duration
            /// To append what is news in it: the wait for the commit before, and its own.
            public let append: Duration
        }

        /// Whether it neither brought nor confirmed anything, so that nothing of it was kept.
        public var isUnchanged: Bool { !outcomes.contains { $0.isNew || $0.isConfirmation } }
    }

    /// When a subscription gave access, as far as was known: folded from the log, no table between.
    public func periods(
        of stream: StreamID,
        knownAt: KnownAt = .latest
    ) async throws(EventLogError) -> ActivePeriods {
        ActivePeriods(Timeline(try await log.history(of: stream, knownAt: knownAt)))
    }
}
