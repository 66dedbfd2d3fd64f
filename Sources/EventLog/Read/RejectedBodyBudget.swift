/// How many more bytes of refused payloads may be stored.
///
/// The sum over the table is read first, and then only from time to time, because reading it for
/// each row would cost too much: so several processes together may store slightly more than the
/// limit.
struct RejectedBodyBudget {
    /// The number of bytes from which on no body is stored.
    let limit: Int64
    /// The number of bytes stored, as far as is known; nil if it has to be read.
    private var kept: Int64?
    private var bytesSinceRead: Int64 = 0
    private var statementsSinceRead = 0

    /// Bytes and statements after which the sum is read again: the owner may have deleted rows, and
    /// other processes may have added some.
    private static let bytesMax: Int64 = 64 << 20
    private static let statementsMax = 256

    init(limit: Int64) { self.limit = limit }

    /// Whether the sum has to be read before the next statement.
    var isStale: Bool { kept == nil }

    /// Records the sum over the table.
    mutating func refresh(_ sum: Int64) {
        (kept, bytesSinceRead, statementsSinceRead) = (sum, 0, 0)
    }

    /// The rejections of one statement, without the bodies for which there is no room.
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
