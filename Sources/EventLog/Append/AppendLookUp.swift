internal import Events
internal import Postgres

/// Finds what the log knows about the subjects of a batch.
///
/// The first round trip reads the events of each subject and the server's clock: for new subjects
/// that is all. For a known subject, a second one reads how it was proven and until when it was
/// confirmed. Confirmations themselves are read only if the answer may depend on them: repetitions
/// if an event arrived after them (`event.is_late`) or was stated as of the same instant by weaker
/// proof, aliases if a known purchase arrives under a transaction id that none of its events has.
/// So the cost does not grow with the number of repetitions.
struct AppendLookUp {
    let statements: [PostgresStatement]
    let lane: Int
    let lanes: LaneCount
    private let subjects: [AskedSubject]
    private let payloads: Set<Digest>
    /// By lane, the streams of the batch and those that its payloads also prove.
    private let streams: [(lane: Int, streams: [StreamID])]

    /// A subject of the batch, with the range of its facts' as-of.
    private struct AskedSubject {
        let subject: Subject
        /// The key of one of its facts.
        let key: [UInt8]
        var asOf: ClosedRange<Instant>
        var transactionIds: Set<FieldValue> = []
    }

    /// The look-up for a batch.
    init(_ batch: [Submission], lane: Int, of lanes: LaneCount) {
        (self.lane, self.lanes) = (lane, lanes)
        var places: [Subject: Int] = [:]
        var subjects: [AskedSubject] = []
        for submission in batch {
            for prepared in submission.facts {
                let (subject, asOf) = (prepared.subject, prepared.fact.asOf)
                let place = places[subject] ?? subjects.count
                if place == subjects.count {
                    places[subject] = place
                    let key = prepared.key
                    subjects.append(AskedSubject(subject: subject, key: key, asOf: asOf...asOf))
                } else {
                    subjects[place].asOf = subjects[place].asOf.extended(to: asOf...asOf)
                }
                if let id = prepared.fact.content[.transactionId] {
                    subjects[place].transactionIds.insert(id)
                }
            }
        }
        self.subjects = subjects

        payloads = Set(batch.map(\.evidence.digest))
        let named = Set(subjects.map(\.subject.stream)).union(batch.flatMap(\.elsewhere))
        streams = Dictionary(grouping: named) { lanes.lane(of: $0.originalTransactionId) }
            .map { (lane: $0.key, streams: $0.value) }
        statements =
            [
                PostgresStatement(LaneDirectory.clock, [.int4(Int32(lane))]),
                AppendLookUp.knownStatement(subjects, lane: lane),
            ] + streams.map { AppendLookUp.erasureStatement(lane: $0.lane, streams: $0.streams) }
    }

    /// Evaluates the answers to `statements`, including the server's clock.
    func knowledge(
        in found: [PostgresRows],
        _ session: isolated PostgresSession
    ) throws -> (known: AppendKnowledge, now: Instant) {
        var known = AppendKnowledge()
        known.hasDirectory = try found[0][0].bool(1)
        let now = Instant(microseconds: try found[0][0].timestamptz(0))
        for ((lane, streams), rows) in zip(streams, found.dropFirst(2)) {
            try learnErasures(of: streams, lane: lane, in: rows, into: &known)
        }
        var events = try self.events(in: found[1])
        if !events.isEmpty {
            try learnProofs(of: &events, into: &known, session)
            let more = confirmationStatements(for: events, known)
            if !more.isEmpty {
                try learn(try session.pipeline(more), events, into: &known, session)
            }
        }
        return (known, now)
    }

    /// An event that was found: its subject, and whether confirmations precede it.
    private struct Found {
        let subject: Int
        let asOf: Instant
        let isLate: Bool
        let content: Content
        let evidence: Int64
        /// Nil if the batch states nothing as of about that time.
        var trust: Verification.Trust?
    }

    private func events(
        in rows: PostgresRows
    ) throws -> [Int64: Found] {
        var events: [Int64: Found] = [:]
        for row in rows {
            let offset = try row.int8(1)
            guard let content = Content(canonicalBytes: try row.bytea(3)) else {
                throw EventRows.malformed(Position(lane: lanes[lane], offset: offset))
            }
            let place = Int(try row.int8(0)) - 1
            let subject = subjects[place].subject
            // Two subjects can have the same subject part of the key.
            guard AppendLookUp.isAbout(subject, content) else { continue }
            let asOf = Instant(milliseconds: try row.int8(2))
            events[offset] = Found(
                subject: place,
                asOf: asOf,
                isLate: try row.bool(4),
                content: content,
                evidence: try row.int8(5)
            )
        }
        return events
    }

