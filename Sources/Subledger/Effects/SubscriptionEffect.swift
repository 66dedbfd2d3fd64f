public import EventLog
public import Events
public import Projections

/// Something that changed for a subscription: the difference that one commit made to the answers
/// about it.
///
/// Where a fact came from does not matter: a notification, a receipt, an answer of Apple. A fact that
/// comes late corrects what earlier effects said (`EffectChange.isCorrection`). Time alone is no
/// commit, so an effect of access carries the instant until which it lasts, and `access_ended`
/// follows only when a later statement of Apple confirms it.
public struct SubscriptionEffect: Identifiable, Sendable {
    /// Its name in this log, the same whenever it is read: `lane:commit:number`, counted from 1 in
    /// its commit.
    public let id: String
    /// The subscription.
    public let stream: StreamID
    /// The app it belongs to.
    public let bundleId: String
    /// The customer by the link in force after the commit; nil if there is none.
    public let customer: String?
    /// The newest app account token that Apple signed for it; nil if there is none.
    public let appAccountToken: String?
    /// What changed.
    public let change: EffectChange
    /// The last event up to the commit: the bound of knowledge that includes the effect.
    public let position: Position
    /// When the commit was made, on our clock.
    public let recordedAt: Instant
    /// The new facts about the subscription in the commit.
    package let events: [Event]
    /// The number of the commit in its lane.
    package let commit: Int64
    /// Which effect of the commit for this subscription, from 1.
    package let ordinal: Int
    /// Where to continue after this effect.
    public let cursor: CommitCursor

    /// What happened.
    public var kind: EffectChange.Kind { change.kind }

    /// Where the new facts about the subscription are that the commit has; empty if Apple only stated
    /// known ones again, as of a later instant.
    public var cause: [Position] { events.map(\.position) }
}

/// Reads effects commit by commit.
///
/// Of a batch of commits, each history is loaded once and cut at each of them.
package struct EffectReading: Sendable {
    /// The place after what was read.
    package private(set) var cursor: CommitCursor
    private var feed: CommitFeed
    private let log: EventLog
    private let catalogs: CatalogStore

    /// The most events and repetitions whose effects are in memory at once, unless one commit has
    /// more.
    private static let statementsMax = 500

    /// A reading of what comes after a place.
    ///
    /// - Throws: `EventLogError`.
    package init(_ ledger: Ledger, after cursor: CommitCursor) async throws(EventLogError) {
        (log, catalogs, self.cursor) = (ledger.log, ledger.catalogStore, cursor)
        feed = try await log.commits(after: cursor)
    }

    /// The next effects, in the order of their commits; nil if there are none up to the end of the
    /// log.
    package mutating func next() async throws -> [SubscriptionEffect]? {
        while let batch = try await feed.next(statementsMax: EffectReading.statementsMax) {
            let effects = try await effects(of: batch)
            feed.pass(batch)
            if let last = batch.commits.last { cursor.advance(to: last) }
            if !effects.isEmpty { return effects }
        }
        return nil
    }

    /// An effect that was read before; nil if what it was made from was erased since.
    ///
    /// - Parameters:
    ///   - named: What names it.
    ///   - id: Its id.
    ///   - ledger: The ledger.
    /// - Returns: The effect; its cursor names only the commit itself.
    /// - Throws: `EventLogError`.
    package static func effect(
        _ named: PendingMessage.Effect,
        id: String,
        of ledger: Ledger
    ) async throws -> SubscriptionEffect? {
        let reading = try await EffectReading(ledger, after: .beginning)
        guard let batch = try await ledger.log.batch(ofCommit: named.commit, lane: named.lane)
        else { return nil }
        // A commit of an import has thousands of others, so these are not read: only the reader
        // knows the number of the effect in its commit.
        return try await reading.effects(of: batch, only: named.stream)
            .first { $0.ordinal == named.ordinal }
            .map { found in
                SubscriptionEffect(
                    id: id,
                    stream: found.stream,
                    bundleId: found.bundleId,
                    customer: found.customer,
                    appAccountToken: found.appAccountToken,
                    change: found.change,
                    position: found.position,
                    recordedAt: found.recordedAt,
                    events: found.events,
                    commit: found.commit,
                    ordinal: found.ordinal,
                    cursor: found.cursor
                )
            }
    }

    private func effects(
        of batch: CommitFeed.Batch,
        only: StreamID? = nil
    ) async throws -> [SubscriptionEffect] {
        let context = FoldContext(catalogs: try await catalogs.history())
        let found = try await log.foldHistories(
            touchedBy: batch,
            only: only,
            into: [StreamEffects]()
        ) {
            $0 += StreamEffects.all(of: $1, in: context)
        }
        return effects(of: batch, found)
    }

    // By commit; within one, by subscription. The last effect of a commit has the cursor after it.
    private func effects(
        of batch: CommitFeed.Batch,
        _ found: [StreamEffects]
    ) -> [SubscriptionEffect] {
        let byCommit = Dictionary(grouping: found, by: \.commit.commit.number)
        let lane = log.identity.lanes[batch.lane]
        var cursor = cursor
        var effects: [SubscriptionEffect] = []
        for commit in batch.commits {
            let own = byCommit[commit.commit.number, default: []].flatMap { own in
                own.changes.enumerated().map { (own, $0.element, $0.offset + 1) }
            }
            let isFirst = commit == batch.commits.first
            for (index, (stream, change, ordinal)) in own.enumerated() {
                cursor.advance(to: commit, taken: index + 1 < own.count ? index + 1 : nil)
                guard !isFirst || index >= batch.taken else { continue }
                effects.append(
                    SubscriptionEffect(
                        id: "\(batch.lane):\(commit.commit.number):\(index + 1)",
                        stream: stream.stream,
                        bundleId: stream.bundleId,
                        customer: stream.customer,
                        appAccountToken: stream.appAccountToken,
                        change: change,
                        position: Position(lane: lane, offset: commit.offset),
                        recordedAt: commit.commit.committedAt,
                        events: stream.cause,
                        commit: commit.commit.number,
                        ordinal: ordinal,
                        cursor: cursor
                    )
                )
            }
        }
        return effects
    }
}

/// What one commit changed for one subscription.
private struct StreamEffects: Sendable {
    let stream: StreamID
    let bundleId: String
    let customer: String?
    let appAccountToken: String?
    let commit: CommitMark
    let changes: [EffectChange]
    let cause: [Event]

    /// Those of a batch, by commit.
    static func all(of history: TouchedHistory, in context: FoldContext) -> [StreamEffects] {
        var state = EffectState(history.before, in: context)
        return history.steps.compactMap { step in
            let known = history.known(after: step.commit)
            let next = EffectState(known, in: context)
            let changes = EffectChange.between(state, next)
            state = next
            guard !changes.isEmpty else { return nil }
            return StreamEffects(
                stream: history.stream,
                bundleId: known.events.last { !$0.fact.bundleId.isEmpty }?.fact.bundleId ?? "",
                customer: next.customer,
                appAccountToken: next.appAccountToken,
                commit: step.commit,
                changes: changes,
                cause: step.events
            )
        }
    }
}
