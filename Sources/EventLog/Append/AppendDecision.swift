internal import Events

/// The newest commit of a lane, as a writer knows it.
struct LaneHead: Hashable, Sendable {
    var lane: Int
    var offset: Int64
    var evidence: Int64
    var commitNumber: Int64
    var committedAt: Instant
    var digest: Digest
    /// Version of its canonical bytes.
    var format: Int

    /// Whether the numbers of the next commit still fit; if not, a row was tampered with.
    var hasRoom: Bool {
        let limit = Int64.max - Int64(LogVerifier.countMax)
        return offset < limit && evidence < limit && commitNumber < limit
    }
}

/// A fact with what the log computes from it; prepared by the caller, outside the writer's turn.
struct PreparedFact: Sendable {
    let fact: Fact
    let subject: Subject
    let key: [UInt8]

    init(_ fact: Fact) {
        self.fact = fact
        subject = fact.subject
        key = FactKey(fact, of: subject).bytes
    }

    var contentBytes: [UInt8] { fact.content.canonicalBytes }
}

/// Decides which facts of a batch are new.
struct AppendDecision {
    private let head: LaneHead
    private let lane: Lane
    private let recordedAt: Instant
    private let salt: () -> Salt
    private var known: AppendKnowledge
    private var events: [AppendPlan.NewEvent] = []
    private var confirmations: [StreamID: [Confirmation]] = [:]
    private var evidence: [Submission] = []

    /// A decision against `head`.
    ///
    /// - Parameters:
    ///   - head: The newest commit that `known` takes into account.
    ///   - lane: Its lane.
    ///   - known: What the log knows.
    ///   - now: The server's clock; recorded times never decrease within a lane, even if clocks do.
    ///   - salt: Returns the salt of each row.
    init(
        head: LaneHead,
        lane: Lane,
        known: AppendKnowledge,
        now: Instant,
        salt: @escaping () -> Salt
    ) {
        (self.head, self.lane) = (head, lane)
        self.known = known
        self.salt = salt
        recordedAt = max(now, head.committedAt)
    }

    /// The plan for a batch; facts are decided in order, each against the new facts before it.
    mutating func plan(_ batch: [Submission]) -> AppendPlan {
        var outcomes: [[AppendOutcome]] = []
        outcomes.reserveCapacity(batch.count)
        for submission in batch { outcomes.append(decide(submission)) }

        let new = confirmations.flatMap { stream, confirmations in
            ConfirmationRow.rows(of: confirmations, stream: stream)
        }
        .sorted { $0.precedes($1) }
        .map { AppendPlan.NewConfirmation(row: $0, salt: salt()) }
        let commit = Commit(
            lane: head.lane,
            number: head.commitNumber + 1,
            firstOffset: head.offset + 1,
            count: events.count,
            firstEvidence: head.evidence + 1,
            evidence: evidence.count,
            confirmations: new.count,
            committedAt: recordedAt
        )
        var plan = AppendPlan(
            commit: commit,
            previous: head.digest,
            digest: digest(of: commit, new),
            events: events,
            confirmations: new,
            evidence: evidence,
            outcomes: outcomes
        )
        if known.hasDirectory { plan.directoryKeys = LaneDirectory.keys(of: plan) }
        return plan
    }

    private func digest(of commit: Commit, _ new: [AppendPlan.NewConfirmation]) -> Digest {
        var hasher = CommitHasher(after: head.digest, commit: commit)
        for new in events {
            let record = evidence[Int(new.event.evidence - head.evidence) - 1].recordDigest
            let commitments = new.event.commitments(
                keys: CommitmentKeys(new.salt),
                evidence: record,
                isLate: new.isLate
            )
            hasher.update(commitments.digest)
        }
        for new in new {
            let records = new.row.evidenceNumbers.map {
                evidence[Int($0 - head.evidence) - 1].recordDigest
            }
            let commitments = new.row.commitments(
                lane: head.lane,
                keys: CommitmentKeys(new.salt),
                evidence: records
            )
            hasher.update(commitments.digest)
        }
        return hasher.digest()
    }

