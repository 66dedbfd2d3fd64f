internal import AppStoreSimulator
internal import Events
internal import Synchronization

/// The lives of one environment as Apple's server sees them: looked up by any id, at any instant.
final class ServedStore: Sendable {
    let environment: StoreEnvironment
    /// The app, and the keys that sign for it.
    let store: SimulatedStore
    let journal = SendJournal()
    /// Rings when the set of notifications to send has changed.
    let bell = Bell()
    /// Requested test notifications, by their tokens.
    let tests = Mutex<[String: TestStatusDocument]>([:])
    /// The requested extensions for all subscribers, with their results.
    let massExtensions = Mutex<[MassExtensionKey: MassExtensionStatus]>([:])
    /// Consumption information that was sent.
    let consumption = Mutex<[ConsumptionDocument]>([])
    /// The claims of seats, by the number of their life.
    let seatClaims = Mutex<[Int: [SeatClaim]]>([:])
    fileprivate let content: Mutex<Content>

    /// Everything that commands may change.
    fileprivate struct Content {
        var lives: [SubscriptionLife] = []
        var directed: [Int: DirectedLife] = [:]
        var notifications: [Sending] = []
        var byBase: [Int64: Int] = [:]
        var byAppTransaction: [String: Int] = [:]
    }

    /// A notification of a life, and when it is signed in real time: ordered as in Apple's history.
    struct Sending: Hashable, Comparable, Sendable {
        let signedAt: Instant
        let life: Int
        let number: Int

        static func < (left: Sending, right: Sending) -> Bool {
            (left.signedAt, left.life, left.number) < (right.signedAt, right.life, right.number)
        }
    }

    /// All transaction ids of a life differ in their last three digits only.
    private static let idsPerLife: Int64 = 1000

    init(_ store: SimulatedStore, lives: [SubscriptionLife]) {
        self.store = store
        environment = store.environment
        var content = Content()
        for life in lives { content.add(life) }
        content.notifications.sort()
        self.content = Mutex(content)
    }

    /// The lives, each at its own pace.
    var lives: [SubscriptionLife] { content.withLock { $0.lives } }

    /// The notifications that Apple sends, by signing date.
    var notifications: [Sending] { content.withLock { $0.notifications } }

    /// The number of the life that an id belongs to; nil if it is unknown, or nothing was bought
    /// yet.
    func life(of id: String, allowsAppTransaction: Bool = true, at now: Instant) -> Int? {
        content.withLock { content in
            let found: Int?
            if allowsAppTransaction, let index = content.byAppTransaction[id] {
                found = index
            } else {
                found = Int64(id).flatMap { content.byBase[$0 / Self.idsPerLife] }
            }
            guard let found, let start = content.lives[found].events.first?.happenedAt,
                content.lives[found].store.pace.real(start) <= now
            else { return nil }
            return found
        }
    }

    /// The life of a number.
    func life(_ number: Int) -> SubscriptionLife { content.withLock { $0.lives[number] } }

    /// The life of a number, and the instant of its calendar at a real one.
    func life(_ number: Int, at now: Instant) -> (life: SubscriptionLife, instant: Instant) {
        let life = life(number)
        return (life, life.store.pace.calendar(now))
    }

    /// The notification's body as it is posted.
    func body(of sending: Sending) -> [UInt8] {
        life(sending.life).notification(sending.number).payload
    }
}

extension ServedStore {
    /// The most lives that commands may add, because all are held in memory.
    static let directedMax = 100_000

    /// Adds a life controlled by commands, created from its number among those.
    ///
    /// - Returns: Its number among all lives; nil if there are too many.
    func add(
        _ make: (Int) throws(ScriptError) -> DirectedLife
    ) throws(ScriptError) -> Int? {
        let result = content.withLock { content in
            Result { () throws(ScriptError) -> Int? in
                guard content.directed.count < ServedStore.directedMax else { return nil }
                let directed = try make(content.directed.count)
                let number = content.lives.count
                content.directed[number] = directed
                content.add(directed.life)
                content.notifications.sort()
                return number
            }
        }
        bell.ring()
        return try result.get()
    }

    /// Makes something happen in a life.
    ///
    /// - Parameters:
    ///   - number: The number of the life.
    ///   - now: When, in real time.
    ///   - change: What happens, given the life and the instant of its calendar.
    /// - Returns: False if the life is not controlled by commands, because its story is drawn from
    ///   the seed.
    /// - Throws: `ScriptError` if the App Store would not allow it; then nothing changes.
    func direct(
        _ number: Int,
        at now: Instant,
        _ change: (inout DirectedLife, Instant) throws(ScriptError) -> Void
    ) throws(ScriptError) -> Bool {
        let result = content.withLock { content in
            Result { () throws(ScriptError) -> Bool in
                guard var directed = content.directed[number] else { return false }
                try change(&directed, directed.life.store.pace.calendar(now))
                content.directed[number] = directed
                content.lives[number] = directed.life
                content.notifications.removeAll { $0.life == number }
                content.notifications += Self.sendings(of: directed.life, number)
                content.notifications.sort()
                return true
            }
        }
        bell.ring()
        return try result.get()
    }

    private static func sendings(of life: SubscriptionLife, _ index: Int) -> [Sending] {
        life.notificationInstants.enumerated().map { number, instant in
            Sending(signedAt: life.store.pace.real(instant), life: index, number: number)
        }
    }
}

extension ServedStore.Content {
    // The caller sorts the notifications.
    fileprivate mutating func add(_ life: SubscriptionLife) {
        let index = lives.count
        lives.append(life)
        notifications += ServedStore.sendings(of: life, index)
        if let id = Int64(life.originalTransactionId) {
            byBase[id / ServedStore.idsPerLife] = index
        }
        byAppTransaction[life.identity.appTransactionId] = index
    }
}
