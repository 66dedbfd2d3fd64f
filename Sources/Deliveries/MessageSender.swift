internal import AsyncHTTPClient
internal import Events
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import SubledgerAppStore
internal import Synchronization

/// Posts messages to one receiver: no redirect is followed, an answer has ten seconds and 64 KiB.
final class MessageSender: Sendable {
    /// What an attempt came to.
    enum Outcome: Hashable, Sendable {
        /// The receiver answered with a status of success.
        case accepted
        /// It did not; with what happened, and when it wants to be asked again.
        case refused(String, retryAt: Instant?)
        /// It answered that it wants no more messages: 410.
        case gone
    }

    private let address: ReceiverAddress
    private let connectionsMax: Int
    private let state = Mutex(State())

    private struct State {
        var transport: Transport?
        var connectedTo: String?
        var resolvedAt: ContinuousClock.Instant?
        // How often connecting failed: the next address of the host is tried.
        var faults = 0
    }

    /// How long an address that was looked up is used.
    private static let addressAge = Duration.seconds(300)

    /// The limits of one attempt.
    static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.connectSecondsMax = 10
        limits.silenceSecondsMax = 10
        limits.answerSecondsMax = 10
        limits.answerByteCountMax = 64 << 10
        return limits
    }

    init(_ address: ReceiverAddress, connectionsMax: Int) {
        (self.address, self.connectionsMax) = (address, connectionsMax)
    }

    /// Posts one message.
    ///
    /// - Returns: What it came to.
    /// - Throws: `CancellationError`.
    func post(_ body: [UInt8], headers: [(String, String)]) async throws -> Outcome {
        do {
            let transport = try await transport()
            var request = HTTPClientRequest(url: address.url)
            request.method = .POST
            request.headers.add(contentsOf: headers)
            request.body = .bytes(ByteBuffer(bytes: body))
            let reply = try await transport.send(request)
            switch reply.status {
            case 200..<300: return .accepted
            case 410: return .gone
            case 300..<400:
                return .refused(
                    "it answered \(reply.status), a redirect, which is not followed; use the URL to which it leads",
                    retryAt: nil
                )
            case let status: return .refused("it answered \(status)", retryAt: reply.retryAfter)
            }
        } catch let fault as WebhookFault {
            return .refused(fault.description, retryAt: nil)
        } catch let fault as Transport.Fault {
            switch fault {
            case .timedOut: return .refused("no answer within 10 seconds", retryAt: nil)
            case .tooLarge: return .refused("its answer is too long", retryAt: nil)
            case .unavailable(let why):
                if Task.isCancelled { throw CancellationError() }
                state.withLock { state in
                    state.faults += 1
                    state.resolvedAt = nil
                }
                return .refused("no connection: \(why)", retryAt: nil)
            }
        }
    }

    /// Closes all connections.
    func close() async {
        let transport = state.withLock { state in
            defer { state.transport = nil }
            return state.transport
        }
        await MessageSender.close(transport)
    }

    private static func close(_ transport: Transport?) async {
        do {
            try await transport?.close()
        } catch {
            // It is not used any more, and its connections end with it.
        }
    }

    private func transport() async throws -> Transport {
        let current = state.withLock { state -> Transport? in
            guard let at = state.resolvedAt, at.duration(to: .now) < MessageSender.addressAge
            else { return nil }
            return state.transport
        }
        if let current { return current }

        let found = try await MessageSender.resolved(address)
        let (transport, old) = state.withLock { state -> (Transport, Transport?) in
            let chosen = found[state.faults % found.count]
            state.resolvedAt = .now
            if let transport = state.transport, state.connectedTo == chosen {
                return (transport, nil)
            }
            let old = state.transport
            let transport = Transport(
                limits: MessageSender.limits,
                insists: false,
                cuts: true,
                connectionsMax: connectionsMax,
                addresses: chosen == address.host ? [:] : [address.host: chosen],
                clock: { .systemClock() }
            )
            (state.transport, state.connectedTo) = (transport, chosen)
            return (transport, old)
        }
        await MessageSender.close(old)
        return transport
    }

    // The system's resolver blocks its thread.
    private static func resolved(_ address: ReceiverAddress) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try address.resolved() })
            }
        }
    }
}
