internal import EventLog
internal import Foundation
package import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
package import Logging
internal import NIOCore
internal import NIOPosix
internal import Projector
package import ServiceLifecycle
internal import Subledger
internal import Synchronization
internal import UnixSignals

/// The server in which the command runs the routes, until it is asked to stop.
///
/// It then stops in this order: `/readyz` answers 503 for some seconds while everything else is
/// answered as before, so a load balancer notices; no new connection is accepted, and requests in
/// progress are finished; followers finish their step.
package struct LedgerServer: Service {
    private let routes: LedgerRoutes
    private let options: Options
    private let logger: Logger
    private let onListening: @Sendable (String) -> Void

    /// The address it listens at, and its other work.
    package struct Options: Sendable {
        /// The address to listen at.
        package var host = "127.0.0.1"
        /// The port; 0 for any free one.
        package var port = 8080
        /// A socket that listens already, such as one of systemd's; nil to listen at the address.
        package var socket: Int32?
        /// Seconds between `/readyz` turning 503 and the end of listening.
        package var drainSeconds = 0.0
        /// The certificate of HTTPS; nil for HTTP.
        package var tls: TLSFiles?
        /// Whether the tables of projections are kept up to date.
        package var follows = false
        /// The console; nil for none.
        package var console: ConsoleRoutes?
        /// Other services that run until the program is asked to stop, such as asking Apple.
        package var others: [any Service] = []
        /// Called once the program is asked to stop, before anything else happens.
        package var onStopping: @Sendable () -> Void = {}

        /// The defaults.
        package init() {}
    }

    /// Seconds for which requests in progress may continue after the server stops listening.
    private static let finishSecondsMax = 30.0
    /// The most bytes in all header fields of a request; a token has about a hundred.
    private static let headerByteCountMax = 16 << 10
    /// The most header fields of a request.
    private static let headerCountMax = 64

    /// A server for these routes.
    ///
    /// - Parameters:
    ///   - routes: The routes.
    ///   - options: The options.
    ///   - logger: Logs requests.
    ///   - onListening: Receives the URL once connections are accepted.
    package init(
        _ routes: LedgerRoutes,
        options: Options = Options(),
        logger: Logger,
        onListening: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.routes = routes
        self.options = options
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves until the task is cancelled or the program is asked to stop.
    ///
    /// - Throws: `ListeningError` if it cannot listen at the address.
    package func run() async throws {
        let listener = try listener()

        // Stopped from the last to the first, each after the previous one has ended.
        var services: [any Service] =
            options.others + [listener, Draining(routes: routes, options: options)]
        if options.follows {
            routes.state.isFollowing.store(true, ordering: .relaxed)
            services.insert(Following(routes: routes, logger: logger), at: 0)
        }
        if routes.limits.auditDays > 0 { services.insert(AuditRetention(routes), at: 0) }
        var configuration = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = .seconds(
            options.drainSeconds + LedgerServer.finishSecondsMax
        )

        try await ListeningError.translated(options.host, options.port) {
            try await ServiceGroup(configuration: configuration).run()
        }
    }

    private func listener() throws -> any Service {
        let responder = LedgerServer.router(of: routes, options.console).buildResponder()
        let connection = try LedgerServer.connection(for: routes, tls: options.tls) {
            [routes, logger] request, writer, channel in
            var logger = logger
            logger[metadataKey: "hb.request.id"] = .stringConvertible(RequestID())
            let source = ApplicationRequestContextSource(channel: channel, logger: logger)
            var response = try await responder.respond(
                to: request,
                context: LedgerRequestContext(source: source)
            )
            response.headers[.date] = HTTPDate.now
            response.headers[.server] = "subledger"
            if routes.isDraining { response.headers[.connection] = "close" }
            try await writer.write(response: response.head, body: response.body)
        }
        return listener(at: connection)
    }

    private func listener(at connection: some ServerChildChannel) -> any Service {
        Listener(
            connection,
            options: options,
            connectionsMax: routes.limits.connectionsMax,
            logger: logger
        ) { [onListening, options] channel in
            guard let address = channel.localAddress else { return }
            onListening((options.tls == nil ? "http" : "https") + address.place)
        }
    }

    /// Listens at an address for a moment, so that a program that cannot serve there says so before
    /// it does anything else.
    ///
    /// - Throws: `ListeningError` if it cannot listen at the address.
    package static func checkAddress(host: String, port: Int) async throws {
        try await ListeningError.translated(host, port) {
            let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port)
                .get()
            try await channel.close()
        }
    }

    /// A router with only these routes: every other request gets a problem document too.
    ///
    /// - Parameters:
    ///   - routes: The routes.
    ///   - console: The console of the same ledger; nil for none.
    /// - Returns: The router for a Hummingbird application.
    package static func router(
        of routes: LedgerRoutes,
        _ console: ConsoleRoutes? = nil
    ) -> Router<LedgerRequestContext> {
        let router = Router(context: LedgerRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: UnansweredRequests(routes: routes))
        routes.add(to: router)
        console?.add(to: router)
        return router
    }

    /// HTTP/1.1 with the limits of the routes.
    ///
    /// - Parameter routes: The routes: their limits, and the metrics that count what is not valid
    ///   HTTP.
    /// - Returns: The HTTP server for a Hummingbird application.
    package static func http(for routes: LedgerRoutes) -> HTTPServerBuilder {
        HTTPServerBuilder { try connection(for: routes, tls: nil, answeredBy: $0) }
    }

    // How a connection is served.
    private static func connection(
        for routes: LedgerRoutes,
        tls: TLSFiles?,
        answeredBy responder: @escaping HTTPChannelHandler.Responder
    ) throws -> any ServerChildChannel {
        let (limits, metrics) = (routes.limits, routes.metrics)
        let plain = HTTP1Channel(
            responder: responder,
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    ClientConnection(headSecondsMax: limits.headSecondsMax) { metrics.count($0) }
                ],
                idleTimeout: .nanoseconds(Int64(limits.idleSecondsMax * 1e9)),
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: headerByteCountMax,
                    maxHeaderListSize: headerByteCountMax,
                    maxHeaderFieldCount: headerCountMax
                )
            )
        )
        guard let tls else { return plain }
        return try TLSChannel(plain, tlsConfiguration: tls.configuration)
    }
}

