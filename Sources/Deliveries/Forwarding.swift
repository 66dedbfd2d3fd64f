package import EventLog
package import Events
internal import Foundation
package import Subledger

/// Forwards what Apple sent, byte for byte, to other receivers of notifications.
///
/// A notification is stored before Apple gets its answer, and removed once its receiver accepted it:
/// none is lost, and one may come twice, as Apple's own may.
package struct Forwarding: Sendable {
    private let ledger: Ledger
    private let targets: [Target]
    private let clock: @Sendable () -> Instant
    private let onFault: @Sendable (Target, String) -> Void

    /// A receiver, and what it gets.
    package struct Target: Hashable, Sendable {
        /// Its address.
        package let address: ReceiverAddress
        /// Apple's word for the environment; nil for all.
        package let environment: StoreEnvironment?
        /// The app; nil for all.
        package let bundleId: String?

        /// Reads a target: a URL, with `Sandbox=`, `com.example.app=` or both before it.
        ///
        /// Addresses of private networks are allowed: the operator of the service names them.
        ///
        /// - Throws: `WebhookFault` that says what is expected.
        package init(_ text: String) throws(WebhookFault) {
            guard let start = text.range(of: "http", options: .caseInsensitive) else {
                throw WebhookFault(
                    "'\(text)' is not a receiver; expected a URL, or Sandbox=URL, com.example.app=URL, "
                        + "com.example.app,Sandbox=URL"
                )
            }
            var (environment, bundleId): (StoreEnvironment?, String?)
            let filter = text[..<start.lowerBound]
            if !filter.isEmpty {
                guard filter.hasSuffix("=") else {
                    throw WebhookFault("'\(text)': a = is missing before the URL")
                }
                for word in filter.dropLast().split(
                    separator: ",",
                    omittingEmptySubsequences: false
                ) {
                    let named = StoreEnvironment.named.first {
                        $0 == StoreEnvironment.inAnyCase(String(word))
                    }
                    guard !word.isEmpty, named == nil ? bundleId == nil : environment == nil else {
                        throw WebhookFault(
                            "'\(text)': before the = at most one environment and one bundle id are "
                                + "expected, separated by a comma"
                        )
                    }
                    if let named { environment = named } else { bundleId = String(word) }
                }
            }
            (self.environment, self.bundleId) = (environment, bundleId)
            address = try ReceiverAddress(String(text[start.lowerBound...]), allowsPrivate: true)
        }

        fileprivate func receives(_ fact: Fact?) -> Bool {
            guard let fact else { return environment == nil && bundleId == nil }
            return (environment.map { $0 == fact.stream.environment } ?? true)
                && (bundleId.map { $0 == fact.bundleId } ?? true)
        }
    }

    /// The most notifications that are sent to a receiver at the same time.
    private static let concurrency = 16

    /// A forwarding.
    ///
    /// - Parameters:
    ///   - ledger: The ledger.
    ///   - targets: The receivers.
    ///   - clock: Our clock.
    ///   - onFault: Receives why a receiver did not accept something.
    package init(
        _ ledger: Ledger,
        to targets: [Target],
        clock: @escaping @Sendable () -> Instant = { .systemClock() },
        onFault: @escaping @Sendable (Target, String) -> Void
    ) {
        (self.ledger, self.targets) = (ledger, targets)
        (self.clock, self.onFault) = (clock, onFault)
    }

    /// Stores what is to be forwarded; returns when it is durable.
    ///
    /// - Parameters:
    ///   - body: What Apple sent.
    ///   - ingestion: What the ledger took from it.
    /// - Throws: `EventLogError`.
    package func take(_ body: [UInt8], _ ingestion: Ledger.Ingestion) async throws(EventLogError) {
        let fact = ingestion.facts.first
        let urls = Set(targets.filter { $0.receives(fact) }.map(\.address.url)).sorted()
        guard !urls.isEmpty else { return }
        try await ledger.log.relay(body, to: urls, about: fact?.stream)
    }

    /// The same as a function of its own.
    package var taking: @Sendable ([UInt8], Ledger.Ingestion) async throws -> Void {
        { try await take($0, $1) }
    }

    /// Forwards until it is asked to stop.
    package func run(until stop: StopFlag) async {
        await withDiscardingTaskGroup { group in
            for target in targets {
                group.addTask {
                    let sender = MessageSender(
                        target.address,
                        connectionsMax: Forwarding.concurrency
                    )
                    await forward(to: target, by: sender, until: stop)
                    await sender.close()
                }
            }
        }
    }

    private func forward(to target: Target, by sender: MessageSender, until stop: StopFlag) async {
        var isDown = false
        while !stop.isSet, !Task.isCancelled {
            do {
                let due = try await ledger.log.takeRelays(
                    to: target.address.url,
                    limit: Forwarding.concurrency
                )
                if !due.isEmpty {
                    let sent = try await send(due, to: target, by: sender)
                    if !sent.isEmpty {
                        try await ledger.log.forwarded(sent, to: target.address.url, isBack: isDown)
                    }
                    isDown = sent.count < due.count && (isDown || sent.isEmpty)
                    continue
                }
            } catch {
                onFault(target, "\(error)")
            }
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
        }
    }

    // Returns the ids of what was accepted.
    private func send(
        _ relays: [Relay],
        to target: Target,
        by sender: MessageSender
    ) async throws -> [String] {
        try await withThrowingTaskGroup(of: String?.self) { group in
            for relay in relays {
                group.addTask {
                    let outcome = try await sender.post(
                        relay.body,
                        headers: [
                            ("Content-Type", "application/json"),
                            ("User-Agent", "subledger/\(Ledger.version)"),
                        ]
                    )
                    let (why, asked): (String, Instant?) =
                        switch outcome {
                        case .accepted: ("", nil)
                        case .refused(let why, let asked): (why, asked)
                        case .gone: ("it answered 410", nil)
                        }
                    guard outcome != .accepted else { return relay.id }
                    let next = RetrySchedule.next(
                        after: relay.attempts + 1,
                        at: clock(),
                        asked: asked
                    )
                    onFault(
                        target,
                        why + (next == nil ? "; it was given up, and stays in operation.relay" : "")
                    )
                    try await ledger.log.failed(relay, why, next: next)
                    return nil
                }
            }
            var sent: [String] = []
            for try await id in group { if let id { sent.append(id) } }
            return sent
        }
    }
}
