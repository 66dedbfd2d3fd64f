import Crypto
import Events
import Foundation
import SwiftASN1
import X509

/// The signer of a receipt, with a certificate chain that ends at a pinned root.
struct ReceiptChain: Sendable {
    /// The key the chain vouches for.
    let key: Certificate.PublicKey
    /// The kind of that key.
    let keyKind: SignatureAlgorithm.Key
    /// First and last second in which every certificate of the chain is valid.
    let validFrom: Instant
    let validTo: Instant
    /// The fingerprint of the pinned root.
    let root: Events.Digest
    /// Whether a root signed it without an intermediate authority, as Xcode's does.
    let isLocal: Bool

    /// Finds the signer's certificate and judges its chain; the date is judged later.
    ///
    /// The root need not be embedded, and an embedded one is not trusted for that (Apple's data:
    /// app receipts).
    init(_ message: SignedData, roots: [RootCertificate]) throws(Rejection) {
        var embedded: [(der: [UInt8], certificate: Certificate)] = []
        for der in message.certificates {
            embedded.append((Array(der), try ReceiptChain.certificate(der)))
        }
        guard let signer = embedded.first(where: { message.signer.names($0.certificate) }) else {
            throw Rejection(
                .receiptSignerMissing,
                "None of the \(embedded.count) certificates in the app receipt belongs to the "
                    + "signer."
            )
        }
        let leaf = signer.certificate
        if let root = try ReceiptChain.localRoot(of: leaf, der: signer.der, roots: roots) {
            try self.init([leaf, root.certificate], root: root.digest, isLocal: true)
            return
        }
        let issuers = embedded.filter {
            $0.der != signer.der && $0.certificate.subject == leaf.issuer
        }
        guard !issuers.isEmpty else {
            guard leaf.issuer != leaf.subject else { throw ReceiptChain.untrusted(leaf, roots) }
            throw Rejection(
                .receiptIssuerMissing,
                "The app receipt does not contain the certificate of \"\(leaf.issuer)\", which"
                    + " issued the signer's certificate."
            )
        }
        var failure: Rejection?
        for issuer in issuers {
            do throws(Rejection) {
                try self.init(leaf, issuedBy: issuer.certificate, roots: roots)
                return
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? ReceiptChain.untrusted(leaf, roots)
    }

    private init(
        _ leaf: Certificate,
        issuedBy intermediate: Certificate,
        roots: [RootCertificate]
    ) throws(Rejection) {
        let root = try ReceiptChain.root(of: intermediate, roots: roots)
        try CertificateRules.checkIssuer(root.certificate, "root", certificatesBelow: 1)
        try CertificateRules.check(
            leaf,
            "leaf",
            isIssuedBy: intermediate,
            signedWith: CertificateRules.receiptAlgorithms
        )
        try CertificateRules.checkIssuer(intermediate, "intermediate", certificatesBelow: 0)
        try CertificateRules.checkLeaf(leaf)
        try SigningChain.checkMarkers(leaf: leaf, intermediate: intermediate)
        try self.init(
            [leaf, intermediate, root.certificate],
            root: root.digest,
            isLocal: false
        )
    }

    private init(
        _ certificates: [Certificate],
        root: Events.Digest,
        isLocal: Bool
    ) throws(Rejection) {
        key = certificates[0].publicKey
        keyKind = try ReceiptChain.kind(of: key)
        self.root = root
        self.isLocal = isLocal
        validFrom = Instant(certificates.map(\.notValidBefore).max() ?? .distantFuture)
        validTo = Instant(certificates.map(\.notValidAfter).min() ?? .distantPast)
    }

    /// Refuses a receipt that was made outside the certificates' validity.
    ///
    /// The date is cut to whole seconds, the precision of certificates.
    func checkValidity(at instant: Instant) throws(Rejection) {
        let second = instant.flooredToSecond
        guard validFrom <= second, second <= validTo else {
            throw Rejection(
                .certificateExpired,
                "The app receipt is of \(second), but its certificates are valid together only"
                    + " from \(validFrom) to \(validTo)."
            )
        }
    }
}

extension ReceiptChain {
    private static func certificate(_ der: ArraySlice<UInt8>) throws(Rejection) -> Certificate {
        do {
            return try Certificate(derEncoded: Array(der))
        } catch {
            throw Rejection(
                .certificateMalformed,
                "A certificate in the app receipt is not X.509 DER."
            )
        }
    }

    // Xcode signs with a self-made certificate. Only the operator can vouch for it, by giving that
    // certificate, or the one that issued it, as a root.
    private static func localRoot(
        of leaf: Certificate,
        der: [UInt8],
        roots: [RootCertificate]
    ) throws(Rejection) -> RootCertificate? {
        if let root = roots.first(where: { $0.der == der }) { return root }
        for root in roots
        where root.certificate.subject == leaf.issuer
            && root.certificate.publicKey.isValidSignature(leaf.signature, for: leaf)
        {
            try CertificateRules.check(leaf, "leaf", isIssuedBy: root.certificate)
            try CertificateRules.checkIssuer(root.certificate, "root", certificatesBelow: 0)
            return root
        }
        return nil
    }

    private static func root(
        of intermediate: Certificate,
        roots: [RootCertificate]
    ) throws(Rejection) -> RootCertificate {
        var failure: Rejection?
        for root in roots where root.certificate.subject == intermediate.issuer {
            do throws(Rejection) {
                try CertificateRules.check(
                    intermediate,
                    "intermediate",
                    isIssuedBy: root.certificate,
                    signedWith: CertificateRules.receiptAlgorithms
                )
                return root
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? untrusted(intermediate, roots)
    }

    private static func untrusted(
        _ last: Certificate,
        _ roots: [RootCertificate]
    ) -> Rejection {
        Rejection(
            .chainUntrusted,
            "The app receipt's certificate chain ends at \"\(last.issuer)\", which is not one of"
                + " the \(roots.count) pinned roots."
        )
    }

    private static func kind(
        of key: Certificate.PublicKey
    ) throws(Rejection) -> SignatureAlgorithm.Key {
        if P256.Signing.PublicKey(key) != nil { return .p256 }
        // Of the keys that the library reads, only RSA keys have this description; it reads none
        // shorter than 2048 bits, and Apple's have never been shorter.
        if key.description.hasPrefix("RSA") { return .rsa }
        throw Rejection(
            .leafKeyUnsupported,
            "The key of the app receipt's signer is neither RSA nor on P-256."
        )
    }
}
