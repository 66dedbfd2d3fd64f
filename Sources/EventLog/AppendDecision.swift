internal import Events

/// The newest commit of a lane, as a writer knows it.
struct LaneHead: Hashable, Sendable {
    var lane: Int
    var offset: Int64
    var commitNumber: Int64
    var committedAt: Instant
    var digest: Digest
}

/// A fact with what the log computes from it; made by the caller, outside the writer's turn.
struct PreparedFact: Sendable {
    let fact: Fact
    let subject: Subject
    let contentBytes: [UInt8]
    let contentDigest: [UInt8]

    init(_ fact: Fact) {
        self.fact = fact
        subject = fact.subject
        contentBytes = fact.content.canonicalBytes
        contentDigest = fact.content.digest
    }
}

/// The facts of one payload that fall into one lane, with the payload ready to be stored.
struct Submission: Sendable {
    let evidence: Evidence
    let packed: EvidencePacking.Packed
    let facts: [PreparedFact]

    /// What it weighs in a batch.
    var byteCount: Int { packed.body.count + facts.reduce(0) { $0 + $1.contentBytes.count } }
}

/// What one commit will write, decided against one head: a pure function of head, batch and
/// knowledge.
struct AppendPlan: Sendable {
    struct NewEvent: Sendable {
        let event: Event
        let contentBytes: [UInt8]
        let contentDigest: [UInt8]
    }

    struct NewConfirmation: Sendable {
        let confirmation: Confirmation
        let stream: StreamID
    }

    let commit: Commit
    let digest: Digest
    let events: [NewEvent]
    let confirmations: [NewConfirmation]
    /// Submissions whose payload must be stored.
    let evidence: [Submission]
    /// One list a submission, one outcome a fact.
    let outcomes: [[AppendOutcome]]

    /// Whether nothing needs to be written.
    var isEmpty: Bool { events.isEmpty && confirmations.isEmpty }

    /// The head of the lane once this is committed.
    var head: LaneHead {
        LaneHead(
            lane: commit.lane,
            offset: commit.firstOffset + Int64(commit.count) - 1,
            commitNumber: commit.number,
            committedAt: commit.committedAt,
            digest: digest
        )
    }
}

/// Decides what of a batch is news.
struct AppendDecision {
    private let head: LaneHead
    private let recordedAt: Instant
    private let storedEvidence: [Digest: Digest]
    private var knowledge: [Subject: Knowledge]
    private var events: [AppendPlan.NewEvent] = []
    private var recordDigests: [Digest] = []
    private var confirmations: [AppendPlan.NewConfirmation] = []
    private var evidence: [Submission] = []
    private var evidenceInBatch: [Digest: Digest] = [:]

    /// A decision against `head`.
    ///
    /// - Parameters:
    ///   - head: The newest commit that `knowledge` takes into account.
    ///   - knowledge: What the log knows about every subject of the batch.
    ///   - storedEvidence: Record digests of the batch's payloads that the lane holds already.
    ///   - now: Our clock; recorded times never fall within a lane, even where clocks do.
    init(
        head: LaneHead,
        knowledge: [Subject: Knowledge],
        storedEvidence: [Digest: Digest],
        now: Instant
    ) {
        self.head = head
        self.knowledge = knowledge
        self.storedEvidence = storedEvidence
        recordedAt = max(now, head.committedAt)
    }

    /// The plan for a batch; facts are judged in their order, each with the news before it.
    mutating func plan(_ batch: [Submission]) -> AppendPlan {
        let outcomes = batch.map { submission in
            submission.facts.map { decide($0, of: submission) }
        }
        confirmations.sort { $0.confirmation.precedes($1.confirmation) }
        let commit = Commit(
            lane: head.lane,
            number: head.commitNumber + 1,
            firstOffset: head.offset + 1,
            count: events.count,
            confirmations: confirmations.count,
            committedAt: recordedAt
        )
        var hasher = CommitHasher(after: head.digest, commit: commit)
        for (new, record) in zip(events, recordDigests) {
            hasher.update(new.event.digest(evidenceRecord: record))
        }
        for new in confirmations { hasher.update(new.confirmation.digest) }
        return AppendPlan(
            commit: commit,
            digest: hasher.digest(),
            events: events,
            confirmations: confirmations,
            evidence: evidence,
            outcomes: outcomes
        )
    }

    private mutating func decide(
        _ prepared: PreparedFact,
        of submission: Submission
    ) -> AppendOutcome {
        let fact = prepared.fact
        let isRestore = knowledge[prepared.subject]?.isRestored(by: fact) ?? false
        switch knowledge[prepared.subject, default: Knowledge()].judge(fact) {
        case .new:
            let position = Position(
                lane: head.lane,
                offset: head.offset + Int64(events.count) + 1
            )
            let event = Event(
                position: position,
                recordedAt: recordedAt,
                fact: fact,
                evidence: submission.evidence.digest
            )
            events.append(
                AppendPlan.NewEvent(
                    event: event,
                    contentBytes: prepared.contentBytes,
                    contentDigest: prepared.contentDigest
                )
            )
            recordDigests.append(recordDigest(of: submission))
            knowledge[prepared.subject, default: Knowledge()].learn(
                offset: position.offset,
                asOf: fact.asOf,
                content: fact.content
            )
            return .appended(position, isRestore: isRestore)
        case .known(let offset, let repetitions):
            for repetition in repetitions {
                let confirmation = Confirmation(
                    position: Position(lane: head.lane, offset: repetition.offset),
                    asOf: fact.asOf,
                    fields: repetition.fields,
                    transactionId: repetition.transactionId
                )
                confirmations.append(
                    AppendPlan.NewConfirmation(confirmation: confirmation, stream: fact.stream)
                )
                knowledge[prepared.subject]?.learn(confirmation)
            }
            return .duplicate(
                Position(lane: head.lane, offset: offset),
                isRestore: isRestore
            )
        }
    }

    private mutating func recordDigest(of submission: Submission) -> Digest {
        let digest = submission.evidence.digest
        if let known = storedEvidence[digest] ?? evidenceInBatch[digest] { return known }
        let record = submission.evidence.recordDigest
        evidenceInBatch[digest] = record
        evidence.append(submission)
        return record
    }
}
