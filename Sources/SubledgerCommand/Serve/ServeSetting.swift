/// A setting of `serve`: each is a flag, an environment variable and a member of the file.
enum ServeSetting: String, AppleSettingName {
    case host, port, appendSeconds, drainSeconds, follow, logFormat, logLevel, tlsCertificate
    case tlsKey, rootCertificate, bundleId, appAppleId, environment, assumeEnvironment
    case sharedSecretFile, sandboxCustomer, sandboxFrom, sandboxTo, databaseUrl
    case poll, pollInterval, pollPause, pollWithin, key, keyId, issuerId, apiUrl

    static let command = "serve"

    /// Whether its value is masked.
    var isSecret: Bool { self == .databaseUrl }
}
