import AppStoreServerAPI
import CommandSupport
import Configuration
import Events
import Foundation

/// What `poll` does, by all its settings.
struct PollPlan {
    /// Where Apple is.
    let hosts: ServerHosts
    /// Who is trusted.
    let trust: TrustOptions
    /// Where the database is.
    let database: DatabaseOptions
    /// The settings in force.
    let settings: CommandSettings<PollSetting>
    private let key: String
    private let keyId: String
    private let issuerId: String

    /// Reads all settings.
    ///
    /// - Parameters:
    ///   - command: The flags.
    ///   - environment: The variables of the process.
    /// - Throws: `Failure` that names the setting that is wrong.
    init(_ command: PollCommand, _ environment: [String: String]) async throws {
        try await self.init(
            flags: command.flags,
            environment,
            file: command.config,
            trust: command.trust,
            database: command.database
        )
    }

    /// The same for a command that has these flags among others.
    init(
        flags: [PollSetting: ConfigContent],
        _ environment: [String: String],
        file: String?,
        trust: TrustOptions,
        database: DatabaseOptions
    ) async throws {
        var settings = try await CommandSettings<PollSetting>(
            flags: flags,
            environment: environment,
            file: file
        )
        key = try settings.text(.key, "the .p8 file of an In-App Purchase key", default: "")
        keyId = try settings.text(.keyId, "the id of the key", default: "")
        issuerId = try settings.text(.issuerId, "the id of the issuer", default: "")
        let url = try settings.text(.apiUrl, "the address of a store", default: "")
        do throws(ServerError) {
            hosts = url.isEmpty ? .apple : try ServerHosts(url: url)
        } catch {
            throw Failure(Exit.configuration, error.description)
        }
        var trust = trust
        trust.bundleId = try settings.texts(.bundleId, "bundle ids")
        trust.environments = try settings.texts(.environment, "environments: Production, Sandbox") {
            text in [.production, .sandbox].contains(TrustOptions.knownEnvironment(text))
        }
        self.trust = trust
        var database = database
        let location = try settings.text(
            .databaseUrl,
            "a libpq connection string",
            default: ""
        )
        database.databaseUrl = location.isEmpty ? nil : location
        self.database = database
        self.settings = settings
    }

    /// Whether anything of a key is set.
    var hasKeySettings: Bool { !(key.isEmpty && keyId.isEmpty && issuerId.isEmpty) }

    /// Who asks.
    func credentials() throws -> ServerCredentials {
        for (setting, value) in [
            (PollSetting.key, key), (.keyId, keyId), (.issuerId, issuerId),
        ] where value.isEmpty {
            throw Failure(
                Exit.configuration,
                "\(setting.rawValue) is not set; expected \(setting.flag), \(setting.variable) or "
                    + "a member of --config (App Store Connect: Users and Access, Integrations, "
                    + "In-App Purchase)"
            )
        }
        guard trust.bundleId.count == 1 else {
            throw Failure(
                Exit.configuration,
                "Apple is asked about one app at a time; expected one --bundle-id, found "
                    + "\(trust.bundleId.count)"
            )
        }
        let text = try PrivateKeyFile.text(key)
        do throws(ServerError) {
            return try ServerCredentials(
                pem: text,
                keyId: keyId,
                issuerId: issuerId,
                bundleId: trust.bundleId[0]
            )
        } catch {
            throw Failure(Exit.configuration, error.description)
        }
    }

    /// How the poller works.
    func options(pause milliseconds: Int64) -> Poller.Options {
        var options = Poller.Options(
            holder: "\(ProcessInfo.processInfo.hostName) "
                + "\(ProcessInfo.processInfo.processIdentifier) \(UUID().uuidString)"
        )
        options.pauseSeconds = Double(milliseconds) / 1000
        let named = trust.environments.compactMap(TrustOptions.knownEnvironment)
        if !named.isEmpty { options.environments = named }
        return options
    }
}

extension PollCommand {
    /// What was typed.
    fileprivate var flags: [PollSetting: ConfigContent] {
        var flags: [PollSetting: ConfigContent] = [:]
        flags[.key] = key.map(ConfigContent.string)
        flags[.keyId] = keyId.map(ConfigContent.string)
        flags[.issuerId] = issuerId.map(ConfigContent.string)
        flags[.apiUrl] = apiUrl.map(ConfigContent.string)
        flags[.databaseUrl] = database.databaseUrl.map(ConfigContent.string)
        if !trust.bundleId.isEmpty { flags[.bundleId] = .stringArray(trust.bundleId) }
        if !trust.environments.isEmpty { flags[.environment] = .stringArray(trust.environments) }
        return flags
    }
}
