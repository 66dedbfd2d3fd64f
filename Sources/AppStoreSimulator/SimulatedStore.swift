public import Events

/// One app in one environment of the simulated App Store, with the keys that sign for it.
public struct SimulatedStore: Sendable {
    /// Signs every payload.
    public let pki: SimulatedPKI
    /// Sandbox or Production.
    public let environment: Environment
    /// The app, as in every payload.
    public let bundleId: String
    /// Apple's number of the app, as in every notification.
    public let appAppleId: Int64

    /// A store; the defaults are an app that exists nowhere else.
    public init(
        pki: SimulatedPKI,
        environment: Environment = .production,
        bundleId: String = "example.subledger",
        appAppleId: Int64 = 1_234_567_890
    ) {
        self.pki = pki
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
    }
}
