import ArgumentParser
import CommandSupport
import Configuration
import Events
import Foundation
import SubledgerAppStore

/// The credentials and hosts for asking Apple.
struct AppleOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The private key: a .p8 file.", valueName: "file"))
    var key: String?

    @Option(help: "The id of the key, as App Store Connect shows it.")
    var keyId: String?

    @Option(help: "The id of the issuer, as App Store Connect shows it.")
    var issuerId: String?

    @Option(help: "Ask this store instead of Apple: a `subledger simulate --serve`.")
    var apiUrl: String?
}

extension AppleOptions {
    /// The flags that were typed.
    var flags: [Setting: ConfigContent] {
        var flags: [Setting: ConfigContent] = [:]
        flags[.key] = key.map(ConfigContent.string)
        flags[.keyId] = keyId.map(ConfigContent.string)
        flags[.issuerId] = issuerId.map(ConfigContent.string)
        flags[.apiUrl] = apiUrl.map(ConfigContent.string)
        return flags
    }
}

extension TrustOptions {
    /// The flags for settings of `poll` that were typed.
    var pollFlags: [Setting: ConfigContent] {
        var flags: [Setting: ConfigContent] = [:]
        if !bundleId.isEmpty { flags[.bundleId] = .stringArray(bundleId) }
        if !environments.isEmpty { flags[.environment] = .stringArray(environments) }
        return flags
    }
}

/// The credentials and hosts for asking Apple, from all settings.
struct AppleAccess {
    /// Apple's hosts.
    let hosts: ServerHosts
    private let key: String
    private let keyId: String
    private let issuerId: String
    /// The settings without a value, each with what to do about it.
    private let missing: [String]

    /// Reads the settings.
    ///
    /// - Throws: `Failure` that names the wrong setting.
    init(_ settings: inout CommandSettings) throws {
        key = try settings.text(.key, "the .p8 file of an In-App Purchase key", default: "")
        keyId = try settings.text(.keyId, "the id of the key", default: "")
        issuerId = try settings.text(.issuerId, "the id of the issuer", default: "")
        let url = try settings.text(.apiUrl, "the address of a store")
        do throws(ServerError) {
            hosts = if let url { try ServerHosts(url: url) } else { .apple }
        } catch {
            throw Failure(Exit.configuration, error.description)
        }
        let command = settings.command
        missing = [(Setting.key, key), (.keyId, keyId), (.issuerId, issuerId)]
            .filter { $0.1.isEmpty }
            .map { setting, _ in
                "\(setting.rawValue) is not set; expected \(setting.flag), "
                    + "\(command.variable(setting)) or a member of --config (App Store Connect: "
                    + "Users and Access, Integrations, In-App Purchase)"
            }
    }

    /// Whether any setting of a key is present.
    var hasKeySettings: Bool { !(key.isEmpty && keyId.isEmpty && issuerId.isEmpty) }

    /// The credentials.
    ///
    /// - Parameter bundleIds: The accepted apps; one of them can be asked about.
    /// - Returns: The credentials.
    /// - Throws: `Failure` that names the missing or wrong setting.
    func credentials(_ bundleIds: [String]) throws -> ServerCredentials {
        if let missing = missing.first { throw Failure(Exit.configuration, missing) }
        guard let bundleId = bundleIds.first, bundleIds.count == 1 else {
            throw Failure(
                Exit.configuration,
                "Apple is asked about one app at a time; expected one --bundle-id, found "
                    + "\(bundleIds.count)"
            )
        }
        let text = try PrivateKeyFile.text(key)
        do throws(ServerError) {
            return try ServerCredentials(
                pem: text,
                keyId: keyId,
                issuerId: issuerId,
                bundleId: bundleId
            )
        } catch {
            throw Failure(Exit.configuration, error.description)
        }
    }
}

extension Poller.Options {
    /// A poller of this process.
    ///
    /// - Parameters:
    ///   - environments: The accepted environments, as the operator named them; none for all.
    ///   - pause: Milliseconds after an answer before any process asks about the same again; nil
    ///     for a pause by urgency.
    init(_ environments: [String], pause: Int64?) {
        self.init(
            holder: "\(ProcessInfo.processInfo.hostName) "
                + "\(ProcessInfo.processInfo.processIdentifier) \(UUID().uuidString)"
        )
        pauseSeconds = pause.map { Double($0) / 1000 }
        let asked: [StoreEnvironment] = [.production, .sandbox]
        let named = environments.compactMap(TrustOptions.knownEnvironment).filter(asked.contains)
        if !environments.isEmpty { self.environments = named }
    }
}
