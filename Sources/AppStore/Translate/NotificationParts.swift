import Events

/// What a notification states about itself, collected from the section that it has.
struct NotificationParts {
    /// The app; nil if no section names one.
    let bundleId: String?
    /// The environment; nil if no section names one.
    let environment: Environment?
    /// The App Store's id of the app; nil if no section carries it.
    let appAppleId: Int64?
    /// The nested transaction, a compact JWS.
    let transaction: ArraySlice<UInt8>?
    /// The nested renewal info, a compact JWS.
    let renewal: ArraySlice<UInt8>?
    /// The nested app transaction, a compact JWS.
    let appTransaction: ArraySlice<UInt8>?

    /// The sections, of which a notification has exactly one.
    static let sections: [StaticString] = ["data", "summary", "externalPurchaseToken", "appData"]
    /// The names under which sections carry nested JWS.
    static let nestedNames: [StaticString] = [
        "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo",
    ]
    /// Marks the external purchase ids of the sandbox (Apple's data: version 2 payload).
    private static let sandboxTokenPrefix = "SANDBOX"

    /// Collects the parts from the claims; throws if an identifying claim has the wrong type.
    init(_ claims: JSON.Value) throws(Rejection) {
        var bundleId: String?
        var environment: Environment?
        var appAppleId: Int64?
        for section in NotificationParts.sections {
            guard let part = claims[section] else { continue }
            if bundleId == nil { bundleId = try Claims.bundleId(part) }
            if environment == nil { environment = try Claims.environment(part) }
            if appAppleId == nil { appAppleId = part["appAppleId"]?.integer }
        }
        if environment == nil, let token = claims["externalPurchaseToken"]?["externalPurchaseId"] {
            let isSandbox = token.text?.hasPrefix(NotificationParts.sandboxTokenPrefix) == true
            environment = isSandbox ? .sandbox : .production
        }
        self.bundleId = bundleId
        self.environment = environment
        self.appAppleId = appAppleId
        transaction = try NotificationParts.nested(claims, "signedTransactionInfo")
        renewal = try NotificationParts.nested(claims, "signedRenewalInfo")
        appTransaction = try NotificationParts.nested(claims, "signedAppTransactionInfo")
    }

    private static func nested(
        _ claims: JSON.Value,
        _ name: StaticString
    ) throws(Rejection) -> ArraySlice<UInt8>? {
        for section in sections {
            guard let value = claims[section]?[name], value.kind != .null else { continue }
            guard let compact = value.utf8 else {
                throw Rejection(.claimMalformed, "\(name) must be a string; found \(value.kind).")
            }
            return compact
        }
        return nil
    }
}
