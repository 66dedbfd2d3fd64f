public import AppStore
internal import EventLog
internal import Events

/// A payload with the place it was found at, or why that place holds none.
public struct LocatedPayload: Sendable {
    /// A file's path, with the number of the payload in it where there are several.
    public let path: String
    /// Its bytes, or why they cannot be a payload.
    public let payload: Result<[UInt8], Rejection>

    /// A payload found there.
    public init(path: String, payload: Result<[UInt8], Rejection>) {
        self.path = path
        self.payload = payload
    }

    /// How many bytes it holds.
    package var byteCount: Int {
        switch payload {
        case .success(let bytes): bytes.count
        case .failure: 0
        }
    }
}

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
    /// Facts whose transaction id was new for a purchase that was known (app-store.md §G-4).
    public private(set) var restored = 0
    /// Payloads that were verified and neither brought nor confirmed anything: nothing of them was
    /// kept.
    public private(set) var unchanged = 0
    /// Payloads that were refused whole.
    public private(set) var rejected = 0
    /// The same by reason.
    public private(set) var rejectedByReason: [Rejection.Code: Int] = [:]
    /// The first of them, up to `rejectionsMax`.
    public private(set) var rejections: [Refusal] = []
    /// What a person should know of payloads that were taken; the first, up to `rejectionsMax`.
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
    /// Whether it was stopped before the end.
    public internal(set) var wasStopped = false

    private var streamHashes: Set<Int> = []

    /// Most rejections that are listed one by one; all are counted.
    public static let rejectionsMax = 10_000

    /// Streams up to which `streams` is exact: what keeps memory from growing with the input.
    public static let streamsMax = 1 << 20

    /// A payload that was refused.
    public struct Refusal: Sendable {
        /// Where it was found.
        public let path: String
        /// Why.
        public let rejection: Rejection
    }

    /// A notice with the payload it is about.
    public struct Remark: Sendable {
        /// Where it was found.
        public let path: String
        /// What was left out of it, or taken with a reservation.
        public let notice: VerifiedPayload.Notice
    }

    /// How far a run is: the counts alone, for whoever kept the report itself would have its lists
    /// and sets copied with every payload.
    public struct Progress: Sendable {
        /// Payloads that are finished: taken or refused.
        public let payloads: Int
        /// Payloads that were read and are not finished.
        public let underWay: Int
    }

    var progress: Progress { Progress(payloads: payloads, underWay: underWay) }

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

    mutating func refuse(_ path: String, _ rejection: Rejection) {
        payloads += 1
        rejected += 1
        rejectedByReason[rejection.code, default: 0] += 1
        guard rejections.count < IngestReport.rejectionsMax else { return }
        rejections.append(Refusal(path: path, rejection: rejection))
    }

    mutating func take(_ ingestion: Ledger.Ingestion, at path: String) {
        payloads += 1
        if ingestion.isUnchanged { unchanged += 1 }
        noticeCount += ingestion.notices.count
        leftOut += ingestion.notices.reduce(0) { $0 + $1.leftOut }
        for notice in ingestion.notices where notices.count < IngestReport.rejectionsMax {
            notices.append(Remark(path: path, notice: notice))
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
