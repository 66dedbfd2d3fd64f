public import AppStore
public import EventLog
public import Events
package import Postgres
public import Projections

/// A ledger of App Store subscriptions: payloads in, answers out.
///
/// The only type that an app which embeds Subledger needs. Safe to use from many tasks.
public struct Ledger: Sendable {
    /// The version of this library and of the program `subledger`, such as 1.2.0; <doc:Changes> has
    /// what may change between versions.
    public static let version = "0.1.0"

    /// Its log.
    package let log: EventLog
    /// What is trusted and accepted.
    package let verifier: AppStoreVerifier
    /// The projections whose tables it builds and keeps up to date.
    public let projections: [any Projection]
    let catalogStore: CatalogStore
    /// The private server to give up at the end; nil for any other database.
    var privateServer: PrivateServer?

    /// A ledger over an open log.
    package init(
        log: EventLog,
        verifier: AppStoreVerifier,
        projections: [any Projection] = .standard
    ) {
        self.log = log
        self.verifier = verifier
        self.projections = projections
        catalogStore = CatalogStore(log: log)
    }

    /// Opens the ledger of a database that `Migrator` has prepared.
    package static func open(
        _ settings: ConnectionSettings,
        policy: VerificationPolicy = VerificationPolicy(),
        projections: [any Projection] = .standard,
        options: EventLog.Options = EventLog.Options()
    ) async throws(EventLogError) -> Ledger {
        Ledger(
            log: try await EventLog.open(settings, options),
            verifier: AppStoreVerifier(policy: policy),
            projections: projections
        )
    }

    /// Verifies a payload and appends the new facts in it; returns when they are durable.
    ///
    /// A refused payload is kept among the rejections before the refusal is thrown; one that was
    /// refused before and is accepted now is marked there. A single payload is not a run, so it
    /// leaves no row in the statistics of `ingestQuality`.
    ///
    /// - Parameters:
    ///   - payload: The exact bytes that arrived.
    ///   - source: The channel they came by; kept with the evidence.
    ///   - arrival: Whether it arrived live or through an import; kept with the evidence.
    ///   - location: Where it was found, kept with a rejection; empty if there is no place to
    ///     return to.
    ///   - receivedAt: When they arrived, on our clock.
    ///   - voucher: Who vouches for what is not signed.
    ///   - sender: What is known of the sender. `unproven` if anyone can send: then a refusal is
    ///     kept by what the payload itself shows.
    /// - Returns: The outcome of each fact, and what was left out.
    /// - Throws: `Rejection` if nothing in the payload can be accepted, now or later;
    ///   `EventLogError` if the log could not append it, or could not keep the rejection; then what
    ///   was appended stays, and ingesting the payload again completes it.
    public func ingest(
        _ payload: [UInt8],
        source: String,
        arrival: Arrival = .live,
        location: String = "",
        receivedAt: Instant = .systemClock(),
        voucher: Voucher = .unvouched,
        sender: Standing = .proven
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
                    sender: sender,
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

    /// What to keep of a refused payload: its secrets never are.
    ///
    /// `original` identifies what arrived, if `payload` is what was kept of it.
    func rejected(
        _ payload: [UInt8],
        of original: RejectedPayload.Original? = nil,
        _ rejection: Rejection,
        source: String,
        at location: String,
        arrival: Arrival,
        sender: Standing,
        place: RejectedPayload.Place? = nil,
        _ receivedAt: Instant
    ) -> RejectedPayload {
        RejectedPayload(
            original ?? RejectedPayload.Original(payload),
            body: SecretFreeBody.redacted(payload, secrets: verifier.policy.sharedSecrets),
            reason: rejection.code.rawValue,
            message: rejection.message,
            source: source,
            location: location,
            arrival: arrival,
            standing: sender == .proven
                ? .proven : verifier.standing(ofRefused: payload, receivedAt: receivedAt),
            place: place,
            receivedAt: receivedAt
        )
    }

    /// Appends the new facts in payloads, in one commit if they belong to one lane; `known` names
    /// units that the log already contains.
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

    /// The outcome of one payload.
    public struct Ingestion: Sendable {
        /// Its facts, in the order in which they were appended.
        public let facts: [Fact]
        /// The outcome of each fact.
        public let outcomes: [AppendOutcome]
        /// What was left out, or accepted with a reservation.
        public let notices: [VerifiedPayload.Notice]

        /// How long it took; nil for one of many payloads that were ingested together.
        public internal(set) var timing: Timing?

        /// How long a payload took, step by step.
        public struct Timing: Sendable {
            /// The time to verify it.
            public let verification: Duration
            /// The time to append its new facts: the wait for the previous commit, and its own.
            public let append: Duration
        }

        /// The facts that were new, in the order in which they were appended.
        public var new: [Fact] {
            zip(facts, outcomes).filter(\.1.isNew).map(\.0)
        }

        /// Whether it neither brought nor confirmed anything, so none of it was kept.
        public var isUnchanged: Bool { !outcomes.contains { $0.isNew || $0.isConfirmation } }
    }

    /// When a subscription gave access, as far as was known: folded directly from the log.
    public func periods(
        of stream: StreamID,
        knownAt: KnownAt = .latest
    ) async throws(EventLogError) -> ActivePeriods {
        ActivePeriods(Timeline(try await log.history(of: stream, knownAt: knownAt)))
    }
}
