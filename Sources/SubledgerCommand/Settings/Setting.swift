/// A setting of a command: a flag, an environment variable and a member of its file.
enum Setting: String, CaseIterable {
    case host, port, appendSeconds, answerSeconds, drainSeconds, follow, logFormat, logLevel
    case tlsCertificate, tlsKey, rootCertificate, bundleId, appAppleId, environment
    case assumeEnvironment
    case sharedSecretFile, sandboxCustomer, sandboxFrom, sandboxTo, databaseUrl
    case trustedProxy, auditDays, poll, pollInterval, pollPause, pollWithin, key, keyId, issuerId
    case apiUrl, console, signingKey, signedFor, forward, answerConsumption

    /// Whether its value is masked.
    var isSecret: Bool { self == .databaseUrl }

    /// The words of its name: `logFormat` is `log`, `format`.
    private var words: [String] {
        rawValue.split(separator: /(?=[A-Z])/).map { $0.lowercased() }
    }

    /// The flag: `--log-format`.
    var flag: String { "--" + words.joined(separator: "-") }

    /// A command that has settings; `backfill` has those of `poll`, `doctor` reads those of both.
    enum Command: String {
        case serve, poll

        /// Its settings.
        var settings: [Setting] {
            switch self {
            case .serve: Setting.allCases
            case .poll: [.key, .keyId, .issuerId, .bundleId, .environment, .apiUrl, .databaseUrl]
            }
        }

        /// Their names, as in a file.
        var names: [String] { settings.map(\.rawValue) }

        /// The prefix of environment variables.
        var variablePrefix: String { "SUBLEDGER_\(rawValue.uppercased())_" }

        /// The environment variable: `SUBLEDGER_SERVE_LOG_FORMAT`.
        func variable(_ setting: Setting) -> String {
            variablePrefix + setting.words.joined(separator: "_").uppercased()
        }
    }
}
