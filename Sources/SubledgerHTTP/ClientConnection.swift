internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// What Hummingbird omits at a client's connection: it reports when the client is gone, and ends a
/// connection whose header fields take too long.
///
/// It also supports HTTP/1.0 clients, whose connections end with the response, and clients that
/// send nothing until their `Expect: 100-continue` is answered.
final class ClientConnection: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = Never

    private struct State {
        var isEnded = false
        var onEnd: (@Sendable () -> Void)?
    }

    private let headSecondsMax: Double
    private let onFault: @Sendable (ClientFault) -> Void
    private let state = Mutex(State())

    /// A connection.
    ///
    /// - Parameters:
    ///   - headSecondsMax: Seconds within which the header fields of a request must be complete.
    ///   - onFault: Receives each request that is not valid HTTP.
    init(headSecondsMax: Double, onFault: @escaping @Sendable (ClientFault) -> Void) {
        self.headSecondsMax = headSecondsMax
        self.onFault = onFault
    }

    /// Returns once the client is gone, or when the calling task is cancelled.
    func end() async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let isEnded = state.withLock { state in
            state.onEnd = { end.finish() }
            return state.isEnded
        }
        if !isEnded { for await _ in ends {} }
        state.withLock { $0.onEnd = nil }
    }

    /// Inserts the working handlers where the bytes and the HTTP version are still known.
    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let heads = RequestHeads(within: headSecondsMax, onFault)
            try pipeline.addHandler(heads, position: .after(decoder))
            try pipeline.addHandler(RequestBytes(heads), position: .before(decoder))
        } catch {
            context.fireErrorCaught(error)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { noteEnd() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        noteEnd()
        context.fireChannelInactive()
    }

    private func noteEnd() {
        let onEnd = state.withLock { state in
            state.isEnded = true
            return state.onEnd
        }
        onEnd?()
    }
}

/// A request that is not answered by a route, because it is not valid HTTP.
enum ClientFault: String, CaseIterable {
    /// Its header fields, chunks or length are wrong, or its body ends early.
    case malformed
    /// Its header fields did not arrive in time.
    case slowHead = "slow-head"
}

/// Sees the bytes before they are parsed.
private final class RequestBytes: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let heads: RequestHeads

    init(_ heads: RequestHeads) { self.heads = heads }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        heads.noteBytes()
        context.fireChannelRead(data)
    }
}

private final class RequestHeads: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a client may take to read an answer that came before the end of its body.
    private static let lingering = TimeAmount.seconds(1)

    private let limit: TimeAmount
    private let onFault: @Sendable (ClientFault) -> Void
    private var context: ChannelHandlerContext?
    private var isInBody = false
    private var isLastRequest = false
    private var timer: Scheduled<Void>?

    init(within seconds: Double, _ onFault: @escaping @Sendable (ClientFault) -> Void) {
        limit = .nanoseconds(Int64(seconds * 1e9))
        self.onFault = onFault
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        (timer, self.context) = (nil, nil)
    }

    /// Bytes arrived: of header fields, unless a body is under way.
    func noteBytes() {
        guard !isInBody, timer == nil, let context else { return }
        timer = context.eventLoop.assumeIsolatedUnsafeUnchecked().scheduleTask(in: limit) {
            self.endSlowHead()
        }
    }

    private func endSlowHead() {
        guard let context else { return }
        onFault(.slowHead)
        let head = HTTPResponseHead(
            version: .http1_1,
            status: .requestTimeout,
            headers: ["Connection": "close", "Content-Length": "0"]
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    // Nobody reads the rest of the body of a last request: what has arrived of it would stay in
    // memory, and the connection open, until the client closes it.
    func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        if case .end = unwrapOutboundIn(data), isLastRequest, isInBody {
            context.eventLoop.assumeIsolatedUnsafeUnchecked()
                .scheduleTask(in: RequestHeads.lingering) { self.context?.close(promise: nil) }
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(var head):
            timer?.cancel()
            (timer, isInBody) = (nil, true)
            if [.http0_9, .http1_0].contains(head.version) {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            } else if head.headers.first(name: "Expect")?.lowercased() == "100-continue" {
                let answer = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
            }
            isLastRequest = head.headers.first(name: "Connection")?.lowercased() == "close"
            context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body:
            context.fireChannelRead(data)
        case .end:
            isInBody = false
            context.fireChannelRead(data)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError { onFault(.malformed) }
        context.fireErrorCaught(error)
    }
}
