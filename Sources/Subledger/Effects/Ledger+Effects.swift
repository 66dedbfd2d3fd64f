public import EventLog

extension Ledger {
    /// What changes for subscriptions, from a place in the log on.
    ///
    /// ```swift
    /// for try await effect in ledger.effects(after: cursor) {
    ///     try await handle(effect)
    ///     try await store(effect.cursor)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - cursor: Where the reader stopped; `.beginning` for everything that ever happened, and
    ///     ``endOfEffects()`` for what happens from now on.
    ///   - isFollowing: Whether to wait for later commits at the end; the sequence then only ends
    ///     when its task is cancelled.
    ///   - onLoss: Receives each loss of the database while following, after which it continues.
    /// - Returns: The effects. Reading them throws `EventLogError`, above all `cursorNotOfLog` and
    ///   `cursorBeyondLog` if the log is another one than that of the cursor; and `CatalogError`.
    public func effects(
        after cursor: CommitCursor = .beginning,
        isFollowing: Bool = true,
        onLoss: @escaping @Sendable (EventLogError) -> Void = { _ in }
    ) -> SubscriptionEffects {
        SubscriptionEffects(
            ledger: self,
            consumer: nil,
            start: cursor,
            isFollowing: isFollowing,
            onLoss: onLoss
        )
    }

    /// The same for a reader whose place is kept in the database under a name.
    ///
    /// One process at a time reads under a name: another one waits until it ends or loses its
    /// connection, and then continues after what was acknowledged.
    ///
    /// - Parameters:
    ///   - consumer: The name, at most 200 bytes, and not blank.
    ///   - start: Where it begins if it is new.
    ///   - isFollowing: Whether to wait for later commits at the end.
    ///   - onLoss: Receives each loss of the database, or of the name, while following.
    /// - Returns: The effects after the last one that was acknowledged. Reading them throws as above,
    ///   and `consumerInUse` if another process reads and `isFollowing` is false;
    ///   `consumerOfOtherStream` if the name belongs to a reader of events.
    public func effects(
        of consumer: String,
        startingAt start: CommitCursor = .beginning,
        isFollowing: Bool = true,
        onLoss: @escaping @Sendable (EventLogError) -> Void = { _ in }
    ) -> SubscriptionEffects {
        SubscriptionEffects(
            ledger: self,
            consumer: Consumer(consumer, of: .effects),
            start: start,
            isFollowing: isFollowing,
            onLoss: onLoss
        )
    }

    /// The cursor after everything that is committed now.
    ///
    /// - Throws: `EventLogError`.
    public func endOfEffects() async throws(EventLogError) -> CommitCursor {
        try await log.endOfCommits()
    }
}

/// The effects of a ledger, in the order of commits within a lane, so in order for a subscription;
/// each at least once.
///
/// It reads only as far as it is asked for, so a slow reader delays nobody and memory does not grow.
/// While the database is unavailable, a reader that follows waits for it.
public struct SubscriptionEffects: AsyncSequence, Sendable {
    /// An effect.
    public typealias Element = SubscriptionEffect

    fileprivate let ledger: Ledger
    fileprivate let consumer: Consumer?
    fileprivate let start: CommitCursor
    fileprivate let isFollowing: Bool
    fileprivate let onLoss: @Sendable (EventLogError) -> Void

    init(
        ledger: Ledger,
        consumer: Consumer?,
        start: CommitCursor,
        isFollowing: Bool,
        onLoss: @escaping @Sendable (EventLogError) -> Void
    ) {
        self.ledger = ledger
        self.consumer = consumer
        self.start = start
        self.isFollowing = isFollowing
        self.onLoss = onLoss
    }

    /// Keeps in the database that a named consumer has handled an effect, and all before it.
    ///
    /// Effects may be handled at the same time, but are acknowledged in order. Without a name it does
    /// nothing.
    ///
    /// - Parameter effect: The effect.
    /// - Throws: `EventLogError`: `consumerInUse` if another process reads under the name by now.
    public func acknowledge(_ effect: SubscriptionEffect) async throws(EventLogError) {
        guard let consumer else { return }
        try await ledger.log.acknowledge(effect.cursor, of: consumer)
    }

    /// An iterator; those of one consumer exclude each other.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Reads the effects.
    public struct Iterator: AsyncIteratorProtocol {
        private let effects: SubscriptionEffects
        private var reading: EffectReading?
        private var session: FollowerSession?
        private var read: ArraySlice<SubscriptionEffect> = []
        private var cursor: CommitCursor

        /// How long to wait for a notification before looking for commits without one: it may have
        /// been lost, or its sender may be a program that sends none.
        package static let waitMax = Duration.seconds(1)

        fileprivate init(_ effects: SubscriptionEffects) {
            self.effects = effects
            cursor = effects.start
        }

        /// The next effect; nil at the end, and if the task is cancelled.
        public mutating func next() async throws -> SubscriptionEffect? {
            while read.isEmpty {
                do {
                    if reading == nil { try await open() }
                    read = try await reading?.next()?[...] ?? []
                    guard read.isEmpty else { break }
                    guard effects.isFollowing, !Task.isCancelled else { return await end() }
                    try await session?.waitForCommit(atMost: Iterator.waitMax)
                } catch {
                    await close()
                    if Task.isCancelled { return nil }
                    guard effects.isFollowing, let error = error as? EventLogError,
                        error.isRetryable
                    else { throw error }
                    effects.onLoss(error)
                    do { try await Task.sleep(for: Iterator.waitMax) } catch { return nil }
                }
            }
            let next = read.removeFirst()
            cursor = next.cursor
            return next
        }

        /// Whether the next call has to read the log: nothing more is in memory.
        package var isAboutToRead: Bool { read.isEmpty }

        private mutating func open() async throws {
            let log = effects.ledger.log
            if effects.isFollowing || effects.consumer != nil {
                session = try await log.followerSession(of: effects.consumer)
            }
            if let consumer = effects.consumer {
                // A place that the log does not have is not kept for the name.
                _ = try await log.commits(after: effects.start)
                let place = try await log.place(of: consumer, startingAt: effects.start)
                if !place.isContinued { cursor = place.cursor }
            }
            reading = try await EffectReading(effects.ledger, after: cursor)
        }

        private mutating func end() async -> SubscriptionEffect? {
            await close()
            return nil
        }

        private mutating func close() async {
            await session?.close()
            (session, reading) = (nil, nil)
        }
    }
}
