import Crypto
import Events
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

@testable import AppStore

/// Creates app receipts: valid ones, and one for every fault a receipt can have.
struct ReceiptForge {
    /// The key that signs.
    enum Key {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
    }

    var content: [UInt8] = ReceiptForge.payload()
    var certificates: [[UInt8]]
    var signer: Certificate
    var key: Key
    /// How the content is hashed and, by default, declared to be hashed.
    var digest = DigestAlgorithm.sha256
    var declaredDigest: String?
    var declaredSignature: String?
    var namesKeyIdentifier = false
    var hasSignedAttributes = false
    var isIndefinite = false
    /// The signed attributes if not the usual ones; they are signed unchanged.
    var attributes: [[UInt8]]?
    /// Changes the encoded attributes after they were signed.
    var rearrangeAttributes: ([[UInt8]]) -> [[UInt8]] = { $0 }
    var signerCount = 1
    var hasContent = true
    var contentType = "1.2.840.113549.1.7.1"

    /// The message that contains everything.
    func message() throws -> [UInt8] {
        let oid = try ReceiptForge.oid(contentType)
        let octets =
            isIndefinite
            ? indefinite(
                0x24,
                der(0x04, Array(content.prefix(7))),
                der(0x04, Array(content.dropFirst(7)))
            )
            : der(0x04, content)
        let encapsulated = hasContent ? der(0x30, oid, der(0xa0, octets)) : der(0x30, oid)
        let signers = try (0..<signerCount).flatMap { _ in try signerInfo() }
        let digests = der(0x31, try ReceiptForge.algorithm(digestName))
        let certificates = der(0xa0, self.certificates.flatMap { $0 })
        let signedData = try ReceiptForge.oid("1.2.840.113549.1.7.2")
        let parts = [der(0x02, [1]), digests, encapsulated, certificates, der(0x31, signers)]
        guard isIndefinite else {
            return der(0x30, signedData, der(0xa0, der(0x30, parts.flatMap { $0 })))
        }
        return indefinite(
            0x30,
            signedData,
            indefinite(0xa0, indefinite(0x30, parts.flatMap { $0 }))
        )
    }

    private var digestName: String {
        switch digest {
        case .sha1: "1.3.14.3.2.26"
        case .sha256: "2.16.840.1.101.3.4.2.1"
        case .sha384: "2.16.840.1.101.3.4.2.2"
        case .sha512: "2.16.840.1.101.3.4.2.3"
        }
    }

    private var signatureName: String {
        switch (key, digest) {
        case (.rsa, _): "1.2.840.113549.1.1.1"
        case (.p256, .sha384): "1.2.840.10045.4.3.3"
        case (.p256, .sha512): "1.2.840.10045.4.3.4"
        case (.p256, _): "1.2.840.10045.4.3.2"
        }
    }

    private func signerInfo() throws -> [UInt8] {
        let name: [UInt8]
        if namesKeyIdentifier {
            let identifier = try signer.extensions.subjectKeyIdentifier?.keyIdentifier ?? []
            name = der(0x80, Array(identifier))
        } else {
            var serializer = DER.Serializer()
            try serializer.serialize(signer.issuer)
            try serializer.serialize(signer.serialNumber.bytes)
            name = der(0x30, serializer.serializedBytes)
        }
        let signed = try attributes ?? usualAttributes()
        let field = hasSignedAttributes ? der(0xa0, rearrangeAttributes(signed).flatMap { $0 }) : []
        let input = hasSignedAttributes ? der(0x31, signed.flatMap { $0 }) : content
        return der(
            0x30,
            der(0x02, [1]),
            name,
            try ReceiptForge.algorithm(declaredDigest ?? digestName),
            field,
            try ReceiptForge.algorithm(declaredSignature ?? signatureName),
            der(0x04, try signature(of: input))
        )
    }

    /// Content type and digest, in DER order.
    func usualAttributes() throws -> [[UInt8]] {
        let type = try ReceiptForge.oid("1.2.840.113549.1.9.3")
        let digestType = try ReceiptForge.oid("1.2.840.113549.1.9.4")
        let value = digest.digest(of: content[...])
        return [
            der(0x30, type, der(0x31, try ReceiptForge.oid(contentType))),
            der(0x30, digestType, der(0x31, der(0x04, value))),
        ]
    }

    private func signature(of bytes: [UInt8]) throws -> [UInt8] {
        func sign(_ digest: some Crypto.Digest) throws -> [UInt8] {
            switch key {
            case .rsa(let key):
                Array(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
            case .p256(let key): Array(try key.signature(for: digest).derRepresentation)
            }
        }
        switch digest {
        case .sha1: return try sign(Insecure.SHA1.hash(data: bytes))
        case .sha256: return try sign(SHA256.hash(data: bytes))
        case .sha384: return try sign(SHA384.hash(data: bytes))
        case .sha512: return try sign(SHA512.hash(data: bytes))
        }
    }
}

extension ReceiptForge {
    /// A forge with an authority like Apple's: RSA throughout, SHA-1 or SHA-256.
    struct Authority {
        let root: Certificate
        let intermediate: Certificate
        let leaf: Certificate
        let leafKey: _RSA.Signing.PrivateKey

