internal import EventLog
internal import Events
internal import NIOCore

/// The messages that one webhook has not received yet, in memory: which may be sent now, and how far
/// its place may move.
///
/// Messages about a subscription are sent one after the other, in order; those about others at the
/// same time. A message that failed waits, and those behind it; others do not. The place moves past a
/// message once it was delivered, or is stored as one that still has to be.
///
/// While no message is accepted that was not sent before, one at a time is tried, and no more are
/// read: the attempts of a receiver that is down do not count against single messages. Messages that
/// failed before say nothing about the receiver, because it may refuse only them.
actor DeliveryQueue {
    /// The limits of what is in memory.
    struct Limits: Sendable {
        /// The most messages that are sent at the same time.
        var concurrency = 64
        /// The most messages that are read and not delivered.
        var messagesMax = 10_000
        /// The most effects that the place has not passed.
        var windowMax = 50_000
    }

    /// A message to send.
    struct Assignment: Sendable {
        let number: Int
        let messageId: String
        let effect: PendingMessage.Effect?
        /// Nil if it has to be made again.
        let body: [UInt8]?
    }

    /// What happened to a message.
    enum Ending: Sendable {
        case sent(MessageSender.Outcome)
        /// There is nothing to send: it was erased, or the receiver's format has no such event.
        case nothing
    }

    /// A message as it was read.
    struct Read: Sendable {
        let delivery: PendingMessage
        let body: [UInt8]
        let cursor: CommitCursor
    }

    private struct Message {
        var delivery: PendingMessage
        var body: [UInt8]?
        /// When it was read; nil if it was stored before.
        var readAt: Instant?
        var isStored = false
        var isChanged = false
    }

    /// First attempts that failed in a row, without a success, after which a receiver is down.
    private static let failuresMax = 20
    /// Milliseconds between attempts while it is down, at first and at most.
    private static let probes: ClosedRange<Int64> = 2000...60_000
    /// Milliseconds after which a body is made again instead of kept: what is erased meanwhile is not
    /// sent.
    private static let bodyAge: Int64 = 60_000

    private let limits: Limits
    private let clock: @Sendable () -> Instant
    private var messages: [Int: Message] = [:]
    private var lines: [String: CircularBuffer<Int>] = [:]
    private var ready = CircularBuffer<String>()
    // The subscriptions whose first message waits for another attempt.
    private var waiting: [String: Instant] = [:]
    private var window = CircularBuffer<(number: Int, cursor: CommitCursor)>()
    // Which of the window are not delivered.
    private var open: Set<Int> = []
    private var lastNumber = 0
    private var cursor: CommitCursor?
    private var done: [String] = []
    private var givenUp: [PendingMessage] = []
    private var inFlight = 0
    private var failuresInRow = 0
    private var probe: (delay: Int64, at: Instant)?
    private var isProbing = false
    private var isStopped = false
    private var sender: CheckedContinuation<Void, Never>?
    private var reader: CheckedContinuation<Void, Never>?
    /// Why the webhook should be paused; nil if it should not.
    private(set) var pauseReason: String?
    private var counts: (delivered: Int64, failed: Int64) = (0, 0)

    init(limits: Limits, clock: @escaping @Sendable () -> Instant) {
        (self.limits, self.clock) = (limits, clock)
    }

    // MARK: What is read

    /// Takes what was stored as not delivered, before anything is read.
    func restore(_ stored: [PendingMessage]) {
        for delivery in stored { restore(delivery) }
        wake()
    }

    /// Takes the alerts that are not known yet.
    func take(alerts: [PendingMessage]) {
        let known = Set(
            messages.values.lazy.filter { $0.delivery.effect == nil }
                .map(\.delivery.messageId)
        )
        for delivery in alerts
        where !known.contains(delivery.messageId) && !done.contains(delivery.messageId) {
            restore(delivery)
        }
        wake()
    }

    private func restore(_ delivery: PendingMessage) {
        lastNumber += 1
        messages[lastNumber] = Message(delivery: delivery, isStored: true)
        queue(lastNumber, key: delivery.key, due: delivery.nextAttemptAt)
    }

    /// Takes effects that were read, up to a place.
    func take(_ read: [Read], upTo end: CommitCursor) {
        for item in read {
            lastNumber += 1
            messages[lastNumber] = Message(
                delivery: item.delivery,
                body: item.body,
                readAt: clock()
            )
            open.insert(lastNumber)
            window.append((lastNumber, item.cursor))
            queue(lastNumber, key: item.delivery.key, due: nil)
        }
        // What the filter leaves out moves the place only.
        if window.isEmpty {
            cursor = end
        } else {
            window[window.index(before: window.endIndex)].cursor = end
        }
        wake()
    }

    private func queue(_ number: Int, key: String, due: Instant?) {
        if lines[key]?.append(number) == nil {
            lines[key] = [number]
            if let due, due > clock() { waiting[key] = due } else { ready.append(key) }
        }
    }

    /// Waits until there is room for more; returns whether more is wanted.
    func waitForRoom() async -> Bool {
        while !isStopped, !hasRoom { await withCheckedContinuation { reader = $0 } }
        return !isStopped
    }

    private var hasRoom: Bool {
        probe == nil && messages.count < limits.messagesMax && window.count < limits.windowMax
    }

    // MARK: What is sent

    /// The next message to send; nil once it was stopped.
    func next() async -> Assignment? {
        while !isStopped {
            if let key = nextKey(), let number = lines[key]?.first, let message = messages[number] {
                inFlight += 1
                return Assignment(
                    number: number,
                    messageId: message.delivery.messageId,
                    effect: message.delivery.effect,
                    body: isFresh(message) ? message.body : nil
                )
            }
            await withCheckedContinuation { sender = $0 }
        }
        return nil
    }

    // What waited for long, behind others of a slow receiver, is made again.
    private func isFresh(_ message: Message) -> Bool {
        guard let readAt = message.readAt else { return false }
        return clock().milliseconds - readAt.milliseconds < DeliveryQueue.bodyAge
    }

    private func nextKey() -> String? {
        guard inFlight < limits.concurrency else { return nil }
        if let probe {
            guard inFlight == 0, probe.at <= clock() else { return nil }
            // One that was never sent says more than one that failed; of these, each in its turn.
            let key =
                ready.popFirst()
                ?? waiting.min { ($0.value, $0.key) < ($1.value, $1.key) }?.key
            guard let key else { return nil }
            waiting[key] = nil
            isProbing = true
            return key
        }
        return ready.popFirst()
    }

    /// Notes what happened to a message.
    func end(_ number: Int, _ ending: Ending) {
        inFlight -= 1
        guard let message = messages[number] else { return }
        switch ending {
        case .nothing: remove(number)
        case .sent(.accepted):
            counts.delivered += 1
            failuresInRow = 0
            (probe, isProbing) = (nil, false)
            remove(number)
        case .sent(.refused(let why, let asked)): fail(number, message, why, asked)
        case .sent(.gone):
            pauseReason = "the receiver answered 410: it wants no more messages"
            fail(number, message, "it answered 410", nil)
        }
        wake()
    }

    /// Puts back a message that was not sent to its end.
    func putBack(_ number: Int) {
        inFlight -= 1
        if let message = messages[number] { ready.prepend(message.delivery.key) }
        wake()
    }

    private func fail(_ number: Int, _ message: Message, _ why: String, _ asked: Instant?) {
        var message = message
        let now = clock()
        counts.failed += 1
        if message.delivery.attempts == 0 {
            failuresInRow += 1
            message.delivery.firstSentAt = now
        }
        message.delivery.failure = why
        message.isChanged = true
        if failuresInRow >= DeliveryQueue.failuresMax {
            let probe = later(probe, at: now, asked)
            self.probe = probe
            let start = now.milliseconds - RetrySchedule.patience
            if message.delivery.firstSentAt.milliseconds <= start {
                pauseReason = "it accepted nothing for three days; the last attempt: \(why)"
            }
            message.delivery.attempts = max(1, message.delivery.attempts)
            message.delivery.nextAttemptAt = max(
                probe.at,
                message.delivery.nextAttemptAt ?? probe.at
            )
        } else {
            message.delivery.attempts += 1
            message.delivery.nextAttemptAt = RetrySchedule.next(
                after: message.delivery.attempts,
                at: now,
                asked: asked
            )
        }
        guard let due = message.delivery.nextAttemptAt else {
            givenUp.append(message.delivery)
            return remove(number, isDone: false)
        }
        if due.milliseconds - now.milliseconds > DeliveryQueue.bodyAge { message.body = nil }
        messages[number] = message
        waiting[message.delivery.key] = due
    }

    // Only what was sent to find out whether it is back makes the wait longer.
    private func later(
        _ probe: (delay: Int64, at: Instant)?,
        at now: Instant,
        _ asked: Instant?
    ) -> (delay: Int64, at: Instant) {
        var delay = DeliveryQueue.probes.lowerBound
        if let probe {
            guard isProbing else { return probe }
            delay = min(2 * probe.delay, DeliveryQueue.probes.upperBound)
        }
        isProbing = false
        let due = Instant(milliseconds: now.milliseconds + delay)
        return (delay, max(due, RetrySchedule.bounded(asked, at: now) ?? due))
    }

    private func remove(_ number: Int, isDone: Bool = true) {
        guard let message = messages.removeValue(forKey: number) else { return }
        if isDone, message.isStored { done.append(message.delivery.messageId) }
        open.remove(number)
        let key = message.delivery.key
        lines[key]?.removeFirst()
        if lines[key]?.isEmpty ?? true { lines[key] = nil } else { ready.append(key) }
    }

    // MARK: What is stored

    /// What to store now: how far the place moves, and what it passes undelivered.
    struct Settlement: Sendable {
        let cursor: CommitCursor?
        let kept: [PendingMessage]
        let done: [String]

        /// Whether there is nothing to store.
        var isEmpty: Bool { cursor == nil && kept.isEmpty && done.isEmpty }
    }

    /// What to store now.
    ///
    /// It counts as stored: if that fails, the queue must be given up.
    func settlement() -> Settlement {
        while let (number, place) = window.first, !open.contains(number) || mayPass(number) {
            window.removeFirst()
            cursor = place
            if open.remove(number) != nil {
                messages[number]?.isStored = true
                messages[number]?.isChanged = true
                if probe != nil { messages[number]?.body = nil }
            }
        }
        defer { (cursor, done, givenUp) = (nil, [], []) }
        var kept = givenUp
        let numbers = messages.filter { $0.value.isStored && $0.value.isChanged }.keys.sorted()
        for number in numbers {
            messages[number]?.isChanged = false
            if let message = messages[number] { kept.append(message.delivery) }
        }
        wake()
        return Settlement(cursor: cursor, kept: kept, done: done)
    }

    // Failed, or behind one that failed: nothing is gained by waiting for it.
    private func mayPass(_ number: Int) -> Bool {
        guard let message = messages[number] else { return true }
        if message.delivery.attempts > 0 || probe != nil { return true }
        guard let first = lines[message.delivery.key]?.first, first != number else { return false }
        return messages[first].map { $0.delivery.attempts > 0 } ?? false
    }

    /// How many messages were delivered and how many attempts failed since the last call.
    func takeCounts() -> (delivered: Int64, failed: Int64) {
        defer { counts = (0, 0) }
        return counts
    }

    /// Whether there is a message that may be sent now.
    var hasMessage: Bool {
        guard inFlight < limits.concurrency else { return false }
        guard let probe else { return !ready.isEmpty }
        return inFlight == 0 && probe.at <= clock() && !(waiting.isEmpty && ready.isEmpty)
    }

    /// Whether everything that was read is delivered.
    var isIdle: Bool { messages.isEmpty }

    // MARK: Time

    /// Makes ready what is due by now.
    func tick() {
        let now = clock()
        if probe == nil {
            for (key, due) in waiting where due <= now {
                waiting[key] = nil
                ready.append(key)
            }
        }
        wake()
    }

    /// Hands out nothing more.
    func stop() {
        isStopped = true
        wake()
    }

    private func wake() {
        if let waiter = sender {
            sender = nil
            waiter.resume()
        }
        if let waiter = reader, isStopped || hasRoom {
            reader = nil
            waiter.resume()
        }
    }
}

extension PendingMessage {
    // Messages of one key are sent in order.
    fileprivate var key: String {
        effect.map { "\($0.stream.environment.word)/\($0.stream.originalTransactionId)" }
            ?? messageId
    }
}
