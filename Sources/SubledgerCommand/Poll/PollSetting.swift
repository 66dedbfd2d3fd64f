/// A setting of `poll` and `backfill`: each is a flag, an environment variable and a member of the
/// file.
enum PollSetting: String, AppleSettingName {
    case key, keyId, issuerId, bundleId, environment, apiUrl, databaseUrl

    static let command = "poll"

    /// Whether its value is masked.
    var isSecret: Bool { self == .databaseUrl }
}
