package import Hummingbird
package import NIOCore

/// What the service knows about a request besides the request.
package struct ServiceContext: RequestContext, RemoteAddressRequestContext {
    /// What Hummingbird needs.
    package var coreContext: CoreRequestContextStorage
    /// The connection.
    let channel: any Channel

    /// The context of a request.
    package init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The address of the other end of the connection: of the client, or of a proxy.
    package var remoteAddress: SocketAddress? { channel.remoteAddress }
}
