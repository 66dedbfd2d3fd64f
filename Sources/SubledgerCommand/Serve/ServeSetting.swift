/// A setting of `serve`: each is a flag, an environment variable and a member of the file.
enum ServeSetting: String, AppleSettingName {
    case host, port, appendSeconds, answerSeconds, drainSeconds, follow, logFormat, logLevel
    case tlsCertificate, tlsKey, rootCertificate, bundleId, appAppleId, environment
    case assumeEnvironment
    case sharedSecretFile, sandboxCustomer, sandboxFrom, sandboxTo, databaseUrl
    case trustedProxy, auditDays, poll, pollInterval, pollPause, pollWithin, key, keyId, issuerId
    case apiUrl

    static let command = "serve"

    /// Whether its value is masked.
    var isSecret: Bool { self == .databaseUrl }
}
