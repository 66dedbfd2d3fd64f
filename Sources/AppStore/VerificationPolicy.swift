public import Events

/// What a verifier trusts and accepts: the operator's configuration only.
public struct VerificationPolicy: Sendable {
    /// Where every certificate chain must end.
    ///
    /// Apple's roots are not added automatically: `RootCertificate.apple` is the default, and an
    /// operator's own roots come after them.
    public var roots: [RootCertificate]
    /// The apps whose payloads are accepted; empty means any.
    public var bundleIds: Set<String>
    /// The App Store's id of the app, which production notifications must carry; nil means any.
    public var appAppleId: Int64?
    /// The environment of payloads that name none, as all before 2022-02-24; nil refuses them.
    ///
    /// Nothing signed distinguishes an old test purchase from a real one, so set this only if you
    /// know where the payloads come from. It is never derived from `environments`.
    public var assumedEnvironment: StoreEnvironment?
    /// The shared secrets that version 1 notifications may carry as `password`.
    ///
    /// The current and earlier ones of each app. If empty, passwords are not compared. Never stored,
    /// never logged. An empty secret counts as none.
    public var sharedSecrets: [String]
    /// The environments accepted.
    ///
    /// Sandbox payloads are signed under the same roots as production ones, so only this list keeps
    /// them apart (Apple's data: JWS verification). `Xcode` also needs its own root.
    public var environments: Set<StoreEnvironment>

    /// A policy; by default Apple's roots, any app, production and sandbox.
    public init(
        roots: [RootCertificate] = RootCertificate.apple,
        bundleIds: Set<String> = [],
        appAppleId: Int64? = nil,
        environments: Set<StoreEnvironment> = [.production, .sandbox],
        assumedEnvironment: StoreEnvironment? = nil,
        sharedSecrets: [String] = []
    ) {
        self.roots = roots
        self.bundleIds = bundleIds
        self.appAppleId = appAppleId
        self.environments = environments
        self.assumedEnvironment = assumedEnvironment
        self.sharedSecrets = sharedSecrets
    }
}

extension VerificationPolicy {
    /// Refuses a statement of another app.
    func checkBundleId(_ bundleId: String?, of what: String) throws(Rejection) {
        guard !bundleIds.isEmpty else { return }
        if let bundleId, bundleIds.contains(bundleId) { return }
        let expected = bundleIds.sorted().joined(separator: ", ")
        let found = bundleId.map { "is of the app \"\($0)\"" } ?? "names no app"
        throw Rejection(
            .bundleIdMismatch,
            "The payload contains \(what) that \(found); expected"
                + " \(expected). Add the app to the accepted bundle ids if it is yours."
        )
    }

    /// Refuses an environment that is not accepted, or that the signer cannot sign for; `isLocal` is
    /// true if the payload was signed on a developer's machine.
    func checkAccepted(_ environment: StoreEnvironment, isLocal: Bool = false) throws(Rejection) {
        if isLocal {
            guard environment == .xcode || environment == .localTesting else {
                throw Rejection.xcodeSigned(
                    "It claims the environment \(environment), whose payloads only Apple signs."
                )
            }
            guard environments.contains(environment) else {
                throw Rejection.xcodeSigned(
                    "The environment \(environment) is not accepted."
                )
            }
        }
        guard environments.contains(environment) else {
            let accepted = environments.map(\.word).sorted().joined(separator: ", ")
            throw Rejection(
                .environmentNotAccepted,
                "The payload was made in the environment \(environment); accepted: \(accepted)."
            )
        }
    }

    /// Refuses a production notification of another App Store app id.
    func checkAppAppleId(
        _ found: Int64?,
        in environment: StoreEnvironment
    ) throws(Rejection) {
        guard let appAppleId, environment == .production, found != appAppleId else { return }
        throw Rejection(
            .appAppleIdMismatch,
            "The notification is for the App Store app \(found.map(String.init) ?? "without id");"
                + " expected \(appAppleId)."
        )
    }
}

extension VerificationPolicy: CustomStringConvertible, CustomReflectable {
    /// A fixed text, so that printing a policy never shows a shared secret.
    public var description: String { "verification policy" }

    /// Empty: a printed value may end up in a log, and a shared secret must not.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
