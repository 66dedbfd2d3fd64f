package import EventLog
package import Events
package import Subledger
internal import Synchronization

/// Delivers to all webhooks of a ledger, each by itself: a slow receiver delays only its own webhook.
///
/// Of several processes, one at a time delivers to a webhook; another one takes over when it ends.
package struct Webhooks: Sendable {
    private let ledger: Ledger
    private let limits: DeliveryQueue.Limits
    private let clock: @Sendable () -> Instant
    private let onNotice: @Sendable (Notice) -> Void
    private let onProgress: @Sendable (String, Progress) -> Void

    /// Something that an operator should read.
    package enum Notice: Sendable, CustomStringConvertible {
        /// A webhook was paused, for this reason.
        case paused(String, reason: String)
        /// Delivering to a webhook, or reading the webhooks, failed, and is tried again.
        case failed(String?, any Error)

        /// A sentence.
        package var description: String {
            switch self {
            case .paused(let name, let reason):
                "webhook \(name) was paused: \(reason); `subledger webhooks pause \(name) --off` "
                    + "continues where it stopped"
            case .failed(let name?, let error): "webhook \(name): \(error); retrying"
            case .failed(nil, let error): "the webhooks could not be read: \(error); retrying"
            }
        }
    }

    /// What happened since the last time.
    package struct Progress: Hashable, Sendable {
        /// Messages that were delivered.
        package let delivered: Int64
        /// Attempts that failed.
        package let failed: Int64
    }

    private static let interval = Duration.seconds(1)
    /// How long after a failure, and how often it is looked whether another process has ended.
    private static let pause = Duration.seconds(3)

    /// A delivery to all webhooks.
    ///
    /// - Parameters:
    ///   - ledger: The ledger.
    ///   - concurrency: The most messages that are sent to one webhook at the same time.
    ///   - clock: Our clock.
    ///   - onProgress: Receives, about once a second, what happened for a webhook.
    ///   - onNotice: Receives what an operator should read.
    package init(
        _ ledger: Ledger,
        concurrency: Int = 64,
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        onProgress: @escaping @Sendable (String, Progress) -> Void = { _, _ in },
        onNotice: @escaping @Sendable (Notice) -> Void
    ) {
        self.ledger = ledger
        limits = DeliveryQueue.Limits(concurrency: concurrency)
        (self.clock, self.onProgress, self.onNotice) = (clock, onProgress, onNotice)
    }

    /// Delivers until it is asked to stop, also to webhooks that are added meanwhile.
    package func run(until stop: StopFlag) async {
        let running = Running()
        await withDiscardingTaskGroup { group in
            while !stop.isSet, !Task.isCancelled {
                do {
                    for webhook in try await ledger.log.webhooks() where webhook.pausedAt == nil {
                        guard running.begin(webhook.name) else {
                            continue
                        }
                        group.addTask {
                            await attend(webhook, until: stop, running)
                            running.end(webhook.name)
                        }
                    }
                } catch {
                    running.tell(.failed(nil, error), onNotice)
                }
                do { try await Task.sleep(for: Webhooks.interval) } catch { break }
            }
        }
    }

    /// Delivers what the log has now to a webhook.
    ///
    /// - Returns: Why it was paused; nil once everything was delivered or given up.
    /// - Throws: `EventLogError`, above all `consumerInUse`; `WebhookFault`.
    package func deliverAll(to webhook: Webhook, until stop: StopFlag) async throws -> String? {
        let end = try await delivery(to: webhook).run(isFollowing: false, stop: stop)
        guard case .paused(let reason) = end else { return nil }
        try await pause(webhook, reason)
        return reason
    }

    private func attend(
        _ webhook: Webhook,
        until stop: StopFlag,
        _ running: Running
    ) async {
        do {
            let end = try await delivery(to: webhook).run(isFollowing: true, stop: stop)
            if case .paused(let reason) = end { try await pause(webhook, reason) }
        } catch let error as EventLogError where error.code == .consumerInUse {
            await wait(until: stop)
        } catch {
            guard !Task.isCancelled else { return }
            running.tell(.failed(webhook.name, error), onNotice)
            await wait(until: stop)
        }
    }

    private func delivery(to webhook: Webhook) -> WebhookDelivery {
        WebhookDelivery(ledger: ledger, webhook: webhook, limits: limits, clock: clock) {
            onProgress(webhook.name, Progress(delivered: $0, failed: $1))
        }
    }

    private func pause(_ webhook: Webhook, _ reason: String) async throws {
        _ = try await ledger.log.pause(webhook: webhook.name, because: reason)
        onNotice(.paused(webhook.name, reason: reason))
        _ = try await ledger.log.raise(
            .webhookPaused,
            about: webhook.name,
            "webhook \(webhook.name) was paused: \(reason)"
        )
    }

    private func wait(until stop: StopFlag) async {
        let end = ContinuousClock.now + Webhooks.pause
        while !stop.isSet, ContinuousClock.now < end {
            do { try await Task.sleep(for: .milliseconds(200)) } catch { return }
        }
    }

    /// Sends one message now, signed like all others, to try a receiver.
    ///
    /// - Returns: Why it was not accepted; nil if it was.
    /// - Throws: `WebhookFault`, `CancellationError`.
    package func test(_ webhook: Webhook) async throws -> String? {
        let address = try ReceiverAddress(webhook.url, allowsPrivate: webhook.allowsPrivate)
        let sender = MessageSender(address, connectionsMax: 1)
        let now = clock()
        let body = Array(
            #"{"data":{"webhook":"\#(webhook.name)"},"timestamp":"\#(now)","type":"test","version":1}"#
                .utf8
        )
        let headers = try MessageSigner(webhook, clock).headers(
            of: body,
            id: "test:\(now.milliseconds)"
        )
        let outcome: MessageSender.Outcome
        do {
            outcome = try await sender.post(body, headers: headers)
        } catch {
            await sender.close()
            throw error
        }
        await sender.close()
        switch outcome {
        case .accepted: return nil
        case .gone: return "it answered 410: it wants no more messages"
        case .refused(let why, _): return why
        }
    }
}

/// The webhooks to which this process delivers, and what it said of them.
private final class Running: Sendable {
    private let names = Mutex<Set<String>>([])
    private let told = Mutex<[String: ContinuousClock.Instant]>([:])

    /// How long a failure that repeats itself is not told again.
    private static let quiet = Duration.seconds(60)

    /// Whether it did not deliver to it before.
    func begin(_ name: String) -> Bool { names.withLock { $0.insert(name).inserted } }

    func end(_ name: String) { names.withLock { _ = $0.remove(name) } }

    /// Tells it, unless it was told a moment ago.
    func tell(_ notice: Webhooks.Notice, _ onNotice: (Webhooks.Notice) -> Void) {
        let isNew = told.withLock { told in
            told = told.filter { ContinuousClock.now - $0.value < Running.quiet }
            guard told["\(notice)"] == nil else { return false }
            told["\(notice)"] = .now
            return true
        }
        if isNew { onNotice(notice) }
    }
}
