/// How many more bytes of refused payloads may be kept.
///
/// The sum over the table is read at first and now and then, because each row would be too often:
/// several processes together keep a little more than the limit.
struct RejectedBodyBudget {
    /// Bytes from which on no body is kept.
    let limit: Int64
    /// Bytes that are kept, as far as is known; nil where that is to be read.
    private var kept: Int64?
    private var bytesSinceRead: Int64 = 0
    private var statementsSinceRead = 0

    /// Bytes and statements after which the sum is read again: the owner may have deleted rows, and
    /// other processes may have added some.
    private static let bytesMax: Int64 = 64 << 20
    private static let statementsMax = 256

    init(limit: Int64) { self.limit = limit }

    /// Whether the sum is to be read before the next statement.
    var isStale: Bool { kept == nil }

    /// Takes note of the sum over the table.
    mutating func refresh(_ sum: Int64) {
        (kept, bytesSinceRead, statementsSinceRead) = (sum, 0, 0)
    }

    /// The rejections of one statement, those without their bodies for which there is no room.
    mutating func admit(_ rejections: [RejectedPayload]) -> [RejectedPayload] {
        let admitted = rejections.map { rejection in
            let byteCount = Int64(rejection.body?.count ?? 0)
            guard (kept ?? 0) + byteCount <= limit else {
                return rejection.body == nil ? rejection : rejection.withoutBody(limit: limit)
            }
            kept = (kept ?? 0) + byteCount
            bytesSinceRead += byteCount
            return rejection
        }
        statementsSinceRead += 1
        if bytesSinceRead >= RejectedBodyBudget.bytesMax
            || statementsSinceRead >= RejectedBodyBudget.statementsMax
        {
            kept = nil
        }
        return admitted
    }
}
