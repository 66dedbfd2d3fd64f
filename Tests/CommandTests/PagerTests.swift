import TestSupport
import Testing

/// Long answers on a terminal, which `script` simulates.
@Suite(.enabled { await TestServer.isAvailable })
struct PagerTests {
    // The output in a terminal with this many rows.
    private static func seen(
        rows: Int,
        _ arguments: String,
        _ command: Command,
        pager: String
    ) async throws -> String {
        let line = "stty rows \(rows) cols 80; '\(try Program("subledger").path)' \(arguments)"
        var environment = command.environment
        environment["PAGER"] = pager
        environment["TERM"] = "xterm"
        let ending = try await Program(path: "/usr/bin/script").run(
            ["-qec", line, "/dev/null"],
            environment: environment
        )
        #expect(ending.code == 0, "\(ending.errors)")
        return ending.output.replacing("\r\n", with: "\n")
    }

    @Test func `an answer longer than the terminal goes through the pager, complete and in order`()
        async throws
    {
        try await withSimulatedLedger { command, _ in
            let answer = try await command.expect(0, "streams")
            let count = answer.split(separator: "\n").count
            try #require(count > 12)
            let marked = try await Self.seen(rows: 10, "streams", command, pager: "sed 's/^/p:/'")
            let lines = marked.split(separator: "\n")
            #expect(lines.filter { $0.hasPrefix("p:") }.count >= count, "\(marked)")
            #expect(lines.allSatisfy { $0.hasPrefix("p:") || !$0.contains("20") }, "\(marked)")
            for (rows, pager) in [(10, "cat"), (10, ""), (500, "sed 's/^/p:/'")] {
                let plain = try await Self.seen(rows: rows, "streams", command, pager: pager)
                #expect(!plain.contains("p:") && plain.contains("events"), "\(rows) \(pager)")
            }
            // A user who leaves the pager early sees no error.
            _ = try await Self.seen(rows: 10, "streams", command, pager: "head -2")
            let none = try await Self.seen(rows: 10, "tokens list", command, pager: "sed 's/^/p:/'")
            #expect(!none.contains("p:"))
        }
    }
}
