public import Hummingbird
public import NIOCore

/// What the routes know about a request besides the request: the client's address, for their limits.
///
/// With a context that has no address, such as `BasicRequestContext`, all clients share one limit.
public struct LedgerRequestContext: RequestContext, RemoteAddressRequestContext {
    /// What Hummingbird needs.
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    let channel: any Channel

    /// The context of a request.
    public init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The address of the other end of the connection: of the client, or of a proxy.
    public var remoteAddress: SocketAddress? { channel.remoteAddress }
}