        /// Created once, because keys of 2048 bits take time.
        static let sha256 = Result { try Authority(.sha256WithRSAEncryption) }
        static let sha1 = Result { try Authority(.sha1WithRSAEncryption) }

        init(_ algorithm: Certificate.SignatureAlgorithm) throws {
            let rootKey = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
            let middleKey = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
            leafKey = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let rootName = try DistinguishedName { CommonName("RSA Root") }
            let middleName = try DistinguishedName { CommonName("RSA Intermediate") }
            let authority = try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Certificate.Extension(
                    oid: SigningChain.intermediateMarker,
                    critical: false,
                    value: [5, 0]
                )
            }
            root = try TestPKI.certificate(
                subject: rootName,
                key: rootKey.publicKey,
                issuer: rootName,
                issuerKey: rootKey,
                extensions: authority,
                algorithm: algorithm
            )
            intermediate = try TestPKI.certificate(
                subject: middleName,
                key: middleKey.publicKey,
                issuer: rootName,
                issuerKey: rootKey,
                extensions: authority,
                algorithm: algorithm
            )
            leaf = try TestPKI.certificate(
                subject: try DistinguishedName { CommonName("RSA Leaf") },
                key: Certificate.PublicKey(leafKey.publicKey),
                issuer: middleName,
                issuerKey: middleKey,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    SubjectKeyIdentifier(keyIdentifier: [4, 5, 6])
                    Certificate.Extension(
                        oid: SigningChain.leafMarker,
                        critical: false,
                        value: [5, 0]
                    )
                },
                algorithm: algorithm
            )
        }

        func opener() throws -> ReceiptOpener {
            ReceiptOpener(roots: [try RootCertificate(der: try root.der)])
        }
    }

    /// A forge that signs with RSA; like Apple it embeds all three certificates.
    init(_ authority: Authority) throws {
        certificates = try [authority.leaf, authority.intermediate, authority.root].map {
            try $0.der
        }
        signer = authority.leaf
        key = .rsa(authority.leafKey)
    }

    /// A forge that signs on P-256, with the flaws of that authority.
    init(_ pki: TestPKI) throws {
        certificates = try pki.chain.map { try $0.der }
        signer = pki.leaf
        key = .p256(pki.leafKey)
    }

    static func oid(_ text: String) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(try ASN1ObjectIdentifier(dotRepresentation: text))
        return serializer.serializedBytes
    }

    static func algorithm(_ name: String) throws -> [UInt8] {
        der(0x30, try oid(name), der(0x05))
    }

    /// A small receipt with one purchase.
    static func payload(
        type: String = "ProductionSandbox",
        creationDate: String = "2023-11-14T22:13:21Z",
        extra: [[UInt8]] = []
    ) -> [UInt8] {
        let purchase = [
            attribute(1701, integer(1)), attribute(1702, utf8("product.a")),
            attribute(1703, utf8("7")), attribute(1704, ia5("2023-11-14T22:13:20Z")),
            attribute(1705, utf8("7")), attribute(1708, ia5("2023-12-14T22:13:20Z")),
            attribute(1711, integer(1_000_000_000_007)), attribute(1712, ia5("")),
            attribute(1713, integer(1)), attribute(1719, integer(0)),
        ]
        let attributes =
            [
                attribute(0, utf8(type)), attribute(2, utf8("app.a")), attribute(3, utf8("1.2")),
                attribute(12, ia5(creationDate)), attribute(17, set(purchase)),
            ] + extra
        return set(attributes)
    }

    static func set(_ attributes: [[UInt8]]) -> [UInt8] { der(0x31, attributes.flatMap { $0 }) }

    static func attribute(_ type: Int64, _ value: [UInt8]) -> [UInt8] {
        der(0x30, integer(type), integer(1), der(0x04, value))
    }

    static func utf8(_ text: String) -> [UInt8] { der(0x0c, Array(text.utf8)) }
    static func ia5(_ text: String) -> [UInt8] { der(0x16, Array(text.utf8)) }

    static func integer(_ number: Int64) -> [UInt8] {
        var bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
        while bytes.count > 1, bytes[0] == 0, bytes[1] < 0x80 { bytes.removeFirst() }
        return der(0x02, bytes)
    }
}

/// One element of DER: tag, shortest length, and the parts one after the other.
func der(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    let body = parts.flatMap { $0 }
    guard body.count >= 0x80 else { return [tag, UInt8(body.count)] + body }
    var length: [UInt8] = []
    var rest = body.count
    while rest > 0 {
        length.insert(UInt8(rest & 0xff), at: 0)
        rest >>= 8
    }
    return [tag, 0x80 | UInt8(length.count)] + length + body
}

/// One element of BER with an indefinite length, which an end marker closes.
func indefinite(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    [tag, 0x80] + parts.flatMap { $0 } + [0, 0]
}
