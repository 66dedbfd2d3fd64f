public import Events
import SwiftASN1
import X509

/// A certificate that the operator trusts: where every accepted chain must end.
public struct RootCertificate: Sendable {
    /// The certificate, as X.509 DER.
    public let der: [UInt8]
    /// The SHA-256 of the DER: the certificate's usual fingerprint.
    package let digest: Digest

    let certificate: Certificate

    /// The owner: the certificate's subject, as `CN=Apple Root CA - G3,OU=…`.
    public var subject: String { "\(certificate.subject)" }

    /// The first instant at which it is valid.
    public var validFrom: Instant { Instant(certificate.notValidBefore) }

    /// The last instant at which it is valid: anything signed later is refused.
    public var validTo: Instant { Instant(certificate.notValidAfter) }

    /// Largest certificate file that is read, in bytes: a bundle of Apple's roots has five
    /// thousand.
    public static let fileByteCountMax = 1 << 16

    /// Reads one certificate.
    ///
    /// Throws `root-certificate-malformed` unless the bytes are the DER of one X.509 certificate.
    public init(der: [UInt8]) throws(Rejection) {
        do {
            certificate = try Certificate(derEncoded: der)
        } catch {
            throw Rejection(
                .rootCertificateMalformed,
                "The root certificate is not X.509 DER (\(der.count) bytes). Pass the .cer or .pem"
                    + " file that Apple or your test authority publishes."
            )
        }
        self.der = der
        digest = Digest.of(der)
    }

    /// The built-in roots: Apple Root CA - G3, Apple Root CA - G2, Apple Root CA.
    public static let apple: [RootCertificate] = AppleRoots.base64.map { text in
        guard let der = Base64.decodeStandard(Array(text.utf8)[...]) else {
            preconditionFailure("A built-in root certificate is not base64.")
        }
        do {
            return try RootCertificate(der: der)
        } catch {
            preconditionFailure("A built-in root certificate cannot be read: \(error)")
        }
    }

    /// Reads the content of a certificate file: DER, or PEM with one or more certificates.
    ///
    /// Throws `root-certificate-malformed` if it holds none.
    public static func read(_ file: [UInt8]) throws(Rejection) -> [RootCertificate] {
        guard let text = String(validating: file, as: UTF8.self), text.contains("-----BEGIN ")
        else { return [try RootCertificate(der: file)] }
        let documents: [PEMDocument]
        do {
            documents = try PEMDocument.parseMultiple(pemString: text)
        } catch {
            throw Rejection(
                .rootCertificateMalformed,
                "The root certificate file looks like PEM but cannot be read as PEM."
            )
        }
        var roots: [RootCertificate] = []
        for document in documents where document.discriminator == "CERTIFICATE" {
            roots.append(try RootCertificate(der: document.derBytes))
        }
        guard !roots.isEmpty else {
            throw Rejection(
                .rootCertificateMalformed,
                "The PEM file contains no CERTIFICATE block. Pass the root's certificate, not a "
                    + "key."
            )
        }
        return roots
    }
}
