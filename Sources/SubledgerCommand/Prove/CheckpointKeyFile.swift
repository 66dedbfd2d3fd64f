import CommandSupport
import Events
import Foundation

/// Reads the keys of checkpoints from files; no message ever contains a part of a key file.
enum CheckpointKeyFile {
    /// The private key in a PEM file that no other user may read.
    static func privateKey(_ path: String) throws -> CheckpointPrivateKey {
        let text = try PrivateKeyFile.text(path)
        if text.contains("ENCRYPTED") {
            throw Failure(
                Exit.configuration,
                "the key \(path) is encrypted; decrypt it first: openssl pkey -in \(path) -out FILE"
            )
        }
        guard let key = CheckpointPrivateKey(pem: text) else {
            throw Failure(
                Exit.configuration,
                "\(path) is not a P-256 private key in PEM (PKCS #8 or SEC 1); create one: "
                    + "(umask 077; openssl genpkey -algorithm EC -pkeyopt "
                    + "ec_paramgen_curve:P-256 -out FILE)"
            )
        }
        return key
    }

    /// The public key in a PEM or DER file.
    static func publicKey(_ path: String) throws -> CheckpointPublicKey {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw PrivateKeyFile.unreadable(path, errno)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard
            let key = CheckpointPublicKey(pem: text) ?? CheckpointPublicKey(der: Array(bytes))
        else {
            throw Failure(
                Exit.configuration,
                "\(path) is not a P-256 public key in PEM or DER; to print the public key of a "
                    + "private key: subledger checkpoint --key FILE --public-key"
            )
        }
        return key
    }
}
