public import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// The server that the command runs the routes in.
public enum LedgerServer {
    /// Bytes of all header fields of a request; a token has some hundred.
    private static let headerByteCountMax = 16 << 10
    /// Header fields of a request.
    private static let headerCountMax = 64

    /// HTTP/1.1 without TLS, with the limits.
    public static func http(limits: ServiceLimits) -> HTTPServerBuilder {
        .http1(
            configuration: HTTP1Channel.Configuration(
                idleTimeout: .nanoseconds(Int64(limits.idleSecondsMax * 1e9)),
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: headerByteCountMax,
                    maxHeaderListSize: headerByteCountMax,
                    maxHeaderFieldCount: headerCountMax
                )
            )
        )
    }
}
