internal import AppStore
internal import Events

/// Counts what an ingest would find, batch by batch; its size does not grow with the input.
struct PlanTally: Sendable {
    private(set) var payloads = 0
    private(set) var byteCount: Int64 = 0
    private(set) var facts = 0
    private(set) var leftOut = 0
    private(set) var rejected = 0
    private(set) var from: Instant?
    private(set) var to: Instant?
    private(set) var forms: [String: Int] = [:]
    private(set) var bundleIds: [String: Int] = [:]
    private(set) var environments: [String: Int] = [:]
    private(set) var streamHashes: Set<Int> = []
    private(set) var leftOutGroups = ReasonGroups()
    private(set) var refusedGroups = ReasonGroups()

    /// Creates an empty tally.
    init() {}

    /// The tally of a batch whose first payload has that number in the input.
    init(
        _ batch: [LocatedPayload],
        from first: Int64,
        verifier: AppStoreVerifier,
        voucher: Voucher,
        now: Instant
    ) {
        for (number, located) in zip(first..., batch) {
            let place = InputPlace(path: located.path, number: number)
            let recognised = located.recognised
            payloads += 1
            byteCount += Int64(located.byteCount)
            do throws(Rejection) {
                let verified = try verifier.verify(
                    try recognised.get(),
                    source: "plan",
                    arrival: .imported,
                    receivedAt: now,
                    voucher: voucher,
                    known: { _ in nil }
                )
                count(recognised, verified)
                leftOut += verified.notices.reduce(0) { $0 + $1.leftOut }
                leftOutGroups.add(verified.notices, at: place)
                verified.facts.forEach { count($0) }
            } catch {
                count(recognised, nil)
                rejected += 1
                refusedGroups.add(error, facts: recognised.statementCount, at: place)
            }
        }
    }

    var progress: IngestReport.Progress {
        IngestReport.Progress(payloads: payloads, byteCount: byteCount, underWay: 0)
    }

    /// Adds a batch.
    mutating func merge(_ batch: PlanTally) {
        payloads += batch.payloads
        byteCount += batch.byteCount
        facts += batch.facts
        leftOut += batch.leftOut
        rejected += batch.rejected
        from = [from, batch.from].compactMap { $0 }.min()
        to = [to, batch.to].compactMap { $0 }.max()
        PlanTally.merge(batch.forms, into: &forms)
        PlanTally.merge(batch.bundleIds, into: &bundleIds)
        PlanTally.merge(batch.environments, into: &environments)
        for hash in batch.streamHashes where streamHashes.count < IngestReport.streamsMax {
            streamHashes.insert(hash)
        }
        leftOutGroups.merge(batch.leftOutGroups)
        refusedGroups.merge(batch.refusedGroups)
    }

    private static func merge(_ counts: [String: Int], into sums: inout [String: Int]) {
        for (word, count) in counts
        where sums[word] != nil || sums.count < IngestPlan.wordsMax {
            sums[word, default: 0] += count
        }
    }

    // Verification may recognise a payload that its format alone does not identify.
    private mutating func count(
        _ recognised: Result<RecognisedPayload, Rejection>,
        _ verified: VerifiedPayload?
    ) {
        var kind: PayloadKind?
        if case .success(let payload) = recognised { kind = payload.kind }
        kind = kind ?? verified?.groups.first?.evidence.kind
        forms[kind?.rawValue ?? IngestPlan.unrecognised, default: 0] += 1
    }

    private mutating func count(_ fact: Fact) {
        facts += 1
        bundleIds[fact.bundleId, default: 0] += 1
        environments[fact.stream.environment.word, default: 0] += 1
        let epoch = Instant(milliseconds: 0)
        let begin = fact.purchaseDate == epoch ? fact.asOf : fact.purchaseDate
        from = min(from ?? begin, begin)
        to = max(to ?? fact.asOf, fact.asOf)
        if !fact.stream.originalTransactionId.isEmpty { streamHashes.insert(fact.stream.hashValue) }
    }
}
