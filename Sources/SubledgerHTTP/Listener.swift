internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// Accepts connections and serves each, until it is asked to stop.
///
/// Hummingbird's own server opens its socket itself, and closes connections whose first request has
/// not arrived when it stops. This one also accepts at a socket that stays open while one process
/// takes the place of another, and loses no request then: those that arrive in between wait in the
/// socket, and connections that were accepted have time to send theirs.
struct Listener<Connection: ServerChildChannel>: Service {
    let connection: Connection
    let options: LedgerServer.Options
    let connectionsMax: Int
    let logger: Logger
    let onListening: @Sendable (any Channel) -> Void

    private let open = OpenChannels()

    /// Connections that wait to be accepted; more are refused.
    private static var backlog: Int32 { 256 }

    /// How long a connection that was just accepted has to be set up.
    private static var setUpTime: TimeAmount { .milliseconds(100) }

    /// How long connections may still send a request once no new ones are accepted.
    ///
    /// They are told to close with each response.
    private static var lingering: Duration { .milliseconds(500) }

    init(
        _ connection: Connection,
        options: LedgerServer.Options,
        connectionsMax: Int,
        logger: Logger,
        onListening: @escaping @Sendable (any Channel) -> Void
    ) {
        self.connection = connection
        self.options = options
        self.connectionsMax = connectionsMax
        self.logger = logger
        self.onListening = onListening
    }

    func run() async throws {
        let server = try await listen()
        onListening(server.channel)

        await withDiscardingTaskGroup { group in
            do {
                try await withGracefulShutdownHandler {
                    try await server.executeThenClose { accepted in
                        for try await value in accepted {
                            group.addTask { await serve(value) }
                        }
                    }
                } onGracefulShutdown: {
                    stopAccepting(server.channel)
                }
                try await Task.sleep(for: Listener.lingering)
            } catch is CancellationError {
                logger.debug("connections are closed at once")
            } catch {
                logger.error("accepting connections failed", metadata: ["error": "\(error)"])
            }
            open.quiesce()
        }
    }

    private func listen() async throws -> NIOAsyncChannel<Connection.Value, Never> {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: Listener.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { [connectionsMax] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AvailableConnectionsChannelHandler(maxConnections: connectionsMax)
                    )
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
        let setUp = { @Sendable [connection, logger] (channel: any Channel) in
            connection.setup(channel: channel, logger: logger)
        }
        if let socket = options.socket {
            return try await bootstrap.bind(socket, childChannelInitializer: setUp)
        }
        return try await bootstrap.bind(
            host: options.host,
            port: options.port,
            childChannelInitializer: setUp
        )
    }

    // What was accepted is set up before the end, because its requests would be lost.
    private func stopAccepting(_ channel: any Channel) {
        let setUp = channel.eventLoop.makePromise(of: Void.self)
        channel.setOption(.autoRead, value: false).cascade(to: setUp)
        setUp.futureResult.whenComplete { _ in
            channel.eventLoop.scheduleTask(in: Listener.setUpTime) { channel.close(promise: nil) }
        }
    }

    private func serve(_ value: Connection.Value) async {
        open.insert(value.channel)
        await connection.handle(value: value, logger: logger)
        open.remove(value.channel)
    }
}

/// The channels of a listener.
private final class OpenChannels: Sendable {
    private let channels = Mutex<(open: [ObjectIdentifier: any Channel], isQuiescing: Bool)>(
        ([:], false)
    )

    func insert(_ channel: any Channel) {
        let isLate = channels.withLock {
            $0.open[ObjectIdentifier(channel)] = channel
            return $0.isQuiescing
        }
        if isLate { quiesce(channel) }
    }

    func remove(_ channel: any Channel) {
        channels.withLock { _ = $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Closes each channel once its requests are answered.
    func quiesce() {
        let open = channels.withLock {
            $0.isQuiescing = true
            return Array($0.open.values)
        }
        for channel in open { quiesce(channel) }
    }

    private func quiesce(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
}
