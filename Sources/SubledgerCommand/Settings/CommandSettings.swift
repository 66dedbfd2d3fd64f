import CommandSupport
import Configuration
import Foundation
import SystemPackage

/// The settings of a command, from flags, then the environment, then a file.
struct CommandSettings {
    /// The command whose settings they are.
    let command: Setting.Command
    private let sources: [Source]
    private(set) var effective: [Effective] = []

    private struct Source {
        let provider: any ConfigProvider
        let name: (Setting) -> String
    }

    /// The origin of a value that no source has.
    private static let fallback = "default"

    /// A setting with a value, and its source.
    struct Effective {
        let setting: Setting
        let value: String
        let origin: String
    }

    /// The sources of settings.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - flags: The flags that were typed, without that of the database.
    ///   - database: The location of the database, if a flag names it.
    ///   - environment: The variables of the process.
    ///   - file: The path of a JSON object; nil for none.
    /// - Throws: `Failure` for a file that cannot be read, and for settings that the command does
    ///   not have.
    init(
        of command: Setting.Command,
        flags: [Setting: ConfigContent],
        database: DatabaseOptions,
        environment: [String: String],
        file: String?
    ) async throws {
        self.command = command
        var flags = flags
        flags[.databaseUrl] = database.databaseUrl.map(ConfigContent.string)
        let ours = environment.filter { $0.key.hasPrefix(command.variablePrefix) }
        let variables = command.settings.map(command.variable)
        for variable in ours.keys.sorted() where !variables.contains(variable) {
            throw Self.unknown(variable, variables)
        }

        var sources = [
            Source(
                provider: InMemoryProvider(
                    values: Dictionary(
                        uniqueKeysWithValues: flags.map { setting, content in
                            (
                                AbsoluteConfigKey([setting.rawValue]),
                                ConfigValue(content, isSecret: false)
                            )
                        }
                    )
                ),
                name: { $0.flag }
            ),
            Source(
                provider: EnvironmentVariablesProvider(environmentVariables: ours)
                    .prefixKeys(with: ConfigKey(["subledger", command.rawValue])),
                name: command.variable
            ),
        ]

        if let file {
            try Self.check(file, of: command)
            do {
                let provider = try await FileProvider<JSONSnapshot>(filePath: FilePath(file))
                sources.append(Source(provider: provider, name: { "\($0.rawValue) in \(file)" }))
            } catch {
                throw Self.unreadable(file)
            }
        }
        self.sources = sources
    }

    // Only known members are allowed, so a misspelt one is not silently ignored.
    private static func check(_ file: String, of command: Setting.Command) throws {
        let bytes = try WholeFile.bytes(of: file, "the settings file", upTo: 1 << 20)
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: Data(bytes))
        } catch {
            throw unreadable(file)
        }
        guard let members = object as? [String: Any] else { throw unreadable(file) }
        for name in members.keys.sorted() where !command.names.contains(name) {
            throw unknown("\(name) in \(file)", command.names)
        }
    }

    private static func unreadable(_ file: String) -> Failure {
        Failure(
            Exit.configuration,
            "\(file) does not contain settings; expected one JSON object, such as {\"port\": 8080}"
        )
    }

    private static func unknown(_ name: String, _ known: [String]) -> Failure {
        Failure(
            Exit.configuration,
            "unknown setting \(name); expected one of \(known.joined(separator: ", "))"
        )
    }
}

extension CommandSettings {
    /// The value of a setting.
    ///
    /// - Parameters:
    ///   - setting: The setting.
    ///   - types: The types that it may have, first the one used for a variable.
    ///   - expected: What is expected, for the error.
    ///   - fallback: The value if no source has one; nil for none.
    ///   - convert: Converts it; returns nil for an invalid value.
    /// - Returns: The value.
    /// - Throws: `Failure` that names the setting and its source.
    mutating func value<Value>(
        _ setting: Setting,
        _ types: [ConfigType],
        expecting expected: String,
        default fallback: Value,
        _ convert: (ConfigContent) -> Value?
    ) throws -> Value {
        for source in sources {
            guard let content = try content(of: setting, types, in: source, expected) else {
                continue
            }
            let text = Self.text(content)
            guard let value = convert(content) else {
                throw Self.wrong(source.name(setting), isText(setting, text), expected)
            }
            note(setting, text, source.name(setting))
            return value
        }
        note(setting, Self.text(fallback), CommandSettings.fallback)
        return fallback
    }

    private func isText(_ setting: Setting, _ text: String) -> String {
        setting.isSecret ? "invalid" : "'\(text.prefix(64))'"
    }

    private func content(
        of setting: Setting,
        _ types: [ConfigType],
        in source: Source,
        _ expected: String
    ) throws -> ConfigContent? {
        var isThere = false
        for type in types {
            do {
                let key = AbsoluteConfigKey([setting.rawValue])
                guard let found = try source.provider.value(forKey: key, type: type).value else {
                    continue
                }
                return found.content
            } catch {
                // It is present with another type, perhaps the next one.
                isThere = true
            }
        }
        guard isThere else { return nil }
        throw Self.wrong(source.name(setting), "of the wrong type", expected)
    }

    /// Whether a source has a value of a setting that was read.
    func isSet(_ setting: Setting) -> Bool {
        effective.contains { $0.setting == setting && $0.origin != CommandSettings.fallback }
    }

    private mutating func note(_ setting: Setting, _ text: String, _ origin: String) {
        let isMasked = setting.isSecret && !text.isEmpty
        effective.append(
            Effective(setting: setting, value: isMasked ? "********" : text, origin: origin)
        )
    }

    private static func wrong(_ name: String, _ found: String, _ expected: String) -> Failure {
        Failure(Exit.configuration, "\(name) is \(found); expected \(expected)")
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let content as ConfigContent:
            switch content {
            case .string(let text): text
            case .int(let number): "\(number)"
            case .double(let number): number.formatted(.number.grouping(.never))
            case .bool(let flag): "\(flag)"
            case .stringArray(let texts): texts.joined(separator: ",")
            default: "\(content)"
            }
        case let texts as [String]: texts.joined(separator: ",")
        case let text as String: text
        case let number as Double: text(ConfigContent.double(number))
        case let number as Int64?: number.map { "\($0)" } ?? ""
        default: "\(value)"
        }
    }

    /// The settings in force, each with its source.
    var table: String {
        var table = TextTable(["setting", "value", "origin"])
        for one in effective { table.add([one.setting.rawValue, one.value, one.origin]) }
        return table.text
    }
}
