import Crypto
import Events
import Foundation
import SwiftASN1
import X509

/// A chain that ends at a pinned root: the key it vouches for, and when it is valid.
struct SigningChain: Sendable {
    /// The leaf's key.
    let key: P256.Signing.PublicKey
    /// First and last second in which every certificate of the chain is valid.
    let validFrom: Instant
    let validTo: Instant
    /// The fingerprint of the pinned root.
    let root: Events.Digest
    /// Whether it is Xcode's chain of one certificate, which must not sign for the App Store.
    let isLocal: Bool

    /// Number of certificates in Apple's `x5c`: leaf, intermediate, root.
    static let certificateCount = 3
    /// Marks the leaf as one for signing receipts and JWS (Apple's data: JWS verification).
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// Marks the intermediate as Apple's Worldwide Developer Relations authority.
    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

    /// Judges the certificates of a header against the pinned roots; the date is judged later.
    init(_ header: JWSHeader, roots: [RootCertificate]) throws(Rejection) {
        if header.certificates.count == 1 {
            try self.init(single: header.certificates[0], roots: roots)
            return
        }
        guard header.certificates.count == SigningChain.certificateCount else {
            throw Rejection(
                .chainLength,
                "The JWS has \(header.certificates.count) certificates in x5c; Apple sends three."
            )
        }
        let leaf = try SigningChain.certificate(header.certificates[0], "leaf")
        let intermediate = try SigningChain.certificate(header.certificates[1], "intermediate")
        let root = try SigningChain.anchor(
            header.certificates[2],
            roots: roots,
            isXcode: header.keyId == JWSHeader.xcodeKeyId
        )
        try CertificateRules.check(intermediate, "intermediate", isIssuedBy: root.certificate)
        try CertificateRules.checkIssuer(root.certificate, "root", certificatesBelow: 1)
        try CertificateRules.check(leaf, "leaf", isIssuedBy: intermediate)
        try CertificateRules.checkIssuer(intermediate, "intermediate", certificatesBelow: 0)
        try CertificateRules.checkLeaf(leaf)
        try SigningChain.checkMarkers(leaf: leaf, intermediate: intermediate)
        try self.init(
            [leaf, intermediate, root.certificate],
            root: root.digest,
            isLocal: false
        )
    }

    // Xcode signs with a self-made certificate and sends no chain. Only the operator can vouch
    // for it, by giving that certificate, or the one that issued it, as a root.
    private init(single der: [UInt8], roots: [RootCertificate]) throws(Rejection) {
        let certificate = try SigningChain.certificate(der, "leaf")
        if let root = roots.first(where: { $0.der == der }) {
            try self.init([certificate], root: root.digest, isLocal: true)
            return
        }
        let issuers = roots.filter { $0.certificate.subject == certificate.issuer }
        for root in issuers
        where root.certificate.publicKey.isValidSignature(certificate.signature, for: certificate) {
            try CertificateRules.check(certificate, "leaf", isIssuedBy: root.certificate)
            try CertificateRules.checkIssuer(root.certificate, "root", certificatesBelow: 0)
            try self.init([certificate, root.certificate], root: root.digest, isLocal: true)
            return
        }
        throw Rejection.xcodeSigned(
            "Its only certificate is not one of the given roots; to accept it, allow the"
                + " environment Xcode and add that certificate as a root."
        )
    }

    private init(
        _ certificates: [Certificate],
        root: Events.Digest,
        isLocal: Bool
    ) throws(Rejection) {
        guard let leaf = certificates.first, let key = P256.Signing.PublicKey(leaf.publicKey) else {
            throw Rejection(
                .leafKeyUnsupported,
                "The leaf certificate's key is not on P-256, which ES256 requires."
            )
        }
        self.key = key
        self.root = root
        self.isLocal = isLocal
        validFrom = Instant(certificates.map(\.notValidBefore).max() ?? .distantFuture)
        validTo = Instant(certificates.map(\.notValidAfter).min() ?? .distantPast)
    }

    /// Refuses a payload that was signed outside the certificates' validity.
    ///
    /// The date is cut to whole seconds, the precision of certificates.
    func checkValidity(at instant: Instant) throws(Rejection) {
        let second = instant.flooredToSecond
        guard validFrom <= second, second <= validTo else {
            throw Rejection(
                .certificateExpired,
                "The payload is of \(second), but its certificates are valid together only from"
                    + " \(validFrom) to \(validTo)."
            )
        }
    }

    /// Refuses certificates without the marks that distinguish Apple's own from developers'.
    static func checkMarkers(
        leaf: Certificate,
        intermediate: Certificate
    ) throws(Rejection) {
        guard leaf.extensions[oid: SigningChain.leafMarker] != nil else {
            throw Rejection(
                .leafOIDMissing,
                "The leaf certificate lacks the extension \(SigningChain.leafMarker): it was not"
                    + " issued for signing App Store data."
            )
        }
        guard intermediate.extensions[oid: SigningChain.intermediateMarker] != nil else {
            throw Rejection(
                .intermediateOIDMissing,
                "The intermediate certificate lacks the extension"
                    + " \(SigningChain.intermediateMarker): it is not Apple's WWDR authority."
            )
        }
    }

    private static func certificate(
        _ der: [UInt8],
        _ role: String
    ) throws(Rejection) -> Certificate {
        do {
            return try Certificate(derEncoded: der)
        } catch {
            throw Rejection(
                .certificateMalformed,
                "The \(role) certificate in x5c is not X.509 DER."
            )
        }
    }

    // The third element only names the root; the pinned certificate is what counts. A certificate
    // with the same key and name in another encoding (Apple's test authority has two) is the same
    // root.
    private static func anchor(
        _ der: [UInt8],
        roots: [RootCertificate],
        isXcode: Bool
    ) throws(Rejection) -> RootCertificate {
        if let root = roots.first(where: { $0.der == der }) { return root }
        let claimed = try certificate(der, "root")
        if let root = roots.first(where: {
            $0.certificate.subject == claimed.subject
                && $0.certificate.publicKey == claimed.publicKey
        }) {
            return root
        }
        if isXcode {
            throw Rejection.xcodeSigned("Its chain does not end at a given root.")
        }
        throw Rejection(
            .chainUntrusted,
            "The certificate chain ends at \"\(claimed.subject)\", which is not one of the"
                + " \(roots.count) pinned roots."
        )
    }
}

extension Rejection {
    static func xcodeSigned(_ why: String) -> Rejection {
        Rejection(
            .xcodeSigned,
            "The payload was signed by Xcode on a developer's machine. \(why)"
        )
    }
}

extension Instant {
    init(_ date: Date) {
        self.init(milliseconds: Int64(date.timeIntervalSince1970.rounded(.down)) * 1000)
    }
}
