import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Postgres
import Subledger

/// What is trusted and accepted.
struct TrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also trust this root certificate (DER or PEM); repeat for more.",
            discussion: "Apple's roots are built in.",
            valueName: "file"
        )
    )
    var rootCertificate: [String] = []

    @Option(help: "Accept only this app's payloads; repeat for more. Default: any app.")
    var bundleId: [String] = []

    @Option(help: "Require this App Store app id in production notifications.")
    var appAppleId: Int64?

    @Option(
        name: .customLong("environment"),
        help: "Accept this environment; repeat for more. Default: Production and Sandbox."
    )
    var environments: [String] = []

    @Option(
        help:
            "The environment of payloads that name none (iOS 6, JWS before 2022-02-24)."
    )
    var assumeEnvironment: String?

    @Option(
        help: ArgumentHelp(
            "File with the shared secrets, which prove version 1 notifications.",
            discussion: """
                One secret on each line: the current and earlier ones of every app. Default: the \
                environment variable SUBLEDGER_SHARED_SECRET, if set, in the same form.
                """,
            valueName: "file"
        )
    )
    var sharedSecretFile: String?

    func validate() throws {
        for word in environments + [assumeEnvironment].compactMap({ $0 }) {
            _ = try TrustOptions.environment(word)
        }
    }

    /// Whether no option was given.
    var areDefaults: Bool {
        rootCertificate.isEmpty && bundleId.isEmpty && appAppleId == nil && environments.isEmpty
            && assumeEnvironment == nil && sharedSecretFile == nil
    }

    /// The policy these options make.
    func policy() throws -> VerificationPolicy {
        var policy = VerificationPolicy()
        policy.roots += try TrustOptions.roots(in: rootCertificate)
        policy.sharedSecrets = try sharedSecrets()
        policy.bundleIds = Set(bundleId)
        policy.appAppleId = appAppleId
        policy.assumedEnvironment = try assumeEnvironment.map(TrustOptions.environment)
        if !environments.isEmpty {
            policy.environments = Set(try environments.map(TrustOptions.environment))
        }
        return policy
    }

    /// The most bytes of a certificate or a secret that are read; either has a few thousand.
    private static let fileByteCountMax = 1 << 20

    /// The certificates in these files.
    static func roots(in paths: [String]) throws -> [RootCertificate] {
        var roots: [RootCertificate] = []
        for path in paths {
            let bytes = try WholeFile.bytes(
                of: path,
                "the root certificate",
                upTo: fileByteCountMax
            )
            do throws(Rejection) {
                roots += try RootCertificate.read(bytes)
            } catch {
                throw Failure(Exit.configuration, "\(path): \(error.message)")
            }
        }
        return roots
    }

    // Apple's words in any letter case.
    static func environment(_ word: String) throws -> StoreEnvironment {
        guard let found = knownEnvironment(word) else {
            throw ValidationError(
                "invalid environment '\(word)'; expected "
                    + StoreEnvironment.named.map(\.word).joined(separator: ", ")
            )
        }
        return found
    }

    /// The environment for one of Apple's words in any letter case; nil for another word.
    static func knownEnvironment(_ word: String) -> StoreEnvironment? {
        let found = StoreEnvironment.inAnyCase(word)
        return StoreEnvironment.named.contains(found) ? found : nil
    }

    private func sharedSecrets() throws -> [String] {
        guard let path = sharedSecretFile else {
            let text = ProcessEnvironment.variables["SUBLEDGER_SHARED_SECRET"] ?? ""
            return TrustOptions.secrets(in: text)
        }
        let bytes = try WholeFile.bytes(
            of: path,
            "the file of shared secrets",
            upTo: Self.fileByteCountMax
        )
        let secrets = TrustOptions.secrets(in: String(decoding: bytes, as: UTF8.self))
        guard !secrets.isEmpty else {
            throw Failure(Exit.configuration, "the file of shared secrets \(path) is empty")
        }
        return secrets
    }

    // One on each line, without the white space around it.
    private static func secrets(in text: String) -> [String] {
        text.components(separatedBy: .newlines)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}
