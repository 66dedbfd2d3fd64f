internal import AppStore
internal import Events

/// What came of taking in many payloads.
public struct IngestDocument: Codable, Hashable, Sendable {
    /// Payloads seen, the refused ones included.
    public let payloads: Int
    /// Facts that are events now.
    public let appended: Int
    /// Facts that the log knew already.
    public let duplicates: Int
    /// Facts that were refused because their subscription was erased.
    public let erased: Int
    /// Payloads that neither brought nor confirmed anything.
    public let unchanged: Int
    /// Statements of payloads that were taken, which were left out; the notices say why.
    public let leftOut: Int
    /// Payloads that were refused whole.
    public let rejected: Int
    /// Streams that payloads spoke of.
    public let streams: Int
    /// Other files that were passed over.
    public let skipped: Int
    /// Up to where the log says what the payloads say, by the lane's number.
    public let positions: [String: Int64]
    /// Statements that were left out, and other notices, by what they are about.
    public let leftOutByReason: [ReasonGroup]
    /// Refused payloads by reason; their facts as far as they can be counted.
    public let rejectedByReason: [ReasonGroup]
    /// Refused payloads of which no byte is kept, because what is kept has reached its limit.
    public let bodiesNotKept: Int
    /// The first refusals, up to `IngestReport.rejectionsMax`.
    public let rejections: [Refusal]
    /// The first notices, up to `IngestReport.rejectionsMax`.
    public let notices: [Notice]

    /// A payload that was refused.
    public struct Refusal: Codable, Hashable, Sendable {
        /// Where it was found.
        public let path: String
        /// Why, as a word of the machine.
        public let reason: String
        /// Why, and what to do.
        public let message: String
    }

    /// What a person should know of a payload that was taken.
    public struct Notice: Codable, Hashable, Sendable {
        /// Where it was found.
        public let path: String
        /// What it is about, as a word of the machine.
        public let notice: String
        /// What was left out of it, or taken with a reservation.
        public let message: String
        /// How many statements were left out.
        public let leftOut: Int
    }

    /// The document of a report.
    ///
    /// - Parameters:
    ///   - report: What was counted.
    ///   - skipped: Other files that were passed over.
    public init(_ report: IngestReport, skipped: Int = 0) {
        payloads = report.payloads
        appended = report.appended
        duplicates = report.duplicates
        erased = report.erased
        unchanged = report.unchanged
        leftOut = report.leftOut
        rejected = report.rejected
        streams = report.streams
        self.skipped = skipped
        positions = PositionVector(report.positions).document
        leftOutByReason = report.noticeGroups
        rejectedByReason = report.rejectionGroups
        bodiesNotKept = report.bodiesNotKept
        rejections = report.rejections.map {
            Refusal(
                path: $0.path,
                reason: $0.rejection.code.rawValue,
                message: $0.rejection.message
            )
        }
        notices = report.notices.map {
            Notice(
                path: $0.path,
                notice: $0.notice.code.rawValue,
                message: $0.notice.message,
                leftOut: $0.notice.leftOut
            )
        }
    }
}
