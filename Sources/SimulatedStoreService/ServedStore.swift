internal import AppStoreSimulator
internal import Events
internal import Synchronization

/// The lives of one environment as Apple's server sees them: looked up by any id, at any instant.
final class ServedStore: Sendable {
    let environment: Environment
    /// The lives, each at its own pace.
    let lives: [SubscriptionLife]
    /// What Apple sends unasked, by signing date.
    let notifications: [Sending]
    let journal = SendJournal()
    /// Test notifications that were asked for, by their tokens.
    let tests = Mutex<[String: TestNotification]>([:])
    private let byBase: [Int64: Int]
    private let byAppTransaction: [String: Int]

    /// A notification of a life, and when it is signed in real time.
    struct Sending: Sendable {
        let signedAt: Instant
        let life: Int
        let number: Int
    }

    /// A test notification and what became of it.
    struct TestNotification: Sendable {
        let signedPayload: String
        var attempts: [SendAttempt] = []
    }

    /// All transaction ids of a life differ in their last three digits only.
    private static let idsPerLife: Int64 = 1000

    init(environment: Environment, lives: [SubscriptionLife]) {
        self.environment = environment
        self.lives = lives
        notifications = lives.enumerated().flatMap { index, life in
            life.notificationInstants.enumerated().map { number, instant in
                Sending(signedAt: life.store.pace.real(instant), life: index, number: number)
            }
        }.sorted { ($0.signedAt, $0.life, $0.number) < ($1.signedAt, $1.life, $1.number) }
        var byBase: [Int64: Int] = [:]
        var byAppTransaction: [String: Int] = [:]
        for (index, life) in lives.enumerated() {
            if let id = Int64(life.originalTransactionId) { byBase[id / Self.idsPerLife] = index }
            byAppTransaction[life.identity.appTransactionId] = index
        }
        self.byBase = byBase
        self.byAppTransaction = byAppTransaction
    }

    /// The number of the life that an id belongs to; nil where it is unknown, or nothing was bought
    /// yet.
    func life(of id: String, allowsAppTransaction: Bool = true, at now: Instant) -> Int? {
        let found: Int?
        if allowsAppTransaction, let index = byAppTransaction[id] {
            found = index
        } else {
            found = Int64(id).flatMap { byBase[$0 / Self.idsPerLife] }
        }
        guard let found, let start = lives[found].events.first?.happenedAt,
            lives[found].store.pace.real(start) <= now
        else { return nil }
        return found
    }

    /// The notification's body as it is posted.
    func body(of sending: Sending) -> [UInt8] {
        lives[sending.life].notification(sending.number).payload
    }
}

/// One try to send a notification, in Apple's words.
struct SendAttempt: Codable, Hashable, Sendable {
    let attemptDate: Instant
    let sendAttemptResult: Result

    /// What became of it.
    enum Result: String, Codable, Sendable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case noResponse = "NO_RESPONSE"
        case unsuccessful = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case socketIssue = "SOCKET_ISSUE"
    }
}

/// How many notifications were signed so far, and what became of them.
struct SentDocument: Encodable {
    private(set) var signed = 0
    private(set) var arrived = 0
    /// Tried, and not arrived yet; those that are lost on purpose never will.
    private(set) var lost = 0

    init(_ stores: [ServedStore], at now: Instant) {
        for store in stores {
            for (number, sending) in store.notifications.enumerated() {
                guard sending.signedAt <= now else { break }
                signed += 1
                let attempts = store.journal.attempts(of: number)
                if attempts.contains(where: { $0.sendAttemptResult == .success }) {
                    arrived += 1
                } else if !attempts.isEmpty {
                    lost += 1
                }
            }
        }
    }
}

/// Which notifications were sent when, and whether they arrived.
final class SendJournal: Sendable {
    private let attempts = Mutex<[Int: [SendAttempt]]>([:])

    func note(_ attempt: SendAttempt, of number: Int) {
        attempts.withLock { $0[number, default: []].append(attempt) }
    }

    func attempts(of number: Int) -> [SendAttempt] { attempts.withLock { $0[number] ?? [] } }

    func hasArrived(_ number: Int) -> Bool {
        attempts(of: number).contains { $0.sendAttemptResult == .success }
    }
}
