internal import Events
internal import FoundationEssentials

/// The addresses of the App Store Server API.
public struct ServerHosts: Hashable, Sendable {
    let production: String
    let sandbox: String

    /// Apple's addresses.
    public static let apple = ServerHosts(
        production: "https://api.storekit.apple.com",
        sandbox: "https://api.storekit-sandbox.apple.com"
    )
}

extension ServerHosts {
    /// The addresses of another store, such as `subledger simulate --serve`: production at the URL,
    /// the sandbox below it at `/sandbox`.
    ///
    /// - Parameter url: `https://…`; `http://…` only for this machine, because a token is sent
    ///   there.
    /// - Throws: `ServerError` with the code `address`.
    public init(url: String) throws(ServerError) {
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        guard let address = URL(string: base), let host = address.host, !host.isEmpty,
            address.query == nil, address.fragment == nil, address.user == nil,
            address.scheme == "https" || address.scheme == "http"
        else {
            throw ServerError(
                .address,
                "'\(url.prefix(128))' is not the address of a store; expected https://HOST"
            )
        }
        guard address.scheme == "https" || ServerHosts.local.contains(host) else {
            throw ServerError(
                .address,
                "\(base) is not encrypted, and a token would be sent there; expected https://, or "
                    + "http:// on 127.0.0.1"
            )
        }
        self.init(production: base, sandbox: base + "/sandbox")
    }

    /// The names of this machine.
    static let local: Set<String> = ["127.0.0.1", "::1", "[::1]", "localhost"]

    func api(_ environment: StoreEnvironment) -> String {
        environment == .sandbox ? sandbox : production
    }
}
