package import AsyncHTTPClient
internal import Foundation
package import Events
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Sends one HTTP request and reads its whole answer, within the limits.
package final class Transport: Sendable {
    /// An answer.
    package struct Reply: Sendable {
        /// The status.
        package let status: Int
        /// Apple's `Retry-After`: milliseconds since 1970, not seconds from now.
        package let retryAfter: Instant?
        /// The body, or what was read of it.
        package let body: [UInt8]
    }

    /// Why there is no answer.
    package enum Fault: Error {
        /// It took longer than the limit.
        case timedOut
        /// It is longer than the limit.
        case tooLarge
        /// The connection failed, for this reason.
        case unavailable(String)
    }

    private let client: HTTPClient
    private let limits: ServerLimits
    private let clock: @Sendable () -> Instant
    // Whether a body that is too long is cut, and not a fault.
    private let cuts: Bool

    /// A transport.
    ///
    /// - Parameters:
    ///   - limits: Its limits.
    ///   - insists: Whether a connection that is refused is tried again until the limit.
    ///   - cuts: Whether a body that is too long is cut; otherwise it is a fault.
    ///   - connectionsMax: The most connections to one host; nil for the client's own limit.
    ///   - addresses: For a host, the address to connect to, whatever its name means meanwhile.
    ///   - clock: Our clock.
    package init(
        limits: ServerLimits,
        insists: Bool = true,
        cuts: Bool = false,
        connectionsMax: Int? = nil,
        addresses: [String: String] = [:],
        clock: @escaping @Sendable () -> Instant
    ) {
        self.limits = limits
        self.clock = clock
        self.cuts = cuts
        var configuration = HTTPClient.Configuration(
            // A token is sent only to the intended address.
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(
                connect: Transport.time(limits.connectSecondsMax),
                read: Transport.time(limits.silenceSecondsMax)
            )
        )
        configuration.connectionPool.retryConnectionEstablishment = insists
        if let connectionsMax {
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsMax
        }
        configuration.dnsOverride = addresses
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections.
    package func close() async throws { try await client.shutdown() }

    /// Sends a request and returns its answer.
    ///
    /// - Throws: `Fault`; `CancellationError` if the task was cancelled.
    package func send(_ request: HTTPClientRequest) async throws -> Reply {
        do {
            return try await withThrowingTaskGroup(of: Reply?.self) { group in
                group.addTask { try await self.exchange(request) }
                group.addTask { [limits] in
                    try await Task.sleep(for: .seconds(limits.answerSecondsMax))
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let reply = first else {
                    throw Fault.timedOut
                }
                return reply
            }
        } catch let fault as Fault {
            throw fault
        } catch let error as HTTPClientError {
            throw Transport.fault(error)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Fault.unavailable(Transport.words(error))
        }
    }

    // The system's own words, without the layers through which a failure came.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { words($0.error) }
                ?? "no address of \(error.host) is known"
        default: "\(error)"
        }
    }

    private func exchange(_ request: HTTPClientRequest) async throws -> Reply {
        let response = try await client.execute(
            request,
            timeout: Transport.time(limits.answerSecondsMax)
        )
        var body: [UInt8] = []
        for try await piece in response.body {
            guard body.count + piece.readableBytes <= limits.answerByteCountMax else {
                if cuts { break }
                throw Fault.tooLarge
            }
            body.append(contentsOf: piece.readableBytesView)
        }
        return Reply(
            status: Int(response.status.code),
            retryAfter: Transport.retryAfter(
                response.headers.first(name: "Retry-After"),
                now: clock()
            ),
            body: body
        )
    }

    private static func fault(_ error: HTTPClientError) -> Fault {
        let timeouts: [HTTPClientError] = [
            .readTimeout, .connectTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
        ]
        return timeouts.contains(error) ? .timedOut : .unavailable(error.shortDescription)
    }

    // Seconds are accepted too: a proxy in front of Apple would send them, and no real instant is
    // so small.
    static func retryAfter(_ text: String?, now: Instant) -> Instant? {
        guard let text, let number = Int64(text), number >= 0 else { return nil }
        if number > retryAfterSecondsMax { return Instant(milliseconds: number) }
        return Instant(milliseconds: now.milliseconds + number * 1000)
    }

    private static let retryAfterSecondsMax: Int64 = 86_400 * 365

    private static func time(_ seconds: Double) -> TimeAmount { .nanoseconds(Int64(seconds * 1e9)) }
}
