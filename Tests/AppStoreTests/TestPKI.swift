import Crypto
import Events
import Foundation
import SwiftASN1
import X509

@testable import AppStore

/// A private imitation of Apple's certificate authority: root, intermediate, leaf, and the leaf's
/// key.
struct TestPKI {
    /// The differences from a valid chain.
    struct Flaws {
        var hasLeafMarker = true
        var hasIntermediateMarker = true
        var intermediateIsCA = true
        var intermediateMayIssue = true
        var intermediatePathLength: Int? = 0
        var rootPathLength: Int?
        var leafIsCA = false
        var leafMaySign = true
        var leafNamesOtherIssuer = false
        var leafNamesOtherKey = false
        var leafHasUnknownCriticalExtension = false
        var leafIsOnP384 = false
        var isLeafSignedByStranger = false
        var isLeafSignedWithEd25519 = false
        var leafNotBefore = "2020-01-01T00:00:00Z"
        var leafNotAfter = "2030-01-01T00:00:00Z"
    }

    let root: Certificate
    let intermediate: Certificate
    let leaf: Certificate
    let leafKey = P256.Signing.PrivateKey()
    let leafKeyP384 = P384.Signing.PrivateKey()

    init(_ flaws: Flaws = Flaws()) throws {
        let rootKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let intermediateKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let rootName = try DistinguishedName { CommonName("Test Root") }
        let intermediateName = try DistinguishedName { CommonName("Test Intermediate") }
        let rootExtensions = try Certificate.Extensions {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: flaws.rootPathLength))
        }
        root = try TestPKI.certificate(
            subject: rootName,
            key: rootKey.publicKey,
            issuer: rootName,
            issuerKey: rootKey,
            extensions: rootExtensions
        )
        intermediate = try TestPKI.certificate(
            subject: intermediateName,
            key: intermediateKey.publicKey,
            issuer: rootName,
            issuerKey: rootKey,
            extensions: try TestPKI.intermediateExtensions(flaws)
        )
        let leafPublicKey =
            flaws.leafIsOnP384
            ? Certificate.PublicKey(leafKeyP384.publicKey)
            : Certificate.PublicKey(leafKey.publicKey)
        let stranger = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let edwards = Certificate.PrivateKey(Curve25519.Signing.PrivateKey())
        leaf = try TestPKI.certificate(
            subject: try DistinguishedName { CommonName("Test Leaf") },
            key: leafPublicKey,
            issuer: flaws.leafNamesOtherIssuer ? rootName : intermediateName,
            issuerKey: flaws.isLeafSignedWithEd25519
                ? edwards : flaws.isLeafSignedByStranger ? stranger : intermediateKey,
            extensions: try TestPKI.leafExtensions(flaws),
            from: flaws.leafNotBefore,
            to: flaws.leafNotAfter,
            algorithm: flaws.isLeafSignedWithEd25519 ? .ed25519 : .ecdsaWithSHA256
        )
    }

    /// The policy that trusts only this authority.
    func policy(
        bundleIds: Set<String> = [],
        appAppleId: Int64? = nil,
        environments: Set<StoreEnvironment> = [.production, .sandbox]
    ) throws -> VerificationPolicy {
        VerificationPolicy(
            roots: [try RootCertificate(der: try root.der)],
            bundleIds: bundleIds,
            appAppleId: appAppleId,
            environments: environments
        )
    }

    /// The chain as Apple sends it.
    var chain: [Certificate] { [leaf, intermediate, root] }

    /// A JWS of that payload; by default the header has ES256 and the chain.
    func sign(
        _ payload: String,
        header: String? = nil,
        chain: [Certificate]? = nil
    ) throws -> String {
        let header = try header ?? TestPKI.header(chain ?? self.chain)
        let input = base64URL(Array(header.utf8)) + "." + base64URL(Array(payload.utf8))
        let signature = try leafKey.signature(for: Array(input.utf8)).rawRepresentation
        return input + "." + base64URL(Array(signature))
    }

    static func header(_ chain: [Certificate], algorithm: String = "ES256") throws -> String {
        let x5c = try chain.map { "\"\(Data(try $0.der).base64EncodedString())\"" }
        return "{\"alg\":\"\(algorithm)\",\"x5c\":[\(x5c.joined(separator: ","))]}"
    }

    private static func intermediateExtensions(_ flaws: Flaws) throws -> Certificate.Extensions {
        var extensions = try Certificate.Extensions {
            if flaws.intermediateIsCA {
                Critical(
                    BasicConstraints.isCertificateAuthority(
                        maxPathLength: flaws.intermediatePathLength
                    )
                )
            } else {
                Critical(BasicConstraints.notCertificateAuthority)
            }
            Critical(KeyUsage(digitalSignature: true, keyCertSign: flaws.intermediateMayIssue))
            SubjectKeyIdentifier(keyIdentifier: [9, 9, 9])
        }
        if flaws.hasIntermediateMarker {
            try extensions.append(marker(SigningChain.intermediateMarker))
        }
        return extensions
    }

    private static func leafExtensions(_ flaws: Flaws) throws -> Certificate.Extensions {
        var extensions = try Certificate.Extensions {
            if flaws.leafIsCA {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
            } else {
                Critical(BasicConstraints.notCertificateAuthority)
            }
            Critical(KeyUsage(digitalSignature: flaws.leafMaySign, keyAgreement: true))
            if flaws.leafNamesOtherKey {
                AuthorityKeyIdentifier(keyIdentifier: [1, 2, 3])
            }
        }
        if flaws.hasLeafMarker { try extensions.append(marker(SigningChain.leafMarker)) }
        if flaws.leafHasUnknownCriticalExtension {
            try extensions.append(
                Certificate.Extension(oid: [1, 2, 3, 4], critical: true, value: [0x05, 0x00])
            )
        }
        return extensions
    }

    private static func marker(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: oid, critical: false, value: [0x05, 0x00])
    }

    static func certificate(
        subject: DistinguishedName,
        key: Certificate.PublicKey,
        issuer: DistinguishedName,
        issuerKey: Certificate.PrivateKey,
        extensions: Certificate.Extensions,
        from: String = "2015-01-01T00:00:00Z",
        to: String = "2040-01-01T00:00:00Z",
        algorithm: Certificate.SignatureAlgorithm = .ecdsaWithSHA256
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key,
            notValidBefore: try Date(from, strategy: .iso8601),
            notValidAfter: try Date(to, strategy: .iso8601),
            issuer: issuer,
            subject: subject,
            signatureAlgorithm: algorithm,
            extensions: extensions,
            issuerPrivateKey: issuerKey
        )
    }
}

extension Certificate {
    var der: [UInt8] {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(self)
            return serializer.serializedBytes
        }
    }
}

func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}
