import SwiftASN1
import X509

/// The CMS SignedData that wraps a receipt (RFC 5652 §5.1): decoded, not verified yet.
struct SignedData {
    /// What was signed.
    let content: ArraySlice<UInt8>
    /// The embedded certificates, each as DER, in their order; their presence proves nothing.
    let certificates: [ArraySlice<UInt8>]
    /// Its only signer.
    let signer: SignerInfo

    /// Most certificates that are read: Apple embeds three, including the root.
    static let certificateCountMax = 8

    private static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]
    /// The content type of plain bytes.
    static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]

    /// Decodes the bytes.
    ///
    /// Throws `receipt-malformed`, `receipt-too-deep`, `receipt-too-large`,
    /// `receipt-content-missing` or `receipt-signer-count`.
    init(_ bytes: ArraySlice<UInt8>) throws(Rejection) {
        let place = "the signed message"
        let root = try BERReader.root(of: bytes, in: place)
        var outer = try BERReader(root, as: .sequence, in: place)
        guard try outer.requireObjectIdentifier() == SignedData.signedData else {
            throw Rejection.receiptMalformed(in: place)
        }
        var wrapper = try outer.requireReader(.context(0))
        try outer.requireEnd()
        var body = try wrapper.requireReader(.sequence)
        try wrapper.requireEnd()
        _ = try body.require(.integer)
        _ = try body.require(.set)
        content = try SignedData.content(try body.requireReader(.sequence))
        certificates = try SignedData.certificates(body.next(if: .context(0)))
        // Revocation lists are ignored: they were not requested and are as old as the signature.
        _ = body.next(if: .context(1))
        var signers = try body.requireReader(.set, in: "the signer")
        try body.requireEnd()
        guard let signer = signers.next(), signers.next() == nil else {
            throw Rejection(
                .receiptSignerCount,
                "An app receipt has exactly one signer; this one has none, or several."
            )
        }
        self.signer = try SignerInfo(signer)
    }

    private static func content(_ reader: BERReader) throws(Rejection) -> ArraySlice<UInt8> {
        var reader = reader
        guard try reader.requireObjectIdentifier() == data else {
            throw Rejection.receiptMalformed(in: "the signed content")
        }
        guard let explicit = reader.next(if: .context(0)) else {
            throw Rejection(
                .receiptContentMissing,
                "The PKCS #7 message signs content that it does not contain; an app receipt "
                    + "contains its content."
            )
        }
        try reader.requireEnd()
        var inner = try BERReader(explicit, as: .context(0), in: "the signed content")
        let octets = try inner.requireOctets()
        try inner.requireEnd()
        return octets
    }

    private static func certificates(
        _ field: ASN1Node?
    ) throws(Rejection) -> [ArraySlice<UInt8>] {
        guard let field else { return [] }
        var reader = try BERReader(field, as: .context(0), in: "the list of certificates")
        var found: [ArraySlice<UInt8>] = []
        while let element = reader.next() {
            // Other forms of certificates have their own tags; they are never part of a chain.
            guard element.identifier == .sequence else { continue }
            found.append(element.encodedBytes)
            guard found.count <= certificateCountMax else {
                throw Rejection(
                    .receiptTooLarge,
                    "The app receipt contains more than \(certificateCountMax) certificates; Apple"
                        + " sends three."
                )
            }
        }
        return found
    }
}

/// The claimed signer, the algorithms, and the signature (RFC 5652 §5.3).
struct SignerInfo {
    /// Names the signer's certificate.
    let identifier: Identifier
    /// The identifier's encoding: equal for the same signer of the same certificates.
    let identifierBytes: ArraySlice<UInt8>
    /// How the content is digested.
    let digest: DigestAlgorithm
    /// How the digest is signed.
    let algorithm: SignatureAlgorithm
    /// The signed attributes; nil if the content itself is signed, as Apple does.
    let attributes: SignedAttributes?
    /// The signature.
    let signature: ArraySlice<UInt8>

    /// The two ways to name a certificate.
    enum Identifier {
        case issuerAndSerialNumber(DistinguishedName, Certificate.SerialNumber)
        case subjectKeyIdentifier(ArraySlice<UInt8>)
    }

    /// Reads one element of `signerInfos`.
    init(_ element: ASN1Node) throws(Rejection) {
        var reader = try BERReader(element, as: .sequence, in: "the signer")
        _ = try reader.require(.integer)
        guard let name = reader.next() else { throw Rejection.receiptMalformed(in: reader.place) }
        identifier = try SignerInfo.identifier(name)
        identifierBytes = name.encodedBytes
        digest = try DigestAlgorithm(try reader.requireReader(.sequence))
        attributes = try reader.next(if: .context(0)).map { field throws(Rejection) in
            try SignedAttributes(field)
        }
        algorithm = try SignatureAlgorithm(try reader.requireReader(.sequence))
        signature = try reader.requireOctets()
        // Unsigned attributes prove nothing.
        _ = reader.next(if: .context(1))
        try reader.requireEnd()
    }

    /// Whether the signer's identifier names that certificate.
    func names(_ certificate: Certificate) -> Bool {
        switch identifier {
        case .issuerAndSerialNumber(let issuer, let serialNumber):
            return certificate.serialNumber == serialNumber && certificate.issuer == issuer
        case .subjectKeyIdentifier(let key):
            do {
                return try certificate.extensions.subjectKeyIdentifier?.keyIdentifier == key
            } catch {
                return false
            }
        }
    }

    private static func identifier(_ element: ASN1Node) throws(Rejection) -> Identifier {
        let place = "the signer's name"
        if element.identifier == .context(0) {
            guard case .primitive(let key) = element.content else {
                throw Rejection.receiptMalformed(in: place)
            }
            return .subjectKeyIdentifier(key)
        }
        var reader = try BERReader(element, as: .sequence, in: place)
        let issuer = try reader.require(.sequence)
        let serialNumber = try reader.require(.integer)
        try reader.requireEnd()
        return try reader.read {
            .issuerAndSerialNumber(
                try DistinguishedName(derEncoded: issuer),
                Certificate.SerialNumber(
                    bytes: try ArraySlice<UInt8>(derEncoded: serialNumber)
                )
            )
        }
    }
}
