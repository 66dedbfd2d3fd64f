package import Testing

/// Waits until a condition holds, however loaded the machine is; nothing else is a clock.
///
/// - Parameters:
///   - words: The condition, for the issue if it never holds.
///   - location: Where it is expected.
///   - condition: Whether it holds; asked again and again.
/// - Throws: What the condition throws.
package func eventually(
    _ words: String,
    location: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    // Only so that a fault ends the run: far longer than anything takes at load 20.
    let end = ContinuousClock.now + .seconds(600)
    while ContinuousClock.now < end {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("it never came true that \(words)", sourceLocation: location)
}
