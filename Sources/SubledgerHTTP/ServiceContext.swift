public import Hummingbird
public import NIOCore

/// What the service knows about a request besides the request.
public struct ServiceContext: RequestContext, RemoteAddressRequestContext {
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