    // Reads the proofs of events, the payloads already stored, and how late streams were confirmed.
    private func learnProofs(
        of events: inout [Int64: Found],
        into known: inout AppendKnowledge,
        _ session: isolated PostgresSession
    ) throws {
        let streams = Array(Set(events.values.map { subjects[$0.subject].subject.stream }))
        let asked = events.values.filter { subjects[$0.subject].asOf.contains($0.asOf) }
        let answers = try session.pipeline([
            PostgresStatement(AppendLookUp.latest, AppendLookUp.parameters(lane, streams)),
            PostgresStatement(
                AppendLookUp.evidence,
                [.int4(Int32(lane)), .byteaArray(payloads.map(\.bytes))]
            ),
            PostgresStatement(
                AppendLookUp.trusts,
                [.int4(Int32(lane)), .int8Array(Array(Set(asked.map(\.evidence))))]
            ),
            PostgresStatement(
                AppendLookUp.movedEnds,
                AppendLookUp.parameters(lane, streams) + [
                    .int8Array(PeriodEnds.movedPurchases(in: subjects.map(\.subject)))
                ]
            ),
        ])

        try known.learnMovedEnds(in: answers[3], of: streams)
        for row in answers[0] {
            guard let asOf = try row.int8IfPresent(1) else { continue }
            let stream = streams[Int(try row.int8(0)) - 1]
            // A row contains confirmations up to a minute later.
            known.latestConfirmation[stream] = Instant(
                milliseconds: asOf.addingWithinRange(ConfirmationRow.spanMillisecondsMax)
            )
        }
        for row in answers[1] {
            guard let digest = Digest(bytes: try row.bytea(0)),
                let trust = Verification.Trust(rawValue: try row.text(1))
            else { continue }
            if let other = known.evidence[digest], !trust.isStronger(than: other) { continue }
            known.evidence[digest] = trust
        }

        let trusts = try AppendLookUp.trusts(in: answers[2])
        for (offset, found) in events {
            let asOf = subjects[found.subject].asOf
            let trust = asOf.contains(found.asOf) ? trusts[found.evidence] : nil
            events[offset]?.trust = trust
            known.subjects[subjects[found.subject].subject, default: Knowledge()].learn(
                offset: offset,
                asOf: found.asOf,
                content: found.content,
                trust: trust
            )
        }
    }

    private static func trusts(in rows: PostgresRows) throws -> [Int64: Verification.Trust] {
        var trusts: [Int64: Verification.Trust] = [:]
        for row in rows {
            trusts[try row.int8(0)] = Verification.Trust(rawValue: try row.text(1))
        }
        return trusts
    }

    private func learnErasures(
        of streams: [StreamID],
        lane: Int,
        in rows: PostgresRows,
        into known: inout AppendKnowledge
    ) throws {
        for row in rows {
            let position = Position(lane: lanes[lane], offset: try row.int8(1))
            guard let content = Content(canonicalBytes: try row.bytea(3)),
                let erasure = Erasure(content)
            else { throw EventRows.malformed(position) }
            // One that removed nothing refuses nothing.
            guard erasure.removesRows else { continue }
            let stream = streams[Int(try row.int8(0)) - 1]
            let found = KnownErasure(
                erasure.scope,
                asOf: Instant(milliseconds: try row.int8(2)),
                at: position
            )
            if known.erasures[stream]?.merge(found) == nil { known.erasures[stream] = found }
        }
    }

    private static func isAbout(_ subject: Subject, _ content: Content) -> Bool {
        Fact(
            stream: subject.stream,
            bundleId: "",
            kind: subject.kind,
            purchaseDate: subject.purchaseDate,
            expiresDate: subject.expiresDate,
            asOf: Instant(milliseconds: 0),
            content: content
        ).subject == subject
    }

