package import AppStore
internal import EventLog
package import Events

/// The result of ingesting many payloads.
package struct IngestReport: Sendable {
    /// Payloads read, including rejected ones.
    package private(set) var payloads = 0
    /// Facts that were appended as events.
    package private(set) var appended = 0
    /// Facts that the log already contained.
    package private(set) var duplicates = 0
    /// Facts that were refused because of an erasure: they date from before that of their
    /// subscription, or came in a payload that may not be kept, because it also contains an erased
    /// subscription.
    package private(set) var erased = 0
    /// The erasures that refused them, by position; at most `erasuresMax`.
    package private(set) var erasures: Set<Position> = []
    /// Facts with a new transaction id for a known purchase (Apple's data: trap 4).
    package private(set) var restored = 0
    /// Payloads that were verified and neither brought nor confirmed anything: none of their bytes
    /// were kept.
    package private(set) var unchanged = 0
    /// Payloads that were refused completely.
    package private(set) var rejected = 0
    /// Refused payloads without bytes of their own, such as damaged rows of a table, which are not
    /// kept among the rejections.
    package private(set) var rejectedUnkept = 0
    /// The same by reason.
    package private(set) var rejectedByReason: [Rejection.Code: Int] = [:]
    /// The same with an example of each reason, the most frequent first.
    package var rejectionGroups: [ReasonGroup] { refusedGroups.groups }
    /// The first rejections, up to `rejectionsMax`, in the order of the input.
    package private(set) var rejections: [Refusal] = []
    /// Notices for the operator about accepted payloads, by reason, the most frequent first.
    package var noticeGroups: [ReasonGroup] { leftOutGroups.groups }
    /// The first of these notices, up to `rejectionsMax`, in the order of the input.
    package private(set) var notices: [Remark] = []
    /// How many such notices there were.
    package private(set) var noticeCount = 0
    /// Statements of accepted payloads that were left out; the notices explain why.
    package private(set) var leftOut = 0
    /// By lane, the offset of the last event that was appended, or that a duplicate repeats.
    package private(set) var positions: [Int: Int64] = [:]
    /// Payloads that were read and are neither accepted nor refused yet.
    package internal(set) var underWay = 0
    /// Refused payloads whose bytes are not kept, because the storage for them has reached its
    /// limit.
    package internal(set) var bodiesNotKept = 0
    /// Whether it was stopped before the end.
    package internal(set) var wasStopped = false
    /// Other files that were skipped, which whoever reads the files counts.
    package var skipped = 0

    private var byteCount: Int64 = 0
    private var streamHashes: Set<Int> = []
    private var refusedGroups = ReasonGroups()
    private var leftOutGroups = ReasonGroups()

    /// The most rejections that are listed individually; all are counted.
    package static let rejectionsMax = 10_000

    /// The most erasures that are named.
    package static let erasuresMax = 100

    /// The number of streams up to which `streams` is exact, so memory does not grow with the
    /// input.
    package static let streamsMax = 1 << 20

    /// A payload that was refused.
    package struct Refusal: Sendable {
        /// Where it was found.
        package var path: String { place.path }
        /// Why.
        package let rejection: Rejection

        let place: InputPlace
    }

    /// A notice with the payload it is about.
    package struct Remark: Sendable {
        /// Where it was found.
        package var path: String { place.path }
        /// What was left out, or accepted with a reservation.
        package let notice: VerifiedPayload.Notice

        let place: InputPlace
    }

    /// The progress of a run: only the counts, because holding the whole report would copy its
    /// lists and sets with every payload.
    package struct Progress: Sendable {
        /// Payloads that are finished: accepted or refused.
        package let payloads: Int
        /// Bytes of these payloads.
        package let byteCount: Int64
        /// Payloads that were read and are not finished.
        package let underWay: Int
    }

    var progress: Progress {
        Progress(payloads: payloads, byteCount: byteCount, underWay: underWay)
    }

    /// Streams that the payloads are about; a lower bound beyond `streamsMax`.
    package var streams: Int { streamHashes.count }

    /// Creates an empty report.
    package init() {}

    /// The counts of the run, as the log stores them.
    var counts: IngestionCounts {
        var counts = IngestionCounts()
        counts.payloads = Int64(payloads)
        counts.appended = Int64(appended)
        counts.duplicates = Int64(duplicates)
        counts.restored = Int64(restored)
        counts.streams = Int64(streams)
        counts.unchanged = Int64(unchanged)
        for (code, count) in rejectedByReason {
            counts.rejectedByReason[code.rawValue] = Int64(count)
        }
        return counts
    }

    mutating func refuse(
        _ rejection: Rejection,
        at place: InputPlace,
        facts: Int,
        byteCount: Int,
        isKept: Bool
    ) {
        payloads += 1
        if !isKept { rejectedUnkept += 1 }
        self.byteCount += Int64(byteCount)
        rejected += 1
        rejectedByReason[rejection.code, default: 0] += 1
        refusedGroups.add(rejection, facts: facts, at: place)
        guard rejections.count < IngestReport.rejectionsMax else { return }
        rejections.append(Refusal(rejection: rejection, place: place))
    }

    /// Sorts the lists by input order, because many payloads are verified concurrently.
    mutating func sortByInput() {
        rejections.sort { $0.place.number < $1.place.number }
        notices.sort { $0.place.number < $1.place.number }
    }

    mutating func take(_ ingestion: Ledger.Ingestion, at place: InputPlace, byteCount: Int) {
        payloads += 1
        self.byteCount += Int64(byteCount)
        if ingestion.isUnchanged { unchanged += 1 }
        noticeCount += ingestion.notices.count
        leftOut += ingestion.notices.reduce(0) { $0 + $1.leftOut }
        leftOutGroups.add(ingestion.notices, at: place)
        for notice in ingestion.notices where notices.count < IngestReport.rejectionsMax {
            notices.append(Remark(notice: notice, place: place))
        }

        for outcome in ingestion.outcomes {
            if outcome.isErased {
                erased += 1
                if erasures.count < IngestReport.erasuresMax { erasures.insert(outcome.position) }
            } else if outcome.isNew {
                appended += 1
            } else {
                duplicates += 1
            }
            if outcome.isRestore { restored += 1 }
            let (lane, offset) = (outcome.position.lane.number, outcome.position.offset)
            positions[lane] = max(positions[lane] ?? 0, offset)
        }

        for fact in ingestion.facts where !fact.stream.originalTransactionId.isEmpty {
            guard streamHashes.count < IngestReport.streamsMax else { return }
            streamHashes.insert(fact.stream.hashValue)
        }
    }
}

