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

    /// A ledger over an open log.
    public init(log: EventLog, verifier: AppStoreVerifier) {
        self.log = log
        self.verifier = verifier
    }

    /// Opens the ledger of a database that `Migrator` has prepared.
    public static func open(
        _ settings: ConnectionSettings,
        policy: VerificationPolicy = VerificationPolicy()
    ) async throws(EventLogError) -> Ledger {
        Ledger(
            log: try await EventLog.open(settings),
            verifier: AppStoreVerifier(policy: policy)
        )
    }

    /// Verifies a payload and appends what is news in it; returns when that is durable.
    ///
    /// - Parameters:
    ///   - payload: The exact bytes that arrived.
    ///   - source: The channel they came by; kept with the evidence.
    ///   - receivedAt: When they arrived, on our clock.
    /// - Returns: What became of each fact.
    /// - Throws: `Rejection` where nothing of the payload can be taken, now or later;
    ///   `EventLogError` where the log could not take it.
    public func ingest(
        _ payload: [UInt8],
        source: String,
        receivedAt: Instant = .systemClock()
    ) async throws -> [AppendOutcome] {
        let verified = try verifier.verify(
            payload: payload,
            source: source,
            receivedAt: receivedAt
        )
        return try await log.append(verified)
    }

    /// When a subscription gave access, as far as was known: folded from the log, no table between.
    public func periods(
        of stream: StreamID,
        knownAt: KnownAt = .latest
    ) async throws(EventLogError) -> ActivePeriods {
        ActivePeriods(Timeline(try await log.history(of: stream, knownAt: knownAt)))
    }
}