    // The confirmations that have to be read: nearly always none.
    private func confirmationStatements(
        for events: [Int64: Found],
        _ known: AppendKnowledge
    ) -> [PostgresStatement] {
        var late: [StreamID: ClosedRange<Instant>] = [:]
        for found in events.values {
            let asked = subjects[found.subject]
            let stream = asked.subject.stream
            // An erasure removes the digests that identify repeated payloads, so what they repeated
            // is read.
            if known.erasures[stream] != nil {
                late[stream] = late[stream]?.extended(to: asked.asOf) ?? asked.asOf
            }
            guard found.asOf <= asked.asOf.upperBound,
                let latest = known.latestConfirmation[stream], latest >= found.asOf
            else { continue }
            let range: ClosedRange<Instant>
            if found.isLate {
                range = found.asOf...asked.asOf.upperBound
            } else if let trust = found.trust, trust != .signed {
                range = found.asOf...found.asOf
            } else {
                continue
            }
            late[stream] = late[stream]?.extended(to: range) ?? range
        }
        for moved in known.movedEnds.values {
            let stream = moved.subject.stream
            let range = moved.asOf...max(moved.asOf, known.latestConfirmation[stream] ?? .epoch)
            late[stream] = late[stream]?.extended(to: range) ?? range
        }

        var renamed: Set<StreamID> = []
        for asked in subjects where !asked.transactionIds.isEmpty {
            guard let knowledge = known.subjects[asked.subject] else { continue }
            if asked.transactionIds.contains(where: { !knowledge.isKnown(under: $0) }) {
                renamed.insert(asked.subject.stream)
            }
        }

        var statements = late.map { stream, range in
            PostgresStatement(
                AppendLookUp.between,
                parameters(stream) + [
                    .int8(
                        range.lowerBound.milliseconds.addingWithinRange(
                            -ConfirmationRow.spanMillisecondsMax
                        )
                    ),
                    .int8(range.upperBound.milliseconds),
                ]
            )
        }
        statements += renamed.map { PostgresStatement(AppendLookUp.aliases, parameters($0)) }
        return statements
    }

    private func parameters(_ stream: StreamID) -> [PostgresValue] {
        [
            .int4(Int32(lane)), .text(stream.environment.word),
            .text(stream.originalTransactionId),
        ]
    }

    private func learn(
        _ results: [PostgresRows],
        _ events: [Int64: Found],
        into known: inout AppendKnowledge,
        _ session: isolated PostgresSession
    ) throws {
        var confirmations: [Confirmation] = []
        for rows in results {
            for row in rows {
                confirmations += try EventRows.confirmations(in: row, lane: lanes[lane])
            }
        }
        for confirmation in confirmations {
            guard let moved = known.movedEnds[confirmation.position.offset] else { continue }
            known.ends.learn(moved.subject, asOf: confirmation.asOf)
        }

        confirmations.removeAll { events[$0.position.offset] == nil }
        let numbers = Set(confirmations.map(\.evidence))
        guard !numbers.isEmpty else { return }
        let trusts = try AppendLookUp.trusts(
            in: session.query(
                AppendLookUp.trusts,
                [.int4(Int32(lane)), .int8Array(Array(numbers))]
            )
        )
        for confirmation in confirmations {
            guard let found = events[confirmation.position.offset] else { continue }
            known.subjects[subjects[found.subject].subject]?.learn(
                confirmation,
                trust: trusts[confirmation.evidence]
            )
        }
    }
}

extension AppendLookUp {
    private static func knownStatement(
        _ subjects: [AskedSubject],
        lane: Int
    ) -> PostgresStatement {
        let ranges = subjects.map { FactKey.range(around: $0.key) }
        return PostgresStatement(
            known,
            [
                .int4(Int32(lane)),
                .textArray(subjects.map(\.subject.stream.environment.word)),
                .textArray(subjects.map(\.subject.stream.originalTransactionId)),
                .uuidArray(ranges.map(\.first)),
                .uuidArray(ranges.map(\.last)),
                .int8Array(subjects.map(\.subject.purchaseDate.milliseconds)),
                .int8Array(subjects.map(\.subject.expiresDate.milliseconds)),
                .textArray(subjects.map(\.subject.kind.rawValue)),
            ]
        )
    }

    // One statement for each lane: on a distributed ledger it goes to one server, whereas a join
    // with a list of lanes goes to all.
    private static func erasureStatement(lane: Int, streams: [StreamID]) -> PostgresStatement {
        PostgresStatement(erasures, parameters(lane, streams))
    }

    private static func parameters(_ lane: Int, _ streams: [StreamID]) -> [PostgresValue] {
        [
            .int4(Int32(lane)), .textArray(streams.map(\.environment.word)),
            .textArray(streams.map(\.originalTransactionId)),
        ]
    }
}

extension ClosedRange<Instant> {
    /// The smallest range that contains both.
    fileprivate func extended(to other: ClosedRange<Instant>) -> ClosedRange<Instant> {
        Swift.min(lowerBound, other.lowerBound)...Swift.max(upperBound, other.upperBound)
    }
}
