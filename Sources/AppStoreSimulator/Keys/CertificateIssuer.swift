internal import Crypto
internal import FoundationEssentials
internal import SwiftASN1
internal import X509

/// Issues the certificates of a simulated chain: a root, an intermediate and a leaf.
struct CertificateIssuer {
    /// The authority below the root: JWS and app receipts each have their own.
    struct Authority {
        let intermediateName: String
        let leafName: String
    }

    private let serials: [Certificate.SerialNumber]

    /// An issuer that takes its serial numbers from a generator.
    init(serialNumbers generator: SeededGenerator) {
        var generator = generator
        serials = (0..<3).map { _ in
            // A positive number of eight bytes whose first is not zero, so DER keeps all eight.
            Certificate.SerialNumber(generator.next() & 0x7fff_ffff_ffff_ffff | 1 << 62)
        }
    }

    /// The root certificate in DER, self-signed.
    func root(_ key: DeterministicSigningKey) throws -> [UInt8] {
        try der(2, Self.rootName, key.publicKey, by: Self.rootName, key, isAuthority: true)
    }

    /// Leaf and intermediate certificates in DER, below a root; the leaf's key may be of any kind.
    func leafAndIntermediate(
        of authority: Authority,
        root: DeterministicSigningKey,
        intermediate: DeterministicSigningKey,
        leaf: Certificate.PublicKey,
        flaws: SimulatedPKI.Flaws
    ) throws -> [[UInt8]] {
        try [
            der(
                0,
                authority.leafName,
                leaf,
                by: authority.intermediateName,
                intermediate,
                marker: flaws.contains(.leafWithoutMarker) ? nil : Self.leafMarker,
                until: flaws.contains(.expiredLeaf) ? Self.endOf2008 : Self.endOf2099
            ),
            der(
                1,
                authority.intermediateName,
                intermediate.publicKey,
                by: Self.rootName,
                root,
                isAuthority: !flaws.contains(.intermediateWithoutAuthority),
                marker: flaws.contains(.intermediateWithoutMarker) ? nil : Self.intermediateMarker
            ),
        ]
    }

    private static let rootName = "Subledger Simulated Root CA"

    // Apple's markers (Apple's data: JWS verification): presence counts, the value is NULL.
    private static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    private static let intermediateMarker: ASN1ObjectIdentifier = [
        1, 2, 840, 113_635, 100, 6, 2, 1,
    ]
    private static let null: ArraySlice<UInt8> = [0x05, 0x00]
    private static let startOf2008 = Date(timeIntervalSince1970: 1_199_145_600)
    private static let endOf2008 = Date(timeIntervalSince1970: 1_230_767_999)
    private static let endOf2099 = Date(timeIntervalSince1970: 4_102_444_799)

    private func name(_ commonName: String) throws -> DistinguishedName {
        try DistinguishedName {
            CountryName("US")
            OrganizationName("Subledger Simulator")
            CommonName(commonName)
        }
    }

    private func extensions(
        of key: Certificate.PublicKey,
        issuer: DeterministicSigningKey,
        isAuthority: Bool,
        marker: ASN1ObjectIdentifier?
    ) throws -> Certificate.Extensions {
        let constraints: BasicConstraints =
            isAuthority ? .isCertificateAuthority(maxPathLength: nil) : .notCertificateAuthority
        let usage =
            isAuthority
            ? KeyUsage(keyCertSign: true, cRLSign: true) : KeyUsage(digitalSignature: true)
        var extensions = try Certificate.Extensions([
            Certificate.Extension(constraints, critical: true),
            Certificate.Extension(usage, critical: true),
            Certificate.Extension(
                SubjectKeyIdentifier(keyIdentifier: identifier(of: key)),
                critical: false
            ),
            Certificate.Extension(
                AuthorityKeyIdentifier(keyIdentifier: identifier(of: issuer.publicKey)),
                critical: false
            ),
        ])
        if let marker {
            try extensions.append(
                Certificate.Extension(oid: marker, critical: false, value: Self.null)
            )
        }
        return extensions
    }

    // RFC 7093 method 1: the leftmost 160 bits of the SHA-256 of the public key.
    private func identifier(of key: Certificate.PublicKey) -> ArraySlice<UInt8> {
        ArraySlice(SHA256.hash(data: key.subjectPublicKeyInfoBytes).prefix(20))
    }

    private func der(
        _ serial: Int,
        _ subject: String,
        _ key: Certificate.PublicKey,
        by issuer: String,
        _ issuerKey: DeterministicSigningKey,
        isAuthority: Bool = false,
        marker: ASN1ObjectIdentifier? = nil,
        until notValidAfter: Date = endOf2099
    ) throws -> [UInt8] {
        let certificate = try Certificate(
            version: .v3,
            serialNumber: serials[serial],
            publicKey: key,
            notValidBefore: Self.startOf2008,
            notValidAfter: notValidAfter,
            issuer: name(issuer),
            subject: name(subject),
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions(
                of: key,
                issuer: issuerKey,
                isAuthority: isAuthority,
                marker: marker
            ),
            issuerPrivateKey: Certificate.PrivateKey(issuerKey)
        )
        var serializer = DER.Serializer()
        try certificate.serialize(into: &serializer)
        return serializer.serializedBytes
    }
}
