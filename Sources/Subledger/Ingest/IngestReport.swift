public import AppStore
internal import EventLog

/// What came of taking in many payloads.
public struct IngestReport: Sendable {
    /// Payloads seen, the rejected ones included.
    public private(set) var payloads = 0
    /// Facts that are events now.
    public private(set) var appended = 0
    /// Facts that the log knew already.
    public private(set) var duplicates = 0
    /// Facts that were refused because their subscription was erased, and they are from before.
    public private(set) var erased = 0
    /// Facts whose transaction id was new for a purchase that was known (Apple's data: trap 4).
    public private(set) var restored = 0
    /// Payloads that were verified and neither brought nor confirmed anything: nothing of them was
    /// kept.
    public private(set) var unchanged = 0
    /// Payloads that were refused whole.
    public private(set) var rejected = 0
    /// Those of them that have no bytes of their own, such as damaged rows of a table: they are not
    /// kept among the rejections.
    public private(set) var rejectedUnkept = 0
    /// The same by reason.
    public private(set) var rejectedByReason: [Rejection.Code: Int] = [:]
    /// The same with an example of each reason, the most frequent first.
    public var rejectionGroups: [ReasonGroup] { refusedGroups.groups }
    /// The first of them, up to `rejectionsMax`, in the order of the input.
    public private(set) var rejections: [Refusal] = []
    /// What a person should know of payloads that were taken, by what it is about, the most frequent
    /// first.
    public var noticeGroups: [ReasonGroup] { leftOutGroups.groups }
    /// The first of these notices, up to `rejectionsMax`, in the order of the input.
    public private(set) var notices: [Remark] = []
    /// How many such notices there were.
    public private(set) var noticeCount = 0
    /// Statements of payloads that were taken, which were left out; the notices say why.
    public private(set) var leftOut = 0
    /// Up to where the log says what the payloads say: by lane the offset of the last event that
    /// was appended, or that a duplicate repeats.
    public private(set) var positions: [Int: Int64] = [:]
    /// Payloads that were read and are not finished: neither taken nor refused yet.
    public internal(set) var underWay = 0
    /// Refused payloads of which no byte is kept, because what is kept has reached its limit.
    public internal(set) var bodiesNotKept = 0
    /// Whether it was stopped before the end.
    public internal(set) var wasStopped = false

    private var byteCount: Int64 = 0
    private var streamHashes: Set<Int> = []
    private var refusedGroups = ReasonGroups()
    private var leftOutGroups = ReasonGroups()

    /// Most rejections that are listed one by one; all are counted.
    public static let rejectionsMax = 10_000

    /// Streams up to which `streams` is exact: what keeps memory from growing with the input.
    public static let streamsMax = 1 << 20

    /// A payload that was refused.
    public struct Refusal: Sendable {
        /// Where it was found.
        public var path: String { place.path }
        /// Why.
        public let rejection: Rejection

        let place: InputPlace
    }

    /// A notice with the payload it is about.
    public struct Remark: Sendable {
        /// Where it was found.
        public var path: String { place.path }
        /// What was left out of it, or taken with a reservation.
        public let notice: VerifiedPayload.Notice

        let place: InputPlace
    }

    /// How far a run is: the counts alone, for whoever kept the report itself would have its lists
    /// and sets copied with every payload.
    public struct Progress: Sendable {
        /// Payloads that are finished: taken or refused.
        public let payloads: Int
        /// Bytes of these payloads.
        public let byteCount: Int64
        /// Payloads that were read and are not finished.
        public let underWay: Int
    }

    var progress: Progress {
        Progress(payloads: payloads, byteCount: byteCount, underWay: underWay)
    }

    /// Streams that payloads spoke of; beyond `streamsMax` at least so many.
    public var streams: Int { streamHashes.count }

    /// Nothing yet.
    public init() {}

    /// What the run counted, as it is kept.
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

    /// Many payloads are verified at once: brings what is listed into the order of the input.
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
            } else if outcome.isNew {
                appended += 1
            } else {
                duplicates += 1
            }
            if outcome.isRestore { restored += 1 }
            let position = outcome.position
            positions[position.lane] = max(positions[position.lane] ?? 0, position.offset)
        }
        for fact in ingestion.facts where !fact.stream.originalTransactionId.isEmpty {
            guard streamHashes.count < IngestReport.streamsMax else { return }
            streamHashes.insert(fact.stream.hashValue)
        }
    }
}
