import Events

/// What a notification states about itself, collected from the section that it has.
///
/// App, environment and nested statements may be in any object member, because Apple adds sections
/// (`unclaimInfo` in 2026) before it documents what else they carry.
struct NotificationParts {
    /// The app; nil if no section names one.
    let bundleId: String?
    /// The environment; nil if no section names one.
    let environment: StoreEnvironment?
    /// The App Store's id of the app; nil if no section carries it.
    let appAppleId: Int64?
    /// The subscription that a section names itself; nil if none does, as in all documented ones.
    let originalTransactionId: String?
    /// The nested transaction, a compact JWS.
    let transaction: ArraySlice<UInt8>?
    /// The nested renewal info, a compact JWS.
    let renewal: ArraySlice<UInt8>?
    /// The nested app transaction, a compact JWS.
    let appTransaction: ArraySlice<UInt8>?

    /// The sections whose identifying members are left out of the content; any other one is kept
    /// whole, so that later programs read the same facts from it.
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
        var environment: StoreEnvironment?
        var appAppleId: Int64?
        var originalTransactionId: String?
        let parts = NotificationParts.parts(of: claims)
        for part in parts {
            if bundleId == nil { bundleId = try Claims.bundleId(part) }
            if environment == nil { environment = try Claims.environment(part) }
            if appAppleId == nil { appAppleId = part["appAppleId"]?.integer }
            if originalTransactionId == nil {
                originalTransactionId = try Claims.id(part, "originalTransactionId")
            }
        }
        if environment == nil, let token = claims["externalPurchaseToken"]?["externalPurchaseId"] {
            let isSandbox = token.text?.hasPrefix(NotificationParts.sandboxTokenPrefix) == true
            environment = isSandbox ? .sandbox : .production
        }
        self.bundleId = bundleId
        self.environment = environment
        self.appAppleId = appAppleId
        self.originalTransactionId = originalTransactionId
        transaction = try NotificationParts.nested(parts, "signedTransactionInfo")
        renewal = try NotificationParts.nested(parts, "signedRenewalInfo")
        appTransaction = try NotificationParts.nested(parts, "signedAppTransactionInfo")
    }

    // The sections known to carry identity first, then every other object.
    private static func parts(of claims: JSON.Value) -> [JSON.Value] {
        sections.compactMap { claims[$0] }
            + claims.members.compactMap { name, value in
                let isKnown = sections.contains { name.equals($0) }
                return value.kind == .object && !isKnown ? value : nil
            }
    }

    private static func nested(
        _ parts: [JSON.Value],
        _ name: StaticString
    ) throws(Rejection) -> ArraySlice<UInt8>? {
        for part in parts {
            guard let value = part[name], value.kind != .null else { continue }
            guard let compact = value.utf8 else {
                throw Rejection(.claimMalformed, "\(name) must be a string; found \(value.kind).")
            }
            return compact
        }
        return nil
    }
}
