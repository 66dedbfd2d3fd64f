internal import Crypto
internal import FoundationEssentials
internal import SwiftASN1
internal import X509

/// Lets swift-certificates issue certificates whose signatures are the same bytes every time.
extension DeterministicSigningKey: CustomPrivateKey {
    /// Thrown when a certificate is to be signed with anything except ECDSA over SHA-256.
    struct UnsupportedAlgorithm: Error {
        let algorithm: Certificate.SignatureAlgorithm
    }

    static var defaultPEMDiscriminator: String { "PRIVATE KEY" }

    var publicKey: Certificate.PublicKey { Certificate.PublicKey(privateKey.publicKey) }
    var defaultSignatureAlgorithm: Certificate.SignatureAlgorithm { .ecdsaWithSHA256 }
    var supportedSignatureAlgorithms: [Certificate.SignatureAlgorithm] { [.ecdsaWithSHA256] }

    func signSynchronously(
        bytes: some DataProtocol,
        signatureAlgorithm: Certificate.SignatureAlgorithm
    ) throws -> Certificate.Signature {
        guard signatureAlgorithm == .ecdsaWithSHA256 else {
            throw UnsupportedAlgorithm(algorithm: signatureAlgorithm)
        }
        let raw = signature(for: SHA256.hash(data: bytes))
        let der = try P256.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
        return try Certificate.Signature(
            signatureAlgorithm: signatureAlgorithm,
            signatureBytes: ASN1BitString(bytes: ArraySlice(der))
        )
    }

    func serialize(into coder: inout DER.Serializer) throws {
        coder.serializeRawBytes(privateKey.derRepresentation)
    }

    static func == (left: Self, right: Self) -> Bool {
        left.privateKey.rawRepresentation == right.privateKey.rawRepresentation
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(privateKey.rawRepresentation)
    }
}
