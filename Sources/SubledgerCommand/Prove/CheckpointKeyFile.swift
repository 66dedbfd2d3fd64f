import CommandSupport
import Events
import Foundation

/// Reads the keys of checkpoints from files; no message ever contains a part of a key file.
enum CheckpointKeyFile {
    /// Largest file that is read: a key has some three hundred bytes.
    private static let bytesMax = 64 << 10

    /// The private key in a PEM file that nobody else may read.
    static func privateKey(_ path: String) throws -> CheckpointPrivateKey {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path, errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw unreadable(path, errno) }
        // As libpq wants it: one's own file for nobody else, or root's for its group.
        let allowed: mode_t = status.st_uid == 0 && geteuid() != 0 ? 0o640 : 0o600
        guard status.st_mode & 0o777 & ~(allowed | 0o100) == 0 else {
            throw Failure(
                Exit.configuration,
                "the key file \(path) can be read or changed by other users (mode "
                    + "\(String(status.st_mode & 0o777, radix: 8))); run chmod 600 \(path)"
            )
        }
        let text = try text(path, file)
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
            throw unreadable(path, errno)
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

    private static func text(_ path: String, _ file: Int32) throws -> String {
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var count = 0
        while count < bytesMax {
            let more = bytes.withUnsafeMutableBytes {
                read(file, $0.baseAddress?.advanced(by: count), bytesMax - count)
            }
            guard more >= 0 else { throw unreadable(path, errno) }
            guard more > 0 else { break }
            count += more
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func unreadable(_ path: String, _ number: Int32) -> Failure {
        Failure(
            Exit.inputMissing,
            "cannot read the key file \(path): \(String(cString: strerror(number)))"
        )
    }
}
