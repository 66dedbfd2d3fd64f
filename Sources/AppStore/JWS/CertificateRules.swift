import SwiftASN1
import X509

/// What RFC 5280 §6 requires of a chain as short as Apple's, without a path search.
///
/// Names, signatures, certification authority, path length, key usage and critical extensions are
/// checked here; validity and Apple's markers by `SigningChain`.
enum CertificateRules {
    /// Refuses a certificate that the issuer did not sign, or that must not be used.
    ///
    /// The algorithms are those accepted for the issuer's signature.
    static func check(
        _ certificate: Certificate,
        _ role: String,
        isIssuedBy issuer: Certificate,
        signedWith algorithms: [Certificate.SignatureAlgorithm] = strongAlgorithms
    ) throws(Rejection) {
        try checkUsable(certificate, role, signedWith: algorithms)
        guard certificate.issuer == issuer.subject else {
            throw Rejection(
                .chainBroken,
                "The \(role) certificate names \"\(certificate.issuer)\" as its issuer, but the"
                    + " next in the chain is \"\(issuer.subject)\"."
            )
        }
        guard issuer.publicKey.isValidSignature(certificate.signature, for: certificate) else {
            let what = "was not signed by the next certificate of the chain."
            throw refusal(.chainBroken, role, what)
        }
        let named = try parsed(role) { try certificate.extensions.authorityKeyIdentifier }
        let given = try parsed(role) { try issuer.extensions.subjectKeyIdentifier }
        if let named = named?.keyIdentifier, let given, named != given.keyIdentifier {
            throw refusal(.chainBroken, role, "names another key than its issuer's key.")
        }
    }

    /// Refuses an issuer that must not issue, or not with that many authorities below it.
    static func checkIssuer(
        _ issuer: Certificate,
        _ role: String,
        certificatesBelow: Int
    ) throws(Rejection) {
        // A version 1 certificate cannot state that it is an authority. For a root, the operator's
        // trust is enough; an intermediate must state it.
        if role == "root", issuer.version == .v1 { return }
        let constraints = try parsed(role) { try issuer.extensions.basicConstraints }
        guard case .isCertificateAuthority(let pathLength) = constraints else {
            throw refusal(.issuerNotCA, role, "is not a certification authority.")
        }
        if let pathLength, pathLength < certificatesBelow {
            throw Rejection(
                .issuerNotCA,
                "The \(role) certificate allows \(pathLength) authorities below it; there is "
                    + "\(certificatesBelow)."
            )
        }
        let usage = try parsed(role) { try issuer.extensions.keyUsage }
        if let usage, !usage.keyCertSign {
            throw Rejection(
                .issuerNotCA,
                "The \(role) certificate's key may not sign certificates."
            )
        }
    }

    /// Refuses a leaf that is an authority itself, or whose key may not sign data.
    static func checkLeaf(_ leaf: Certificate) throws(Rejection) {
        let constraints = try parsed("leaf") { try leaf.extensions.basicConstraints }
        if case .isCertificateAuthority = constraints {
            throw refusal(.certificateUnacceptable, "leaf", "is a certification authority.")
        }
        let usage = try parsed("leaf") { try leaf.extensions.keyUsage }
        if let usage, !usage.digitalSignature {
            throw Rejection(
                .certificateUnacceptable,
                "The leaf certificate's key may not sign data."
            )
        }
    }

    private static let understoodExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage,
        SigningChain.leafMarker, SigningChain.intermediateMarker,
    ]

    /// SHA-1 and MD5 signatures can be forged; Apple signs JWS chains with SHA-256 and SHA-384.
    static let strongAlgorithms: [Certificate.SignatureAlgorithm] = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512,
        .sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption,
    ]

    /// Until 2023 the certificates of app receipts were signed with SHA-1
    /// (Apple's data: app receipts).
    static let receiptAlgorithms = strongAlgorithms + [.sha1WithRSAEncryption]

    private static func checkUsable(
        _ certificate: Certificate,
        _ role: String,
        signedWith algorithms: [Certificate.SignatureAlgorithm]
    ) throws(Rejection) {
        guard certificate.version == .v3 else {
            throw refusal(.certificateUnacceptable, role, "is not of X.509 version 3.")
        }
        guard algorithms.contains(certificate.signatureAlgorithm) else {
            throw Rejection(
                .certificateUnacceptable,
                "The \(role) certificate is signed with \(certificate.signatureAlgorithm);"
                    + " SHA-256 or stronger is expected."
            )
        }
        for found in certificate.extensions
        where found.critical && !understoodExtensions.contains(found.oid) {
            let what = "has the unknown critical extension \(found.oid)."
            throw refusal(.certificateUnacceptable, role, what)
        }
    }

    private static func refusal(
        _ code: Rejection.Code,
        _ role: String,
        _ what: String
    ) -> Rejection {
        Rejection(code, "The \(role) certificate \(what)")
    }

    private static func parsed<Value>(
        _ role: String,
        _ read: () throws -> Value
    ) throws(Rejection) -> Value {
        do {
            return try read()
        } catch {
            throw Rejection(
                .certificateMalformed,
                "An extension of the \(role) certificate cannot be read."
            )
        }
    }
}
