import Crypto
import Events
import Foundation
import SwiftASN1
import X509

/// A chain of certificates that ends at a pinned root: the key it vouches for, and when it is valid.
struct SigningChain: Sendable {
    /// The leaf's key.
    let key: Certificate.PublicKey
    /// First and last second in which every certificate of the chain is valid.
    let validFrom: Instant
    let validTo: Instant
    /// The fingerprint of the pinned root.
    let root: Events.Digest
    /// Whether a root signed it without an intermediate authority, as Xcode's does, which must not
    /// sign for the App Store.
    let isLocal: Bool

    /// Marks the leaf as one for signing receipts and JWS (Apple's data: JWS verification).
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    /// Marks the intermediate as Apple's Worldwide Developer Relations authority.
    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]

    /// Judges Apple's chain of three; the date is judged later.
    ///
    /// The algorithms are those accepted for the signatures of leaf and intermediate.
    init(
        leaf: Certificate,
        intermediate: Certificate,
        root: RootCertificate,
        signedWith algorithms: [Certificate.SignatureAlgorithm]
    ) throws(Rejection) {
        try CertificateRules.check(
            intermediate,
            "intermediate",
            isIssuedBy: root.certificate,
            signedWith: algorithms
        )
        try CertificateRules.checkIssuer(root.certificate, "root", certificatesBelow: 1)
        try CertificateRules.check(
            leaf,
            "leaf",
            isIssuedBy: intermediate,
            signedWith: algorithms
        )
        try CertificateRules.checkIssuer(intermediate, "intermediate", certificatesBelow: 0)
        try CertificateRules.checkLeaf(leaf)
        try SigningChain.checkMarkers(leaf: leaf, intermediate: intermediate)
        self.init([leaf, intermediate, root.certificate], root: root.digest, isLocal: false)
    }

    /// Judges a certificate that no intermediate authority issued; nil if no root vouches for it.
    ///
    /// Xcode signs with a self-made certificate. Only the operator can vouch for it, by giving that
    /// certificate, or the one that issued it, as a root.
    init?(
        local certificate: Certificate,
        der: [UInt8],
        roots: [RootCertificate]
    ) throws(Rejection) {
        if let root = roots.first(where: { $0.der == der }) {
            self.init([certificate], root: root.digest, isLocal: true)
            return
        }
        let issuer = roots.first { root in
            root.certificate.subject == certificate.issuer
                && root.certificate.publicKey.isValidSignature(
                    certificate.signature,
                    for: certificate
                )
        }
        guard let issuer else { return nil }
        try CertificateRules.check(certificate, "leaf", isIssuedBy: issuer.certificate)
        try CertificateRules.checkIssuer(issuer.certificate, "root", certificatesBelow: 0)
        self.init([certificate, issuer.certificate], root: issuer.digest, isLocal: true)
    }

    // Of at least one certificate, the leaf first.
    private init(_ certificates: [Certificate], root: Events.Digest, isLocal: Bool) {
        key = certificates[0].publicKey
        self.root = root
        self.isLocal = isLocal
        validFrom = Instant(certificates.map(\.notValidBefore).max() ?? .distantFuture)
        validTo = Instant(certificates.map(\.notValidAfter).min() ?? .distantPast)
    }

    /// Refuses what was signed outside the certificates' validity.
    ///
    /// The date is cut to whole seconds, the precision of certificates.
    func checkValidity(of name: String, at instant: Instant) throws(Rejection) {
        let second = instant.flooredToSecond
        guard validFrom <= second, second <= validTo else {
            throw Rejection(
                .certificateExpired,
                "The \(name) is of \(second), but its certificates are valid together only from"
                    + " \(validFrom) to \(validTo)."
            )
        }
    }

    /// Refuses certificates without the marks that distinguish Apple's own from developers'.
    private static func checkMarkers(
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
}

extension SigningChain {
    /// Number of certificates in Apple's `x5c`: leaf, intermediate, root.
    private static let certificateCount = 3

    /// Judges the certificates of a header against the pinned roots; the date is judged later.
    init(_ header: JWSHeader, roots: [RootCertificate]) throws(Rejection) {
        let certificates = header.certificates
        if certificates.count == 1 {
            // Xcode sends no chain.
            let leaf = try SigningChain.certificate(certificates[0], inX5C: "leaf")
            guard let local = try SigningChain(local: leaf, der: certificates[0], roots: roots)
            else {
                throw Rejection.xcodeSigned(
                    "Its only certificate is not one of the given roots; to accept it, allow the"
                        + " environment Xcode and add that certificate as a root."
                )
            }
            self = local
            return
        }

        guard certificates.count == SigningChain.certificateCount else {
            throw Rejection(
                .chainLength,
                "The JWS has \(certificates.count) certificates in x5c; Apple sends three."
            )
        }
        try self.init(
            leaf: try SigningChain.certificate(certificates[0], inX5C: "leaf"),
            intermediate: try SigningChain.certificate(certificates[1], inX5C: "intermediate"),
            root: try SigningChain.anchor(
                certificates[2],
                roots: roots,
                isXcode: header.keyId == JWSHeader.xcodeKeyId
            ),
            signedWith: CertificateRules.strongAlgorithms
        )
    }

    /// The leaf's key for ES256; refuses a chain whose leaf has another.
    func keyOfJWS() throws(Rejection) -> P256.Signing.PublicKey {
        guard let key = P256.Signing.PublicKey(key) else {
            throw Rejection(
                .leafKeyUnsupported,
                "The leaf certificate's key is not on P-256, which ES256 requires."
            )
        }
        return key
    }

    private static func certificate(
        _ der: [UInt8],
        inX5C role: String
    ) throws(Rejection) -> Certificate {
        try certificate(der, "The \(role) certificate in x5c")
    }

    /// The certificate that some bytes encode; `what` names it at the start of a sentence.
    static func certificate(_ der: [UInt8], _ what: String) throws(Rejection) -> Certificate {
        do {
            return try Certificate(derEncoded: der)
        } catch {
            throw Rejection(.certificateMalformed, "\(what) is not X.509 DER.")
        }
    }

    /// The rejection of a chain that ends at that name; `chain` names it.
    static func untrusted(
        _ chain: String,
        at name: DistinguishedName,
        _ roots: [RootCertificate]
    ) -> Rejection {
        Rejection(
            .chainUntrusted,
            "\(chain) ends at \"\(name)\", which is not one of the \(roots.count) pinned roots."
        )
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
        let claimed = try certificate(der, inX5C: "root")
        if let root = roots.first(where: {
            $0.certificate.subject == claimed.subject
                && $0.certificate.publicKey == claimed.publicKey
        }) {
            return root
        }
        if isXcode {
            throw Rejection.xcodeSigned("Its chain does not end at a given root.")
        }
        throw untrusted("The certificate chain", at: claimed.subject, roots)
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
