import TestSupport
import Testing

/// What commands say about proofs, and where they lead when something is missing.
@Suite(.enabled { await TestServer.isAvailable })
struct ProofWordsTests {
    @Test func `each command names what it proved, and the command that proves the rest`()
        async throws
    {
        let root = try await Simulation.shared.root
        try await withSimulatedLedger { command in
            let event = try await command.expect(0, "event", "1")
            let head = try await command.expect(0, "event", "1", "--proof")
            let digest = try #require(
                head.split(separator: "\n").first { $0.contains("commit digest") }?
                    .split(separator: " ").last
            )
            #expect(event.contains("commit digest") && event.contains(digest), "\(event)")

            let chain = try await command.expect(0, "verify")
            let last = try #require(chain.split(separator: "\n").last)
            #expect(last.contains("the chain, not the facts: verify --signatures"), "\(chain)")
            let facts = try await command.expect(
                0,
                ["verify", "--signatures", "--root-certificate", root]
            )
            #expect(!facts.contains("not the facts"), "\(facts)")

            let discarded = try await command.run("tables", "discard", "foo")
            #expect(discarded.code == 64)
            #expect(
                discarded.errors.contains("`tables discard --schema SCHEMA`"),
                "\(discarded.errors)"
            )
            let repaired = try await command.expect(0, "repair", "--reason", "ticket 7")
            #expect(repaired == "nothing to repair\n")
        }
    }
}
