internal import EventLog
internal import Events
internal import Foundation
internal import Subledger

/// Delivers the effects of a ledger to one webhook, and its alerts.
///
/// Effects come at least once, in order for a subscription. What was delivered is stored about once a
/// second; after a crash, what was delivered since comes again, under the same `webhook-id`.
struct WebhookDelivery: Sendable {
    let ledger: Ledger
    let webhook: Webhook
    let limits: DeliveryQueue.Limits
    let clock: @Sendable () -> Instant
    /// Receives how many messages were delivered, and how many attempts failed, since the last call.
    let onProgress: @Sendable (_ delivered: Int64, _ failed: Int64) -> Void

    /// Why the delivery ended.
    enum End: Hashable, Sendable {
        /// It was asked to stop, or everything is delivered.
        case stopped
        /// The webhook was changed, or another process took it over.
        case changed
        /// Nothing more should be sent, for this reason.
        case paused(String)
    }

    /// How often what was delivered is stored.
    private static let settleInterval = Duration.seconds(1)
    /// How often what waits is looked at.
    private static let tickInterval = Duration.milliseconds(200)

    /// Delivers until it is cancelled, asked to stop, or the webhook changes.
    ///
    /// - Parameters:
    ///   - isFollowing: Whether to wait for later effects at the end.
    ///   - stop: Ends it gracefully.
    /// - Returns: Why it ended.
    /// - Throws: `EventLogError`: `consumerInUse` if another process delivers for the webhook;
    ///   `WebhookFault` if the webhook as it is stored cannot be used.
    func run(isFollowing: Bool, stop: StopFlag) async throws -> End {
        let signer = try MessageSigner(webhook, clock)
        let address = try ReceiverAddress(webhook.url, allowsPrivate: webhook.allowsPrivate)
        let consumer = webhook.consumer
        let session = try await ledger.log.followerSession(of: consumer)
        let sender = MessageSender(address, connectionsMax: limits.concurrency)
        let queue = DeliveryQueue(limits: limits, clock: clock)
        let end: Result<End, any Error>
        do {
            let place = try await ledger.log.place(of: consumer, startingAt: CommitCursor.beginning)
            await queue.restore(
                try await ledger.log.deliveries(of: webhook.name, isGivenUp: false)
            )
            let reading = try await EffectReading(ledger, after: place.cursor)
            end = .success(
                try await run(queue, isFollowing, stop, consumer) {
                    try await read(reading, into: queue, session, isFollowing)
                } sending: {
                    await send(from: queue, by: sender, signer)
                }
            )
        } catch {
            end = .failure(error)
        }
        await tell(queue)
        // What was delivered until now is stored also if this task was cancelled.
        let settled = await Task { await settledAtEnd(queue, consumer) }.value
        await sender.close()
        await session.close()
        if case .success(.stopped) = end, !settled { return .changed }
        return try end.get()
    }

    private func run(
        _ queue: DeliveryQueue,
        _ isFollowing: Bool,
        _ stop: StopFlag,
        _ consumer: Consumer,
        reading: @escaping @Sendable () async throws -> Void,
        sending: @escaping @Sendable () async -> Void
    ) async throws -> End {
        try await withThrowingTaskGroup(of: End?.self) { group in
            group.addTask {
                try await reading()
                return nil
            }
            group.addTask {
                await sending()
                return .stopped
            }
            group.addTask { try await keep(queue, consumer) }
            group.addTask {
                while !Task.isCancelled, !stop.isSet {
                    await queue.tick()
                    try await Task.sleep(for: WebhookDelivery.tickInterval)
                }
                await queue.stop()
                return nil
            }
            defer { group.cancelAll() }
            do {
                while let end = try await group.next() {
                    if let end { return try await finish(end, queue) }
                    // The end of the log was reached, and nothing is left to send.
                    if !isFollowing, await queue.isIdle { await queue.stop() }
                }
            } catch {
                await queue.stop()
                throw error
            }
            return .stopped
        }
    }

    private func finish(_ end: End, _ queue: DeliveryQueue) async throws -> End {
        await queue.stop()
        return end
    }

