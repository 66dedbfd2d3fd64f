internal import NIOCore
internal import NIOHTTP1

/// Support for HTTP/1.0 clients, and for clients that ask before they send a body, which
/// Hummingbird omits.
///
/// A response to HTTP/1.0 closes the connection. `Expect: 100-continue` is answered at once,
/// because the client sends nothing until then.
final class EarlierHTTP: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = Never

    /// Inserts the working handler where the HTTP version is still known.
    func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(RequestHeads(), position: .after(decoder))
        } catch {
            context.fireErrorCaught(error)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
    }
}

private final class RequestHeads: ChannelInboundHandler, Sendable {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else {
            context.fireChannelRead(data)
            return
        }
        if [.http0_9, .http1_0].contains(head.version) {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if head.headers.first(name: "Expect")?.lowercased() == "100-continue" {
            let answer = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
