internal import Foundation
internal import NIOCore

/// The address of a receiver: an HTTPS URL whose host has only public addresses, unless private ones
/// are allowed.
///
/// A name is looked up here, and the connection goes to the address that was checked: a name that
/// means another address a moment later does not lead into the private network.
package struct ReceiverAddress: Hashable, Sendable {
    /// The URL, as text.
    package let url: String
    /// Its host, a name or an address, without brackets.
    package let host: String
    private let port: Int
    private let allowsPrivate: Bool

    /// Reads an address.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - allowsPrivate: Whether it may be at a private address, and without TLS.
    /// - Throws: `WebhookFault` that says what is expected.
    package init(_ text: String, allowsPrivate: Bool) throws(WebhookFault) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host, !host.isEmpty, ["http", "https"].contains(scheme),
            text.utf8.count <= ReceiverAddress.byteCountMax
        else {
            throw WebhookFault(
                "'\(text.prefix(200))' is not an address; expected a URL such as "
                    + "https://example.com/subledger"
            )
        }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw WebhookFault(
                "the URL must contain no user, password or fragment"
            )
        }
        guard scheme == "https" || allowsPrivate else {
            throw WebhookFault(
                "\(text) is not https; without TLS, anyone on the way reads who subscribes. "
                    + "--allow-private permits http, for tests and private networks"
            )
        }
        url = text
        self.host = host.trimmingCharacters(in: ["[", "]"])
        port = parts.port ?? (scheme == "https" ? 443 : 80)
        self.allowsPrivate = allowsPrivate
    }

    private static let byteCountMax = 2000

    /// Refuses a host that is an address, and a private one: a name is looked up when it is used.
    ///
    /// - Throws: `WebhookFault` that says what is expected.
    package func checkLiteral() throws(WebhookFault) {
        if PeerAddress(host) != nil { _ = try resolved() }
    }

    /// The addresses to connect to, in the order of the system's resolver.
    ///
    /// Blocks while the name is looked up.
    ///
    /// - Throws: `WebhookFault` if there is none, or one of them is private and must not be.
    package func resolved() throws(WebhookFault) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard code == 0 else {
            throw WebhookFault(
                "the host \(host) is unknown: \(String(cString: gai_strerror(code)))"
            )
        }
        var addresses: [String] = []
        var next = found
        while let entry = next {
            next = entry.pointee.ai_next
            guard let address = PeerAddress(entry.pointee.ai_addr) else { continue }
            guard allowsPrivate || address.isPublic else {
                throw WebhookFault(
                    "the host \(host) is at \(address.text), which is not a public address; to permit "
                        + "it, add the webhook with --allow-private"
                )
            }
            if !addresses.contains(address.text) { addresses.append(address.text) }
        }
        guard !addresses.isEmpty else { throw WebhookFault("the host \(host) has no address") }
        return addresses
    }
}

/// An address of the Internet Protocol, as its bytes.
struct PeerAddress {
    /// Four or sixteen.
    let bytes: [UInt8]

    init?(_ address: UnsafePointer<sockaddr>?) {
        guard let address else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
            }
        default: return nil
        }
    }

    /// Reads the text of an address; nil if it is none.
    init?(_ text: String) {
        var storage = in6_addr()
        if inet_pton(AF_INET, text, &storage) == 1 {
            bytes = withUnsafeBytes(of: storage) { Array($0.prefix(4)) }
        } else if inet_pton(AF_INET6, text, &storage) == 1 {
            bytes = withUnsafeBytes(of: storage) { Array($0) }
        } else {
            return nil
        }
    }

    /// The address as text.
    var text: String {
        var buffer = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else { return "" }
        return String(
            decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
    }

    /// Whether anyone on the Internet may have it: not this machine, a private network, a link, a
    /// provider's inside, or what stands for such an address in IPv6 (IANA's special-purpose
    /// address registries).
    var isPublic: Bool {
        if bytes.count == 4 { return PeerAddress.isPublic(bytes) }
        // ::, ::1, IPv4 in IPv6 (mapped, translated, 6to4, NAT64).
        if bytes[..<10].allSatisfy({ $0 == 0 }) {
            return bytes[10] == 0xff && bytes[11] == 0xff
                && PeerAddress.isPublic(Array(bytes[12...]))
        }
        if bytes.starts(with: [0, 0x64, 0xff, 0x9b]) {
            return bytes[4..<12].allSatisfy { $0 == 0 } && PeerAddress.isPublic(Array(bytes[12...]))
        }
        if bytes.starts(with: [0x20, 0x02]) { return PeerAddress.isPublic(Array(bytes[2..<6])) }
        // Global unicast is 2000::/3; in it, documentation, Teredo and other special uses.
        guard bytes[0] & 0xe0 == 0x20 else { return false }
        if bytes.starts(with: [0x20, 0x01]), bytes[2] < 2 { return false }
        return !bytes.starts(with: [0x20, 0x01, 0x0d, 0xb8]) && !bytes.starts(with: [0x3f, 0xff])
    }

    private static func isPublic(_ v4: [UInt8]) -> Bool {
        switch (v4[0], v4[1], v4[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (169, 254, _), (192, 168, _): false
        case (100, 64...127, _), (172, 16...31, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113), (192, 88, 99): false
        case (224..., _, _): false
        default: true
        }
    }
}