extension IngestReport: Encodable {
    private enum CodingKeys: CodingKey {
        case payloads, appended, duplicates, erased, erasedBy, unchanged, leftOut, rejected, streams
        case skipped, positions, leftOutByReason, rejectedByReason, bodiesNotKept, rejections
        case notices
    }

    /// Writes the report: `erasedBy` as `lane:offset`, `positions` by lane number.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(payloads, forKey: .payloads)
        try container.encode(appended, forKey: .appended)
        try container.encode(duplicates, forKey: .duplicates)
        try container.encode(erased, forKey: .erased)
        let erasedBy = erasures.sorted().map { "\($0.lane.number):\($0.offset)" }
        try container.encode(erasedBy, forKey: .erasedBy)
        try container.encode(unchanged, forKey: .unchanged)
        try container.encode(leftOut, forKey: .leftOut)
        try container.encode(rejected, forKey: .rejected)
        try container.encode(streams, forKey: .streams)
        try container.encode(skipped, forKey: .skipped)
        try container.encode(PositionVector(positions).document, forKey: .positions)
        try container.encode(noticeGroups, forKey: .leftOutByReason)
        try container.encode(rejectionGroups, forKey: .rejectedByReason)
        try container.encode(bodiesNotKept, forKey: .bodiesNotKept)
        try container.encode(rejections, forKey: .rejections)
        try container.encode(notices, forKey: .notices)
    }
}

extension IngestReport.Refusal: Encodable {
    private enum CodingKeys: CodingKey { case path, reason, message }

    /// Writes where the payload was found, and the reason.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(rejection.code.rawValue, forKey: .reason)
        try container.encode(rejection.message, forKey: .message)
    }
}

extension IngestReport.Remark: Encodable {
    private enum CodingKeys: CodingKey { case path, notice, message, leftOut }

    /// Writes where the payload was found, and the notice.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(notice.code.rawValue, forKey: .notice)
        try container.encode(notice.message, forKey: .message)
        try container.encode(notice.leftOut, forKey: .leftOut)
    }
}
