internal import Events

/// How many refused payloads of each standing are stored, and how many more may be.
///
/// The sums over the table are read first, and then only from time to time, because reading them
/// for each row would cost too much: so several processes together may store slightly more than the
/// limits.
struct RejectedBodyBudget {
    /// What is stored of one standing.
    struct Stored: Hashable, Sendable {
        /// Rows.
        var rows: Int64 = 0
        /// Bytes of their bodies.
        var bytes: Int64 = 0
    }

    /// What becomes of the rejections of one statement.
    struct Admission {
        /// Those to store, without the bodies for which there is no room.
        var stored: [RejectedPayload] = []
        /// How many are stored without their bodies, by standing.
        var withoutBody: [Standing: Int] = [:]
        /// How many are not stored, by standing.
        var omitted: [Standing: Int] = [:]

        /// How many bodies are not stored.
        var lostBodies: Int {
            (Array(withoutBody.values) + Array(omitted.values)).reduce(0, +)
        }
    }

    /// The number of bytes of proven payloads from which on no body is stored.
    let limit: Int64
    /// What is stored, as far as is known; nil if it has to be read.
    private var kept: [Standing: Stored]?
    private var bytesSinceRead: Int64 = 0
    private var statementsSinceRead = 0
    private var omittedSinceRead = 0

    /// Bytes, statements and omitted rows after which the sums are read again: the owner may have
    /// deleted rows, and other processes may have added some.
    private static let bytesMax: Int64 = 64 << 20
    private static let statementsMax = 256
    private static let omittedMax = 10_000

    init(limit: Int64) { self.limit = limit }

    /// Whether the sums have to be read before the next statement.
    var isStale: Bool { kept == nil }

    /// Records the sums over the table.
    mutating func refresh(_ sums: [Standing: Stored]) {
        (kept, bytesSinceRead, statementsSinceRead, omittedSinceRead) = (sums, 0, 0, 0)
    }

    /// Decides about the rejections of one statement.
    mutating func admit(_ rejections: [RejectedPayload]) -> Admission {
        var (admission, sums) = (Admission(), kept ?? [:])
        for rejection in rejections {
            let standing = rejection.standing
            var sum = sums[standing] ?? Stored()
            guard sum.rows < RejectedPayload.rowsMax(of: standing) else {
                admission.omitted[standing, default: 0] += 1
                omittedSinceRead += 1
                continue
            }
            sum.rows += 1
            let byteCount = Int64(rejection.body?.count ?? 0)
            let limit = RejectedPayload.bytesMax(of: standing, ofProven: limit)
            if sum.bytes + byteCount <= limit {
                sum.bytes += byteCount
                bytesSinceRead += byteCount
                admission.stored.append(rejection)
            } else if rejection.body == nil {
                admission.stored.append(rejection)
            } else {
                admission.stored.append(rejection.withoutBody(limit: limit))
                admission.withoutBody[standing, default: 0] += 1
            }
            sums[standing] = sum
        }

        if !admission.stored.isEmpty { statementsSinceRead += 1 }
        let isOld =
            bytesSinceRead >= Self.bytesMax || statementsSinceRead >= Self.statementsMax
            || omittedSinceRead >= Self.omittedMax
        kept = isOld ? nil : sums
        return admission
    }
}