    // Reads as long as there is room.
    private func read(
        _ reading: EffectReading,
        into queue: DeliveryQueue,
        _ session: FollowerSession,
        _ isFollowing: Bool
    ) async throws {
        var reading = reading
        let maker = MessageMaker(webhook)
        while await queue.waitForRoom() {
            let effects = try await reading.next()
            let read = try (effects ?? []).compactMap { effect in
                try maker.body(of: effect).map { body in
                    DeliveryQueue.Read(
                        delivery: PendingMessage(
                            messageId: effect.id,
                            effect: PendingMessage.Effect(effect),
                            firstSentAt: clock()
                        ),
                        body: body,
                        cursor: effect.cursor
                    )
                }
            }
            await queue.take(read, upTo: effects?.last?.cursor ?? reading.cursor)
            guard effects == nil else { continue }
            guard isFollowing else {
                while !(await queue.isIdle) {
                    try await Task.sleep(for: WebhookDelivery.tickInterval)
                }
                return
            }
            try await session.waitForCommit(atMost: SubscriptionEffects.Iterator.waitMax)
        }
    }

    private func send(
        from queue: DeliveryQueue,
        by sender: MessageSender,
        _ signer: MessageSigner
    ) async {
        let maker = MessageMaker(webhook)
        await withDiscardingTaskGroup { group in
            while let message = await queue.next() {
                group.addTask {
                    do {
                        let body: [UInt8]?
                        if let made = message.body {
                            body = made
                        } else {
                            body = try await maker.body(of: message, in: ledger)
                        }
                        guard let body else { return await queue.end(message.number, .nothing) }
                        let headers = try signer.headers(of: body, id: message.messageId)
                        let outcome = try await sender.post(body, headers: headers)
                        await queue.end(message.number, .sent(outcome))
                    } catch {
                        // The database is unavailable, or the task was cancelled.
                        await queue.putBack(message.number)
                        do { try await Task.sleep(for: .seconds(1)) } catch { return }
                    }
                }
            }
        }
    }

    // Stores what was delivered, and looks whether the webhook is still as it was.
    private func keep(_ queue: DeliveryQueue, _ consumer: Consumer) async throws -> End? {
        while !Task.isCancelled {
            do { try await Task.sleep(for: WebhookDelivery.settleInterval) } catch { return nil }
            await tell(queue)
            do {
                try await settle(queue, consumer)
                guard let alerts = try await ledger.log.waitingAlerts(of: webhook, as: consumer)
                else { return .changed }
                await queue.take(alerts: alerts)
            } catch let error as EventLogError where error.code == .consumerInUse {
                return .changed
            }
            if let reason = await queue.pauseReason { return .paused(reason) }
        }
        return nil
    }

    private func tell(_ queue: DeliveryQueue) async {
        let (delivered, failed) = await queue.takeCounts()
        onProgress(delivered, failed)
    }

    private func settle(_ queue: DeliveryQueue, _ consumer: Consumer) async throws {
        let settlement = await queue.settlement()
        guard !settlement.isEmpty else { return }
        try await ledger.log.settle(
            webhook.name,
            as: consumer,
            at: settlement.cursor,
            keeping: settlement.kept,
            done: settlement.done
        )
    }

    private func settledAtEnd(_ queue: DeliveryQueue, _ consumer: Consumer) async -> Bool {
        do {
            try await settle(queue, consumer)
            return true
        } catch {
            // What was delivered since the last time comes again.
            return false
        }
    }
}

extension PendingMessage.Effect {
    init(_ effect: SubscriptionEffect) {
        self.init(
            stream: effect.stream,
            lane: effect.position.lane.number,
            commit: effect.commit,
            ordinal: effect.ordinal
        )
    }
}

/// The headers of Standard Webhooks.
struct MessageSigner: Sendable {
    private let secrets: [WebhookSecret]
    private let olderSignUntil: Instant?
    private let clock: @Sendable () -> Instant

    /// - Throws: `WebhookFault` if a stored secret cannot be read.
    init(_ webhook: Webhook, _ clock: @escaping @Sendable () -> Instant) throws {
        secrets = try webhook.secrets.map { text in try WebhookSecret(text) }
        (olderSignUntil, self.clock) = (webhook.olderSignUntil, clock)
    }

    /// The headers of a message that is sent now.
    func headers(of body: [UInt8], id: String) throws -> [(String, String)] {
        let now = clock()
        let seconds = now.milliseconds / 1000
        let signing = olderSignUntil.map { now < $0 } ?? false ? secrets[...] : secrets.prefix(1)
        let signatures = try signing.map { try $0.signature(of: body, id: id, at: seconds) }
        return [
            ("Content-Type", "application/json"),
            ("User-Agent", "subledger/\(Ledger.version)"),
            ("webhook-id", id),
            ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}
