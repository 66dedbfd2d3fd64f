import Crypto
import Events
import SwiftASN1
import X509

extension SigningChain {
    /// Finds the certificate of a receipt's signer and judges its chain; the date is judged later.
    ///
    /// The root need not be embedded, and an embedded one is not trusted for that (Apple's data:
    /// app receipts).
    init(_ message: SignedData, roots: [RootCertificate]) throws(Rejection) {
        var embedded: [(der: [UInt8], certificate: Certificate)] = []
        for der in message.certificates {
            let der = Array(der)
            let what = "A certificate in the app receipt"
            embedded.append((der, try SigningChain.certificate(der, what)))
        }
        guard let signer = embedded.first(where: { message.signer.names($0.certificate) }) else {
            throw Rejection(
                .receiptSignerMissing,
                "None of the \(embedded.count) certificates in the app receipt belongs to the "
                    + "signer."
            )
        }

        let leaf = signer.certificate
        if let local = try SigningChain(local: leaf, der: signer.der, roots: roots) {
            self = local
            return
        }
        let issuers = embedded.filter {
            $0.der != signer.der && $0.certificate.subject == leaf.issuer
        }
        guard !issuers.isEmpty || leaf.issuer == leaf.subject else {
            throw Rejection(
                .receiptIssuerMissing,
                "The app receipt does not contain the certificate of \"\(leaf.issuer)\", which"
                    + " issued the signer's certificate."
            )
        }

        let what = "The app receipt's certificate chain"
        var failure: Rejection?
        for issuer in issuers.map(\.certificate) {
            for root in roots where root.certificate.subject == issuer.issuer {
                do throws(Rejection) {
                    try self.init(
                        leaf: leaf,
                        intermediate: issuer,
                        root: root,
                        signedWith: CertificateRules.receiptAlgorithms
                    )
                    return
                } catch {
                    failure = failure ?? error
                }
            }
            failure = failure ?? SigningChain.untrusted(what, at: issuer.issuer, roots)
        }
        throw failure ?? SigningChain.untrusted(what, at: leaf.issuer, roots)
    }

    /// The kind of the leaf's key; refuses one that signs no app receipts.
    func keyKindOfReceipt() throws(Rejection) -> SignatureAlgorithm.Key {
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
