internal import Crypto
internal import SwiftASN1
internal import X509
internal import _CryptoExtras

/// The certificates and the key that sign app receipts: PKCS#7 as in Apple's data: app receipts.
///
/// The leaf has an RSA key, like Apple's, and signs with PKCS#1 v1.5; intermediate and root are
/// P-256. The root is that of the JWS chain of the same seed, so one anchor serves both. Leaf and
/// intermediate carry Apple's markers and have the flaws of their store.
package struct ReceiptPKI: Sendable {
    /// The certificates that a receipt carries in DER, the leaf first.
    package let chainDER: [[UInt8]]

    private let certificates: [UInt8]
    private let signerIdentifier: [UInt8]

    /// The receipt chain of a seed below the root of its store.
    init(
        seed: UInt64,
        root: DeterministicSigningKey,
        rootDER: [UInt8],
        flaws: SimulatedPKI.Flaws
    ) throws {
        var generator = SeededGenerator(seed: seed, branch: Self.branch)
        let intermediate = DeterministicSigningKey(from: &generator)
        let issuer = CertificateIssuer(serialNumbers: generator)
        let pair = try issuer.leafAndIntermediate(
            of: Self.authority,
            root: root,
            intermediate: intermediate,
            leaf: Certificate.PublicKey(ReceiptSigningKey.key.publicKey),
            flaws: flaws
        )
        chainDER = flaws.contains(.twoCertificates) ? pair : pair + [rootDER]
        certificates = BER.element(BER.explicit0, chainDER.flatMap { $0 })
        signerIdentifier = try Self.identifier(of: pair[0])
    }

    /// The CMS SignedData around a receipt's payload (RFC 5652 §5), without signed attributes, like
    /// Apple's receipts.
    ///
    /// The same payload always gives the same bytes.
    package func sign(payload: [UInt8], form: AppReceiptForm) -> [UInt8] {
        let content = form.contains(.wrappedTwice) ? BER.element(BER.octetString, payload) : payload
        let isOld = form.contains(.sha1)
        let digest = BER.element(BER.sequence, (isOld ? Self.sha1 : Self.sha256) + BER.null)
        let signer = BER.element(
            BER.sequence,
            BER.integer(1) + signerIdentifier + digest
                + BER.element(BER.sequence, Self.rsaEncryption + BER.null)
                + BER.element(BER.octetString, signature(over: content, isOld: isOld))
        )
        let head = BER.integer(1) + BER.element(BER.set, digest)
        let tail = certificates + BER.element(BER.set, signer)

        let isOpen = form.contains(.indefiniteLengths)
        let wrap = isOpen ? BER.indefinite : BER.element
        let octets =
            isOpen
            ? wrap(BER.octetString | BER.constructed, Self.pieces(of: content))
            : wrap(BER.octetString, content)
        let encapsulated = wrap(BER.sequence, Self.data + wrap(BER.explicit0, octets))
        let signedData = wrap(BER.sequence, head + encapsulated + tail)
        return wrap(BER.sequence, Self.signedData + wrap(BER.explicit0, signedData))
    }

    /// An RSA signature over SHA-1, as in transaction receipts of iOS 6; 256 bytes.
    func oldSignature(over bytes: [UInt8]) -> [UInt8] { signature(over: bytes, isOld: true) }

    // Each of a size that an old streaming writer would flush.
    private static func pieces(of content: [UInt8]) -> [UInt8] {
        stride(from: 0, to: content.count, by: pieceSize).flatMap { start in
            let end = min(start + pieceSize, content.count)
            return BER.element(BER.octetString, Array(content[start..<end]))
        }
    }

    private func signature(over bytes: [UInt8], isOld: Bool) -> [UInt8] {
        do {
            let key = ReceiptSigningKey.key
            let signature =
                try isOld
                ? key.signature(
                    for: Insecure.SHA1.hash(data: bytes),
                    padding: .insecurePKCS1v1_5
                )
                : key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5)
            return Array(signature.rawRepresentation)
        } catch {
            preconditionFailure("swift-crypto did not sign with a sound RSA key: \(error)")
        }
    }

    // IssuerAndSerialNumber (RFC 5652 §10.2.4).
    private static func identifier(of leafDER: [UInt8]) throws -> [UInt8] {
        let leaf = try Certificate(derEncoded: leafDER)
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(leaf.issuer)
            try coder.serialize(leaf.serialNumber.bytes)
        }
        return serializer.serializedBytes
    }

    private static let authority = CertificateIssuer.Authority(
        intermediateName: "Subledger Simulated Receipt Authority",
        leafName: "Subledger Simulated Receipt Signing"
    )

    private static let pieceSize = 1000

    // 1.2.840.113549.1.7.2 and .1, 1.2.840.113549.1.1.1, 1.3.14.3.2.26, 2.16.840.1.101.3.4.2.1.
    private static let signedData: [UInt8] = [
        0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02,
    ]
    private static let data: [UInt8] = [
        0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01,
    ]
    private static let rsaEncryption: [UInt8] = [
        0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01,
    ]
    private static let sha1: [UInt8] = [0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a]
    private static let sha256: [UInt8] = [
        0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
    ]

    // Keeps the keys apart from those of the JWS chain and from the lives of the same seed.
    private static let branch: UInt64 = 0x504b_4937_0000_0000
}
