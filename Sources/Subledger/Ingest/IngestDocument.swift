internal import AppStore
internal import Events

/// The result of ingesting many payloads.
public struct IngestDocument: Codable, Hashable, Sendable {
    /// Payloads read, including refused ones.
    public let payloads: Int
    /// Facts that were appended as events.
    public let appended: Int
    /// Facts that the log already contained.
    public let duplicates: Int
    /// Facts that were refused because of an erasure.
    public let erased: Int
    /// The erasures that refused them, each as `lane:offset`; at most `IngestReport.erasuresMax`.
    public let erasedBy: [String]
    /// Payloads that neither brought nor confirmed anything.
    public let unchanged: Int
    /// Statements of accepted payloads that were left out; the notices explain why.
    public let leftOut: Int
    /// Payloads that were refused completely.
    public let rejected: Int
    /// Streams that the payloads are about.
    public let streams: Int
    /// Other files that were skipped.
    public let skipped: Int
    /// By lane number, the offset up to which the log contains the content of these payloads.
    public let positions: [String: Int64]
    /// Statements that were left out, and other notices, by reason.
    public let leftOutByReason: [ReasonGroup]
    /// Refused payloads by reason, with the number of their facts as far as they can be counted.
    public let rejectedByReason: [ReasonGroup]
    /// Refused payloads whose bytes are not kept, because the storage for them has reached its
    /// limit.
    public let bodiesNotKept: Int
    /// The first refusals, up to `IngestReport.rejectionsMax`.
    public let rejections: [Refusal]
    /// The first notices, up to `IngestReport.rejectionsMax`.
    public let notices: [Notice]

    /// A payload that was refused.
    public struct Refusal: Codable, Hashable, Sendable {
        /// Where it was found.
        public let path: String
        /// The machine-readable reason.
        public let reason: String
        /// Why, and what to do.
        public let message: String
    }

    /// A notice for the operator about an accepted payload.
    public struct Notice: Codable, Hashable, Sendable {
        /// Where it was found.
        public let path: String
        /// The machine-readable kind of the notice.
        public let notice: String
        /// What was left out, or accepted with a reservation.
        public let message: String
        /// How many statements were left out.
        public let leftOut: Int
    }

    /// The document of a report.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - skipped: Other files that were skipped.
    public init(_ report: IngestReport, skipped: Int = 0) {
        payloads = report.payloads
        appended = report.appended
        duplicates = report.duplicates
        erased = report.erased
        erasedBy = report.erasures.sorted().map { "\($0.lane.number):\($0.offset)" }
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
