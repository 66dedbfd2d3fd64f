public import AppStore
public import Events

/// What an ingest of these payloads would accept, leave out and refuse; determined by reading and
/// verifying them, without a database.
public struct IngestPlan: Codable, Hashable, Sendable {
    /// Payloads read, including those that would be refused.
    public let payloads: Int
    /// Their bytes.
    public let byteCount: Int64
    /// Facts that would be accepted; only the ledger knows how many of them are new.
    public let facts: Int
    /// Subscriptions that they are about; a lower bound beyond `IngestReport.streamsMax`.
    public let streams: Int
    /// Other files that would be skipped.
    public let skipped: Int
    /// The earliest purchase, or the earliest statement that is not about a purchase, on Apple's
    /// clock; null without facts.
    public let from: Instant?
    /// The latest statement, on Apple's clock; null without facts.
    public let to: Instant?
    /// Payloads by format, including those that would be refused.
    public let forms: [Count]
    /// Facts by app; an empty string if a format names none.
    public let bundleIds: [Count]
    /// Facts by environment.
    public let environments: [Count]
    /// Statements that would be left out.
    public let leftOut: Int
    /// The same, and other notices, by reason.
    public let leftOutByReason: [ReasonGroup]
    /// Payloads that would be refused.
    public let rejected: Int
    /// The same by reason.
    public let rejectedByReason: [ReasonGroup]
    /// Whether it was stopped before the end of the input.
    public let wasStopped: Bool
    /// How long this reading took, in seconds.
    public let readingSeconds: Double
    /// An estimate of the duration of the ingest, in seconds, based on this reading.
    public let estimatedSeconds: Double

    /// A count of one kind of thing.
    public struct Count: Codable, Hashable, Sendable {
        /// What is counted.
        public let word: String
        /// The number.
        public let count: Int

        /// Creates a count.
        public init(word: String, count: Int) {
            self.word = word
            self.count = count
        }
    }

    /// The format of payloads that are not recognised.
    public static let unrecognised = "unrecognised"

    /// The ratio of ingesting to reading and verifying: `subledger-bench ingest` measures 1.7 to 2.0, with
    /// the database on the same machine.
    static let ingestPerReading = 2.0

    /// The most words of one list, because the sender of a payload can invent words.
    static let wordsMax = 1_000

    init(_ tally: PlanTally, skipped: Int, wasStopped: Bool, readingSeconds: Double) {
        payloads = tally.payloads
        byteCount = tally.byteCount
        facts = tally.facts
        streams = tally.streamHashes.count
        self.skipped = skipped
        from = tally.from
        to = tally.to
        forms = IngestPlan.counts(tally.forms)
        bundleIds = IngestPlan.counts(tally.bundleIds)
        environments = IngestPlan.counts(tally.environments)
        leftOut = tally.leftOut
        leftOutByReason = tally.leftOutGroups.groups
        rejected = tally.rejected
        rejectedByReason = tally.refusedGroups.groups
        self.wasStopped = wasStopped
        self.readingSeconds = readingSeconds
        estimatedSeconds = readingSeconds * IngestPlan.ingestPerReading
    }

    private static func counts(_ words: [String: Int]) -> [Count] {
        words.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(Count.init)
    }
}

extension IngestPlan {
    /// Writes the document; a member without a value that readers rely on is written as null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(payloads, forKey: .payloads)
        try container.encode(byteCount, forKey: .byteCount)
        try container.encode(facts, forKey: .facts)
        try container.encode(streams, forKey: .streams)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(from, forKey: .from)
        try container.encode(to, forKey: .to)
        try container.encode(forms, forKey: .forms)
        try container.encode(bundleIds, forKey: .bundleIds)
        try container.encode(environments, forKey: .environments)
        try container.encode(leftOut, forKey: .leftOut)
        try container.encode(leftOutByReason, forKey: .leftOutByReason)
        try container.encode(rejected, forKey: .rejected)
        try container.encode(rejectedByReason, forKey: .rejectedByReason)
        try container.encode(wasStopped, forKey: .wasStopped)
        try container.encode(readingSeconds, forKey: .readingSeconds)
        try container.encode(estimatedSeconds, forKey: .estimatedSeconds)
    }
}

extension IngestPlan {
    /// Reads and verifies payloads, as many at once as there are processors; keeps none of them.
    ///
    /// - Parameters:
    ///   - next: Returns the next payloads; nil after the last. One call at a time.
    ///   - verifier: What is trusted and accepted.
    ///   - voucher: Who vouches for what is not signed.
    ///   - now: Our clock.
    ///   - processors: Batches that are verified at once.
    ///   - skipped: Called at the end: other files that were skipped.
    ///   - isStopped: Called before each call of `next`; true ends the reading.
    ///   - progress: Receives the progress after each batch.
    /// - Returns: The plan.
    /// - Throws: What `next` threw.
    public static func read(
        next: () async throws -> [LocatedPayload]?,
        verifier: AppStoreVerifier,
        voucher: Voucher = .unvouched,
        now: Instant,
        processors: Int,
        skipped: () async -> Int = { 0 },
        isStopped: () -> Bool = { false },
        progress: (IngestReport.Progress) -> Void = { _ in }
    ) async throws -> IngestPlan {
        let clock = ContinuousClock()
        let started = clock.now
        var tally = PlanTally()
        var wasStopped = false

        try await withThrowingTaskGroup(of: PlanTally.self) { group in
            var (running, numbered, isAtEnd) = (0, Int64(0), false)
            func finishOne() async throws {
                guard let batch = try await group.next() else { return }
                running -= 1
                tally.merge(batch)
                progress(tally.progress)
            }
            while !isAtEnd {
                let batch = isStopped() ? nil : try await next()
                guard let batch else {
                    (wasStopped, isAtEnd) = (isStopped(), true)
                    continue
                }
                let first = numbered + 1
                numbered += Int64(batch.count)
                running += 1
                group.addTask {
                    PlanTally(batch, from: first, verifier: verifier, voucher: voucher, now: now)
                }
                if running >= processors { try await finishOne() }
            }
            while running > 0 { try await finishOne() }
        }

        return IngestPlan(
            tally,
            skipped: await skipped(),
            wasStopped: wasStopped,
            readingSeconds: (clock.now - started) / .seconds(1)
        )
    }
}
