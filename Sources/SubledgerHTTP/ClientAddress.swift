internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A network address, or a range of them: `10.0.0.0/8`, `::1`.
public struct AddressRange: Hashable, Sendable {
    private let bytes: [UInt8]
    private let bitCount: Int

    /// A range; nil if the text is neither an address nor one with the number of its fixed bits.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let bytes = AddressRange.bytes(of: String(parts[0]))
        else { return nil }
        let all = bytes.count * 8
        guard let bitCount = parts.count == 2 ? Int(parts[1]) : all, (0...all).contains(bitCount)
        else { return nil }
        (self.bytes, self.bitCount) = (bytes, bitCount)
    }

    /// Whether an address is in the range.
    func contains(_ address: String) -> Bool {
        guard let other = AddressRange.bytes(of: address), other.count == bytes.count else {
            return false
        }
        return (0..<bitCount).allSatisfy { bit in
            (bytes[bit / 8] ^ other[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }

    /// The bytes of an IPv4 or IPv6 address; an IPv4 address within IPv6 is an IPv4 address.
    static func bytes(of text: String) -> [UInt8]? {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        let unscoped = String(text.prefix { $0 != "%" })
        guard inet_pton(AF_INET6, unscoped, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? Array(bytes[12...]) : bytes
    }
}

extension [AddressRange] {
    /// The address of the client of a request.
    ///
    /// A proxy appends the address that it was called from to `X-Forwarded-For`. From the end,
    /// those of these proxies are passed over; what stands before the first other one may be
    /// forged.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - peer: The other end of the connection; nil if it has no address.
    /// - Returns: The client's address, or that of the farthest of these proxies; nil if unknown.
    func client(of request: Request, from peer: String?) -> String? {
        func isOurs(_ address: String) -> Bool { contains { $0.contains(address) } }
        guard let peer, isOurs(peer) else { return peer }
        var client = peer
        let hops = request.headers[values: .forwardedFor].flatMap { $0.split(separator: ",") }
        for hop in hops.reversed() {
            let address = hop.trimmingCharacters(in: .whitespaces)
            guard AddressRange.bytes(of: address) != nil else { return client }
            client = address
            if !isOurs(address) { return client }
        }
        return client
    }
}

extension RequestContext {
    /// The address of the other end of the connection; nil if the context does not know it, or it
    /// has none.
    var peerAddress: String? {
        (self as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress
    }
}

extension HTTPField.Name {
    fileprivate static var forwardedFor: HTTPField.Name {
        HTTPField.Name("X-Forwarded-For") ?? .server
    }
}
