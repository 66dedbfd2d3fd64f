internal import Events
internal import Synchronization

/// One attempt to send a notification, in Apple's words.
struct SendAttempt: Codable, Hashable, Sendable {
    let attemptDate: Instant
    let sendAttemptResult: Result

    /// Its outcome.
    enum Result: String, Codable, Sendable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case noResponse = "NO_RESPONSE"
        case unsuccessful = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case socketIssue = "SOCKET_ISSUE"
    }
}

/// How many notifications were signed so far, and their outcomes.
struct SentDocument: Encodable {
    private(set) var signed = 0
    private(set) var arrived = 0
    /// Attempted, but not arrived yet; those that are lost on purpose never will.
    private(set) var lost = 0

    init(_ stores: [ServedStore], at now: Instant) {
        for store in stores {
            for sending in store.notifications {
                guard sending.signedAt <= now else { break }
                signed += 1
                let attempts = store.journal.attempts(of: sending)
                if attempts.contains(where: { $0.sendAttemptResult == .success }) {
                    arrived += 1
                } else if !attempts.isEmpty {
                    lost += 1
                }
            }
        }
    }
}

/// When notifications were sent, and whether they arrived.
final class SendJournal: Sendable {
    private let attempts = Mutex<[ServedStore.Sending: [SendAttempt]]>([:])

    func note(_ attempt: SendAttempt, of sending: ServedStore.Sending) {
        attempts.withLock { $0[sending, default: []].append(attempt) }
    }

    func attempts(of sending: ServedStore.Sending) -> [SendAttempt] {
        attempts.withLock { $0[sending] ?? [] }
    }

    func hasArrived(_ sending: ServedStore.Sending) -> Bool {
        attempts(of: sending).contains { $0.sendAttemptResult == .success }
    }
}

/// Wakes the only task that waits for news.
final class Bell: Sendable {
    private let news: AsyncStream<Void>
    private let ringing: AsyncStream<Void>.Continuation

    init() {
        (news, ringing) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Wakes the waiting task, or the next one that waits.
    func ring() { ringing.yield() }

    /// Waits for the next ring, at most this many milliseconds; returns at once when cancelled.
    func wait(milliseconds: Int64) async {
        let timer = Task {
            do {
                try await Task.sleep(for: .milliseconds(milliseconds))
                ring()
            } catch {
                // The wait ended before the timer.
            }
        }
        for await _ in news { break }
        timer.cancel()
    }
}
