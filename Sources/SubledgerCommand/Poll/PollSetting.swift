/// A setting of `poll`: each is a flag, an environment variable and a member of the file.
enum PollSetting: String, SettingName {
    case key, keyId, issuerId, bundleId, environment, apiUrl, databaseUrl

    static let command = "poll"

    /// Whether its value is masked.
    var isSecret: Bool { self == .databaseUrl }
}
