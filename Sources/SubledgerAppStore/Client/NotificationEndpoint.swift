internal import AppStore
internal import AsyncHTTPClient
internal import Events
internal import FoundationEssentials
internal import NIOHTTP1

/// The address at which a service receives Apple's notifications, tested from this machine.
public struct NotificationEndpoint: Sendable {
    /// The URL that notifications are sent to.
    public let url: String
    private let livezURL: String
    private let limits: ServerLimits

    /// The path at which `subledger serve` accepts notifications.
    public static let path = "/v1/appstore/notifications"
    /// Seconds until an attempt counts as failed.
    public static let secondsMax = 10.0
    /// Most bytes of an answer that are read.
    private static let answerByteCountMax = 64 << 10

    /// An endpoint.
    ///
    /// - Parameter url: `https://HOST`, with or without the path of notifications.
    /// - Throws: `ServerError` with the code `address`.
    public init(url: String) throws(ServerError) {
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        guard let address = URL(string: base), let host = address.host, !host.isEmpty,
            let scheme = address.scheme, scheme == "https" || scheme == "http",
            address.query == nil, address.fragment == nil, address.user == nil
        else {
            throw ServerError(
                .address,
                "'\(url.prefix(128))' is not the address of a service; expected https://HOST"
            )
        }
        self.url = address.path.isEmpty ? base + NotificationEndpoint.path : base
        livezURL = "\(scheme)://\(host)\(address.port.map { ":\($0)" } ?? "")/livez"
        var limits = ServerLimits()
        limits.connectSecondsMax = NotificationEndpoint.secondsMax
        limits.silenceSecondsMax = NotificationEndpoint.secondsMax
        limits.answerSecondsMax = NotificationEndpoint.secondsMax
        limits.answerByteCountMax = NotificationEndpoint.answerByteCountMax
        self.limits = limits
    }

    /// What answers at the address.
    public enum Finding: Hashable, Sendable {
        /// `subledger serve`, which refused an empty notification as it must; and whether its
        /// `/livez` can be reached as well.
        case service(isLivezReachable: Bool)
        /// Something else: its HTTP status.
        case other(status: Int)
        /// Nothing, with the reason.
        case unreachable(String)
    }

    /// Sends a body that is not a notification, which the service must refuse and not keep.
    ///
    /// - Returns: What answers at the address.
    /// - Throws: `CancellationError`.
    public func check() async throws -> Finding {
        let transport = Transport(limits: limits, insists: false, clock: { .epoch })
        do {
            let finding = try await check(by: transport)
            try await transport.close()
            return finding
        } catch {
            try await transport.close()
            throw error
        }
    }

    private func check(by transport: Transport) async throws -> Finding {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(Array("{}".utf8))
        do {
            let reply = try await transport.send(request)
            guard reply.status == 400,
                JSON.root(of: reply.body)?["code"]?.text == "not-a-notification"
            else { return .other(status: reply.status) }
        } catch let fault as Transport.Fault {
            return .unreachable(fault.words)
        }
        do {
            let reply = try await transport.send(HTTPClientRequest(url: livezURL))
            return .service(isLivezReachable: reply.status == 200)
        } catch is Transport.Fault {
            return .service(isLivezReachable: false)
        }
    }
}

extension Transport.Fault {
    fileprivate var words: String {
        switch self {
        case .timedOut: "no answer in \(Int(NotificationEndpoint.secondsMax)) s"
        case .tooLarge: "the answer is longer than any of the service"
        case .unavailable(let what): what
        }
    }
}
