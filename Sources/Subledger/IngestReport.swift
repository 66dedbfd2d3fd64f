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
}

/// What came of taking in many payloads.
public struct IngestReport: Sendable {
    /// Payloads seen, the rejected ones included.
    public private(set) var payloads = 0
    /// Facts that are events now.
    public private(set) var appended = 0
    /// Facts that the log knew already.
    public private(set) var duplicates = 0
    /// Payloads that were refused whole.
    public private(set) var rejected = 0
    /// The first of them, up to `rejectionsMax`.
    public private(set) var rejections: [Refusal] = []
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

    /// Streams that payloads spoke of; beyond `streamsMax` at least so many.
    public var streams: Int { streamHashes.count }

    /// Nothing yet.
    public init() {}

    mutating func refuse(_ path: String, _ rejection: Rejection) {
        payloads += 1
        rejected += 1
        guard rejections.count < IngestReport.rejectionsMax else { return }
        rejections.append(Refusal(path: path, rejection: rejection))
    }

    mutating func take(_ outcomes: [AppendOutcome], of facts: [Fact]) {
        payloads += 1
        for outcome in outcomes {
            switch outcome {
            case .appended: appended += 1
            case .duplicate: duplicates += 1
            }
        }
        for fact in facts where !fact.stream.originalTransactionId.isEmpty {
            guard streamHashes.count < IngestReport.streamsMax else { return }
            streamHashes.insert(fact.stream.hashValue)
        }
    }
}
