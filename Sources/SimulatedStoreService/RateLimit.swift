internal import AppStoreSimulator
internal import Events
internal import Synchronization

/// Counts requests as Apple does, for each endpoint and environment.
final class RateLimit: Sendable {
    /// The endpoints, with the number of requests a second that production allows.
    enum Endpoint: String, CaseIterable, Sendable {
        case history, statuses, refunds, transaction, appTransaction, order, notifications
        case `extension`, massExtension, consumption, test, groups, verifyReceipt

        var perSecond: Double {
            switch self {
            case .extension: 20
            case .refunds, .order: 10
            case .massExtension, .test: 1
            default: 50
            }
        }
    }

    /// How many requests an endpoint got, and refused.
    struct Count: Codable, Hashable, Sendable {
        var requests = 0
        var refused = 0
    }

    private struct Bucket {
        var left: Double
        var filledAt: Instant
    }

    private struct State {
        var buckets: [String: Bucket] = [:]
        var counts: [String: Count] = [:]
    }

    private let share: Double
    private let state = Mutex(State())

    /// The sandbox allows a tenth.
    private static let sandboxShare = 0.1

    /// Limits at this share of Apple's.
    init(share: Double) { self.share = share }

    /// Counts a request.
    ///
    /// - Returns: Nil if it is allowed; otherwise when the next one is.
    func refusal(
        _ endpoint: Endpoint,
        _ environment: StoreEnvironment,
        at now: Instant
    ) -> Instant? {
        let rate =
            endpoint.perSecond * share * (environment == .sandbox ? Self.sandboxShare : 1)
        let capacity = max(1, rate)
        let key = "\(environment.word) \(endpoint.rawValue)"
        return state.withLock { state in
            var bucket = state.buckets[key] ?? Bucket(left: capacity, filledAt: now)
            let seconds = Double(now.milliseconds - bucket.filledAt.milliseconds) / 1000
            bucket.left = min(capacity, bucket.left + max(0, seconds) * rate)
            bucket.filledAt = now
            let isAllowed = bucket.left >= 1
            if isAllowed { bucket.left -= 1 }
            state.buckets[key] = bucket
            state.counts[key, default: Count()].requests += 1
            guard !isAllowed else { return nil }
            state.counts[key, default: Count()].refused += 1
            let wait = ((1 - bucket.left) / rate * 1000).rounded(.up)
            return now.advanced(by: Int64(wait))
        }
    }

    /// The requests so far, by environment and endpoint.
    var counts: [String: Count] { state.withLock { $0.counts } }
}