    private mutating func decide(_ submission: Submission) -> [AppendOutcome] {
        let trust = submission.evidence.verification.trust
        let digest = submission.evidence.digest
        // The same bytes with no stronger proof were already decided on, and what they repeat is
        // kept.
        let isKnown = known.evidence[digest].map { !trust.isStronger(than: $0) } ?? false
        var isCited = false
        let number = head.evidence + Int64(evidence.count) + 1
        let reason = lastingErasure(of: submission)

        let outcomes = submission.facts.map { prepared -> AppendOutcome in
            guard let erasure = known.erasures[prepared.fact.stream] else {
                // Without its payload, only an erasure of its own could explain the fact.
                if let reason { return .erased(reason) }
                return decide(prepared, of: submission, number, isKnown: isKnown, isCited: &isCited)
            }
            if let position = erasure.refusal(of: prepared.fact) { return .erased(position) }
            // What no kept payload proves must not say whose it is.
            let isStripped = reason != nil && prepared.fact.content.identifiesPerson
            let fact = isStripped ? PreparedFact(prepared.fact.withoutPerson) : prepared
            return decide(fact, of: submission, number, isKnown: isKnown, isCited: &isCited)
        }

        if isCited {
            evidence.append(stored(submission))
            known.evidence[digest] = trust
        }
        // What a payload states is compared with what was known before it.
        for prepared in submission.facts {
            known.ends.learn(prepared.subject, asOf: prepared.fact.asOf)
        }
        return outcomes
    }

    // A payload that mentions an erased subscription contains what was erased, and is not kept.
    private func lastingErasure(of submission: Submission) -> Position? {
        guard !known.erasures.isEmpty, !submission.isOfOperator else { return nil }
        return submission.streams.lazy.compactMap { known.erasures[$0]?.lasting }.min()
    }

    private func stored(_ submission: Submission) -> Submission {
        guard lastingErasure(of: submission) != nil else { return submission.ready }
        return submission.withoutPayload(
            digest: Digest(placeholder: salt())
        )
    }

    private mutating func decide(
        _ prepared: PreparedFact,
        of submission: Submission,
        _ number: Int64,
        isKnown: Bool,
        isCited: inout Bool
    ) -> AppendOutcome {
        let fact = prepared.fact
        let trust = submission.evidence.verification.trust
        let isRestore = known.subjects[prepared.subject]?.isRestored(by: fact) ?? false

        switch judge(prepared, of: submission, isKnown: isKnown) {
        case .new:
            isCited = true
            let position = append(prepared, number, submission.evidence.arrival)
            known.subjects[prepared.subject, default: Knowledge()].learn(
                offset: position.offset,
                asOf: fact.asOf,
                content: fact.content,
                trust: trust
            )
            return .appended(position, isRestore: isRestore)
        case .known(let offset, let repetitions):
            if !isKnown {
                for repetition in repetitions {
                    isCited = true
                    let confirmation = Confirmation(
                        position: Position(lane: lane, offset: repetition.offset),
                        asOf: fact.asOf,
                        fields: repetition.fields,
                        transactionId: repetition.transactionId,
                        evidence: number
                    )
                    confirmations[fact.stream, default: []].append(confirmation)
                    let latest = known.latestConfirmation[fact.stream] ?? fact.asOf
                    known.latestConfirmation[fact.stream] = max(latest, fact.asOf)
                    known.subjects[prepared.subject]?.learn(confirmation, trust: trust)
                }
            }
            return .duplicate(
                Position(lane: lane, offset: offset),
                isRestore: isRestore,
                isConfirmation: !isKnown && !repetitions.isEmpty
            )
        }
    }

    // A repetition that takes an extension back changes the answer, so it is news.
    private func judge(
        _ prepared: PreparedFact,
        of submission: Submission,
        isKnown: Bool
    ) -> Knowledge.Judgement {
        let judgement = known.subjects[prepared.subject, default: Knowledge()].judge(
            prepared.fact,
            trust: submission.evidence.verification.trust
        )
        guard !isKnown, case .known(_, let repetitions) = judgement, !repetitions.isEmpty,
            known.ends.areMoved(
                by: prepared.fact,
                of: prepared.subject,
                together: submission.facts.map(\.fact)
            )
        else { return judgement }
        return .new
    }

    private mutating func append(
        _ prepared: PreparedFact,
        _ number: Int64,
        _ arrival: Arrival
    ) -> Position {
        let fact = prepared.fact
        let position = Position(lane: lane, offset: head.offset + Int64(events.count) + 1)
        let isLate = known.latestConfirmation[fact.stream].map { fact.asOf < $0 } ?? false
        events.append(
            AppendPlan.NewEvent(
                event: Event(
                    position: position,
                    recordedAt: recordedAt,
                    fact: fact,
                    evidence: number,
                    isImported: arrival == .imported
                ),
                key: prepared.key,
                salt: salt(),
                isLate: isLate
            )
        )
        return position
    }
}
