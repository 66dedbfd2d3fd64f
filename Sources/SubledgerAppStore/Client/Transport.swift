internal import AsyncHTTPClient
internal import Foundation
internal import Events
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Sends one HTTP request and reads its whole answer, within the limits.
final class Transport: Sendable {
    /// An answer.
    struct Reply: Sendable {
        let status: Int
        /// Apple's `Retry-After`: milliseconds since 1970, not seconds from now.
        let retryAfter: Instant?
        let body: [UInt8]
    }

    /// Why there is no answer.
    enum Fault: Error {
        case timedOut
        case tooLarge
        case unavailable(String)
    }

    private let client: HTTPClient
    private let limits: ServerLimits
    private let clock: @Sendable () -> Instant

    /// A transport; unless it insists, a connection that is refused is an answer, and not tried
    /// again until the limit.
    init(
        limits: ServerLimits,
        insists: Bool = true,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.limits = limits
        self.clock = clock
        var configuration = HTTPClient.Configuration(
            // A token is sent only to the intended address.
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(
                connect: Transport.time(limits.connectSecondsMax),
                read: Transport.time(limits.silenceSecondsMax)
            )
        )
        configuration.connectionPool.retryConnectionEstablishment = insists
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections.
    func close() async throws { try await client.shutdown() }

    /// Sends a request and returns its answer.
    ///
    /// - Throws: `Fault`; `CancellationError` if the task was cancelled.
    func send(_ request: HTTPClientRequest) async throws -> Reply {
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
