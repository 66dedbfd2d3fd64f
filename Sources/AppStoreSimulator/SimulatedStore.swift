public import Events

/// One app in one environment of the simulated App Store, with the keys that sign for it.
public struct SimulatedStore: Sendable {
    /// Signs every payload.
    public let pki: SimulatedPKI
    /// Sandbox or Production.
    public let environment: StoreEnvironment
    /// The app, as in every payload.
    public let bundleId: String
    /// Apple's number of the app, as in every notification.
    public let appAppleId: Int64
    /// How fast time passes in this store.
    public private(set) var pace: SimulatedPace

    /// A store; the default app does not exist anywhere else.
    public init(
        pki: SimulatedPKI,
        environment: StoreEnvironment = .production,
        bundleId: String = "example.subledger",
        appAppleId: Int64 = 1_234_567_890,
        pace: SimulatedPace = .calendar
    ) {
        self.pki = pki
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.pace = pace
    }

    /// The same store at another pace.
    public func at(_ pace: SimulatedPace) -> SimulatedStore {
        var store = self
        store.pace = pace
        return store
    }
}
