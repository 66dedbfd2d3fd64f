internal import Foundation
public import Logging
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// A certificate chain and its key, in PEM files that are read again when they change.
///
/// New connections use the current files. If the files cannot be used, for example because the key
/// of a new certificate is not there yet, the previous certificate stays in force.
public final class TLSFiles: Sendable {
    private let certificatePath: String
    private let keyPath: String
    private let logger: Logger
    private let state: Mutex<State>

    private struct State {
        var stamps: [Stamp]
        var pair: Pair
    }

    private struct Pair {
        let chain: [NIOSSLCertificateSource]
        let key: NIOSSLPrivateKeySource
    }

    /// What changes with a file.
    private struct Stamp: Equatable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int

        init(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else {
                (inode, size, seconds, nanoseconds) = (0, 0, 0, 0)
                return
            }
            #if canImport(Darwin)
            let time = status.st_mtimespec
            #else
            let time = status.st_mtim
            #endif
            (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
            (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec))
        }
    }

    /// Reads both files.
    ///
    /// - Parameters:
    ///   - certificate: The path of the chain, leaf first.
    ///   - key: The path of the leaf's private key.
    ///   - logger: Logs later changes.
    /// - Throws: `TLSFilesError` if one cannot be read, or they do not match.
    public init(certificate: String, key: String, logger: Logger) throws(TLSFilesError) {
        (certificatePath, keyPath) = (certificate, key)
        self.logger = logger
        let stamps = [Stamp(certificate), Stamp(key)]
        state = Mutex(State(stamps: stamps, pair: try TLSFiles.read(certificate, key)))
    }

    /// The server's initial configuration; each connection checks for a newer one.
    var configuration: TLSConfiguration {
        let pair = state.withLock { $0.pair }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: pair.chain,
            privateKey: pair.key
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.sslContextCallback = { [self] _, promise in
            // Not on the thread of the handshake: BoringSSL's errors there about files that it
            // refuses would be taken for a failure of the handshake.
            promise.completeWithTask { [self] in
                let pair = newest()
                var override = NIOSSLContextConfigurationOverride()
                override.certificateChain = pair.chain
                override.privateKey = pair.key
                return override
            }
        }
        return configuration
    }

    /// Reads the files now if they have changed, so that a fault in them is logged before the next
    /// connection.
    public func reload() { _ = newest() }

    private func newest() -> Pair {
        let stamps = [Stamp(certificatePath), Stamp(keyPath)]
        return state.withLock { state in
            guard stamps != state.stamps else { return state.pair }
            state.stamps = stamps
            do throws(TLSFilesError) {
                state.pair = try TLSFiles.read(certificatePath, keyPath)
                logger.notice("the TLS certificate changed and is in force")
            } catch {
                logger.error("the TLS files changed and cannot be used: \(error)")
            }
            return state.pair
        }
    }

    private static func read(_ certificate: String, _ key: String) throws(TLSFilesError) -> Pair {
        for path in [certificate, key] {
            guard access(path, R_OK) != 0 else { continue }
            throw TLSFilesError(
                description: "\(path) cannot be read: \(String(cString: strerror(errno)))"
            )
        }

        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate)
            guard !chain.isEmpty else {
                throw TLSFilesError(description: "\(certificate) contains no PEM certificate")
            }
            let pair = Pair(
                chain: chain.map { .certificate($0) },
                key: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
            )
            // Refuses a key of another certificate.
            _ = try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: pair.chain,
                    privateKey: pair.key
                )
            )
            return pair
        } catch let error as TLSFilesError {
            throw error
        } catch {
            throw TLSFilesError(
                description: "the certificate \(certificate) and the key \(key) cannot be used "
                    + "(\(error)); expected PEM files that match"
            )
        }
    }
}

/// The files of a TLS certificate cannot be used.
public struct TLSFilesError: Error, CustomStringConvertible {
    /// Which file, and why; safe to log.
    public let description: String
}