extension SocketAddress {
    /// The part of a URL after the scheme.
    fileprivate var place: String {
        switch self {
        case .v6: "://[\(ipAddress ?? "")]:\(port ?? 0)"
        default: "://\(ipAddress ?? ""):\(port ?? 0)"
        }
    }
}

/// Switches `/readyz` to 503 when the program is asked to stop, and waits until load balancers have
/// noticed.
private struct Draining: Service {
    let routes: LedgerRoutes
    let options: LedgerServer.Options

    func run() async throws {
        try await gracefulShutdown()
        options.onStopping()
        routes.drain()
        try await Task.sleep(for: .seconds(options.drainSeconds))
    }
}

/// The address at which a service cannot listen.
package struct ListeningError: Error, CustomStringConvertible {
    let host: String
    let port: Int
    let number: Int32

    /// The errors of a service at an address, with those about the address in these words.
    fileprivate static func translated(
        _ host: String,
        _ port: Int,
        _ listen: () async throws -> Void
    ) async throws {
        do {
            try await listen()
        } catch let error as IOError
            where [EADDRINUSE, EADDRNOTAVAIL, EACCES].contains(error.errnoCode)
        {
            throw ListeningError(host: host, port: port, number: error.errnoCode)
        } catch is SocketAddressError.UnknownHost {
            throw ListeningError(host: host, port: port, number: EADDRNOTAVAIL)
        }
    }

    /// What is wrong, and what to do.
    package var description: String {
        let place = "\(host), port \(port)"
        return switch number {
        case EADDRINUSE: "another program listens at \(place); stop it, or name another --port"
        case EACCES:
            "not allowed to listen at \(place): ports below 1024 need privileges; name a --port"
        default: "\(place) is not an address of this machine; name one with --host"
        }
    }
}

/// Applies every commit to the tables until the program is asked to stop.
private struct Following: Service {
    let routes: LedgerRoutes
    let logger: Logger

    /// The pause before following again after a failure.
    private static let retryInterval = Duration.seconds(5)

    /// How long a failure that repeats itself is not logged again.
    private static let lineInterval = Duration.seconds(60)

    func run() async throws {
        let holder =
            "\(ProcessInfo.processInfo.hostName) \(ProcessInfo.processInfo.processIdentifier) "
            + UUID().uuidString
        var options = Projector.FollowOptions(holder: holder)
        let isStopped = StopFlag()
        options.isStopped = { isStopped.isSet }
        options.notice = { [logger] in logger.warning("\($0)") }
        options.takesLoss = { [outages = routes.outages] in outages.takes($0) }
        options.progress = { [state = routes.state] _ in state.followFault.withLock { $0 = nil } }
        let follow = options

        await withGracefulShutdownHandler {
            // The service continues without tables, because no answer is read from them.
            var last: (text: String, at: ContinuousClock.Instant)?
            while !isStopped.isSet, !Task.isCancelled {
                do throws(ProjectorError) {
                    try await self.follow(follow)
                    routes.state.followFault.withLock { $0 = nil }
                } catch {
                    let text = "\(error)"
                    routes.state.followFault.withLock { $0 = text }
                    let isRepeated =
                        last.map {
                            $0.text == text && ContinuousClock.now - $0.at < Following.lineInterval
                        } ?? false
                    if !routes.outages.takes(error), !isRepeated {
                        logger.error("updating the tables failed", metadata: ["error": "\(text)"])
                        last = (text, .now)
                    }
                    await pause()
                }
            }
        } onGracefulShutdown: {
            isStopped.set()
        }
    }

    private func pause() async {
        do {
            try await cancelWhenGracefulShutdown {
                try await Task.sleep(for: Following.retryInterval)
            }
        } catch {
            logger.debug("stop requested while waiting to update the tables again")
        }
    }

    private func follow(_ options: Projector.FollowOptions) async throws(ProjectorError) {
        do {
            _ = try await routes.ledger.projector.follow(options)
        } catch  where error.code == .nothingLive {
            logger.notice("there are no tables yet; building them now")
            _ = try await routes.ledger.projector.rebuild()
        }
    }
}
