import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// An app receipt read back with libraries that the simulator does not use for writing.
struct ReadReceipt {
    /// Values of a set of attributes by type; attribute 17 repeats.
    typealias Attributes = [Int: [[UInt8]]]

    struct Malformed: Error { let reason: String }

    let payload: [UInt8]
    let content: [UInt8]
    let certificates: [Certificate]
    let signature: [UInt8]
    let isSHA1: Bool
    let attributes: Attributes
    let purchases: [Attributes]

    init(_ bytes: [UInt8]) throws {
        // ContentInfo { OID, [0] SignedData { version, algorithms, content, [0], signers } }.
        let info = try Self.children(try BER.parse(bytes))
        let data = try Self.children(try Self.children(info[1])[0])
        let content = try Self.children(try Self.children(data[2])[1])[0]
        let octets = try ASN1OctetString(berEncoded: content)
        self.content = Array(octets.bytes)
        payload = try Self.unwrapped(self.content)
        certificates = try Self.children(data[3]).map {
            try Certificate(derEncoded: $0)
        }
        let signer = try Self.children(try Self.children(data[4])[0])
        signature = Array(try ASN1OctetString(berEncoded: signer[4]).bytes)
        let algorithm = try ASN1ObjectIdentifier(berEncoded: try Self.children(signer[2])[0])
        isSHA1 = algorithm == [1, 3, 14, 3, 2, 26]
        attributes = try Self.attributes(of: payload)
        purchases = try (attributes[17] ?? []).map { try Self.attributes(of: $0) }
    }

    /// Whether the leaf's key signed the content.
    func isSignatureValid() throws -> Bool {
        guard let key = _RSA.Signing.PublicKey(certificates[0].publicKey) else {
            throw Malformed(reason: "the leaf holds no RSA key")
        }
        let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return isSHA1
            ? key.isValidSignature(
                signature,
                for: Insecure.SHA1.hash(data: content),
                padding: .insecurePKCS1v1_5
            )
            : key.isValidSignature(
                signature,
                for: SHA256.hash(data: content),
                padding: .insecurePKCS1v1_5
            )
    }

    static func text(_ attributes: Attributes, _ type: Int) throws -> String? {
        guard let value = attributes[type]?.first else { return nil }
        let node = try DER.parse(value)
        switch node.identifier {
        case .utf8String: return try String(ASN1UTF8String(derEncoded: node))
        case .ia5String: return try String(ASN1IA5String(derEncoded: node))
        default: throw Malformed(reason: "attribute \(type) is no text")
        }
    }

    static func number(_ attributes: Attributes, _ type: Int) throws -> Int64? {
        guard let value = attributes[type]?.first else { return nil }
        return try Int64(derEncoded: value)
    }

    /// The milliseconds of a date; nil if it is absent or an empty text.
    static func date(_ attributes: Attributes, _ type: Int) throws -> Int64? {
        guard let text = try text(attributes, type), !text.isEmpty else { return nil }
        return Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970) * 1000
    }

    private static func unwrapped(_ content: [UInt8]) throws -> [UInt8] {
        let node = try DER.parse(content)
        return node.identifier == .octetString
            ? Array(try ASN1OctetString(derEncoded: node).bytes) : content
    }

    private static func attributes(of set: [UInt8]) throws -> Attributes {
        var result: Attributes = [:]
        let node = try DER.parse(set)
        guard node.identifier == .set else { throw Malformed(reason: "the payload is no SET") }
        for element in try children(node) {
            let parts = try children(element)
            let type = try Int(derEncoded: parts[0])
            let value = Array(try ASN1OctetString(derEncoded: parts[2]).bytes)
            result[type, default: []].append(value)
        }
        return result
    }

    private static func children(_ node: ASN1Node) throws -> [ASN1Node] {
        guard case .constructed(let nodes) = node.content else {
            throw Malformed(reason: "an element is not constructed")
        }
        return Array(nodes)
    }
}

/// The SHA-1 of bytes, which the device hash of a receipt is.
func sha1(_ bytes: [UInt8]) -> [UInt8] { Array(Insecure.SHA1.hash(data: bytes)) }
