import TestSupport
import Testing

/// Commands on a ledger that is distributed over the servers of a Citus cluster.
@Suite(.enabled(if: CitusCluster.shared != nil))
struct CitusCommandTests {
    @Test func `a command that needs a lost server ends with 69 and names its lanes`() async throws
    {
        let cluster = try #require(CitusCluster.shared)
        let simulation = try await Simulation.shared
        try await TestServer.shared.withDatabase { settings in
            let command = Command(settings)
            try await command.expect(0, "migrate", "--lanes", "8", "--distributed")
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let streams = try await command.json([StreamLine].self, "streams")
            try await cluster.withoutOneWorker(settings) {
                var codes: Set<Int32> = []
                for stream in streams.prefix(20) {
                    let ending = try await command.run("history", stream.originalTransactionId)
                    codes.insert(ending.code)
                    guard ending.code != 0 else { continue }
                    #expect(ending.errors.contains("4 of 8 lanes cannot be reached"))
                    #expect(ending.errors.contains("[lanes-unavailable]"))
                }
                #expect(codes == [0, 69])
                #expect(try await command.run("verify", "--quiet").code == 69)
            }
            try await command.expect(0, "verify", "--quiet")
        }
    }
}
