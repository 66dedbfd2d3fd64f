import CommandSupport
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A request in its wire format.
struct LoadRequest: Sendable {
    let head: HTTPRequestHead
    let body: ByteBuffer?

    static func post(_ path: String, body: [UInt8]) -> LoadRequest {
        let headers: HTTPHeaders = [
            "Host": "bench", "Content-Type": "application/json", "Content-Length": "\(body.count)",
        ]
        return LoadRequest(
            head: HTTPRequestHead(version: .http1_1, method: .POST, uri: path, headers: headers),
            body: ByteBuffer(bytes: body)
        )
    }

    static func get(_ path: String, token: String) -> LoadRequest {
        let headers: HTTPHeaders = ["Host": "bench", "Authorization": "Bearer \(token)"]
        return LoadRequest(
            head: HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers),
            body: nil
        )
    }
}

/// How a service answered a load.
struct LoadResult: Encodable, Sendable {
    let requests: Int
    let perSecond: Double
    let p50Milliseconds: Double
    let p99Milliseconds: Double
    /// Answers other than 200, and requests without one.
    let errors: Int
}

/// Requests over several connections, each of which sends its next one after the previous answer.
final class HTTPLoad: Sendable {
    private let requests: [LoadRequest]
    /// The interval between two requests over all connections; nil for none.
    private let interval: TimeAmount?
    private let start = NIODeadline.now()
    private let state = Mutex(State())

    private struct State {
        var next = 0
        var milliseconds: [Double] = []
        var failures = 0
        var end = NIODeadline.now()
    }

    /// Sends all requests to a port of this machine.
    ///
    /// - Parameters:
    ///   - requests: The requests, in this order.
    ///   - port: The port of the service.
    ///   - connections: The number of connections.
    ///   - rate: Requests a second; nil for as many as are answered.
    /// - Returns: The results; times count from when a request was due.
    /// - Throws: The error if a connection cannot be made.
    static func run(
        _ requests: [LoadRequest],
        to port: Int,
        connections: Int,
        rate: Double? = nil
    ) async throws -> LoadResult {
        let load = HTTPLoad(requests, rate: rate)
        // One thread, because its processor time is taken from the service.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(LoadConnection(load))
            }
        }
        var channels: [any Channel] = []
        for _ in 0..<connections {
            channels.append(try await bootstrap.connect(host: "127.0.0.1", port: port).get())
        }
        for channel in channels { try await channel.closeFuture.get() }
        try await group.shutdownGracefully()
        return load.result
    }

    private init(_ requests: [LoadRequest], rate: Double?) {
        self.requests = requests
        interval = rate.map { .nanoseconds(Int64(1e9 / max($0, 1))) }
    }

    /// The next request and when it is due; nil if all were sent.
    fileprivate func next() -> (LoadRequest, due: NIODeadline)? {
        let index = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        guard index < requests.count else { return nil }
        let due = interval.map { start + .nanoseconds($0.nanoseconds * Int64(index)) }
        return (requests[index], due ?? .now())
    }

    fileprivate func record(since due: NIODeadline, isOK: Bool) {
        let now = NIODeadline.now()
        state.withLock { state in
            state.milliseconds.append(Double((now - due).nanoseconds) / 1e6)
            if !isOK { state.failures += 1 }
            state.end = now
        }
    }

    private var result: LoadResult {
        state.withLock { state in
            let answered = state.milliseconds.count
            return LoadResult(
                requests: requests.count,
                perSecond: Double(answered) * 1e9
                    / Double(max(1, (state.end - start).nanoseconds)),
                p50Milliseconds: percentile(state.milliseconds, 0.5),
                p99Milliseconds: percentile(state.milliseconds, 0.99),
                errors: state.failures + requests.count - answered
            )
        }
    }
}

/// One connection: sends a request, waits for the answer, and repeats.
private final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let load: HTTPLoad
    private var due = NIODeadline.now()
    private var isOK = false

    init(_ load: HTTPLoad) {
        self.load = load
    }

    func channelActive(context: ChannelHandlerContext) { sendNext(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): isOK = head.status == .ok
        case .body: break
        case .end:
            load.record(since: due, isOK: isOK)
            sendNext(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func sendNext(_ context: ChannelHandlerContext) {
        guard let (request, due) = load.next() else {
            context.close(promise: nil)
            return
        }
        self.due = due
        guard due > .now() else {
            send(request, context)
            return
        }
        context.eventLoop.assumeIsolated().scheduleTask(deadline: due) {
            self.send(request, context)
        }
    }

    private func send(_ request: LoadRequest, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request.head)), promise: nil)
        if let body = request.body {
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
