internal import AppStore
public import Events

extension AppStoreServerClient {
    /// Seconds to wait for the result of a test notification: Apple sends it at once.
    public static let testSecondsMax = 60.0

    /// Seconds between two status requests.
    private static let testPauseSeconds = 2.0

    /// Requests a test notification from Apple, and waits for its result.
    ///
    /// - Parameter environment: Production or Sandbox.
    /// - Returns: Apple's word for the attempt: `SUCCESS` or why it failed; nil if there was none
    ///   within `testSecondsMax`.
    /// - Throws: `ServerError`, `CancellationError`.
    public func testNotification(in environment: StoreEnvironment) async throws -> String? {
        let end = ContinuousClock.now + .seconds(AppStoreServerClient.testSecondsMax)
        let request = try await answer(to: .testNotification, in: environment)
        guard let token = request.testNotificationToken else {
            throw ServerError(
                .answerUnreadable,
                "Apple's answer to the request of a test notification contains no token"
            )
        }
        while ContinuousClock.now < end {
            let status = try await answer(to: .testNotificationStatus(token), in: environment)
            // The newest attempt comes last.
            let attempt = JSON.root(of: status.payload)?["sendAttempts"]?.elements.last
            if let result = attempt?["sendAttemptResult"]?.text { return result }
            try await Task.sleep(for: .seconds(AppStoreServerClient.testPauseSeconds))
        }
        return nil
    }
}
