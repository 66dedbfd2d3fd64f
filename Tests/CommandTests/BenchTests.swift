import Foundation
import TestSupport
import Testing

/// `bench` with a few events: its numbers say nothing then, but each has to be there.
@Suite(.enabled { await TestServer.isAvailable })
struct BenchTests {
    @Test func `bench rebuild follows something however short the log is`() async throws {
        try await withLedger { command, _ in
            let output = try await command.expect(
                0,
                "bench",
                "rebuild",
                "--events",
                "1000",
                "--rounds",
                "1",
                "--quiet",
                "--json"
            )
            let summary = try JSONDecoder().decode(Summary.self, from: Data(output.utf8))
            #expect(summary.followedEvents > 0 && summary.followedEvents <= 100)
            #expect(summary.followEventsPerSecond > 0)
        }
    }

    private struct Summary: Decodable {
        let followedEvents: Int64
        let followEventsPerSecond: Int
    }
}
