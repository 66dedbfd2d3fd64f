import Foundation
import TestSupport
import Testing

/// Commands without a database: help, usage errors, and a database that is missing.
@Suite struct UsageTests {
    private let command = Command(environment: ["DATABASE_URL": "host=/nowhere"])

    @Test func `the version goes to stdout`() async throws {
        #expect(try await command.expect(0, "--version").hasPrefix("0."))
    }

    @Test(arguments: [
        (["peroids", "1"], "`subledger periods`"), (["acess", "1"], "`subledger access`"),
        (["customers", "lnk"], "`subledger customers link`"),
        (["tables", "chek"], "`subledger tables check`"),
        (["help", "rebild"], "`subledger rebuild`"), (["verif"], "`subledger verify`"),
    ])
    func `a mistyped command suggests the intended one`(
        arguments: [String],
        meant: String
    ) async throws {
        let ending = try await command.run(arguments)
        #expect(ending.code == 64)
        #expect(ending.errors.contains("did you mean \(meant)?"), "\(ending.errors)")
        #expect(ending.output.isEmpty)
    }

    @Test func `a command that resembles no other is unknown, without a suggestion`() async throws {
        let ending = try await command.run(["nonsense"])
        #expect(ending.code == 64)
        #expect(ending.errors.contains("unknown command `subledger nonsense`; `subledger --h"))
    }

    @Test(arguments: [
        ["nonsense"], ["ingest"], ["ingest", "--nonsense", "x"], ["periods"],
        ["ingest", "--source", "", "x"],
        ["migrate", "--lanes", "3"], ["migrate", "--lanes", "many"],
        ["migrate", "--partitions", "-1"], ["periods", "1", "--at", "yesterdy"],
        ["periods", "1", "--known-at", "lane:one"], ["history", "1", "--known-at", "1:2:3"],
        ["access"], ["access", "1", "--at", "yesterdy"],
        ["access", "1", "--product", "p", "--group", "g"], ["eligibility"],
        ["simulate"], ["simulate", "--out", "x", "--subscriptions", "0"],
        ["simulate", "--out", "x", "--format", "v3"],
        ["simulate", "--out", "x", "--format", "v1,"],
        ["rejections", "--reason", "nonsense"], ["rejections", "--limit", "0"],
        ["rejections", "--body", "abc"], ["rejections", "--since", "yesterdy"],
        ["report", "nonsense"], ["report", "ingest-quality", "--since", "yesterdy"],
        ["streams", "--database-url", ""], ["checkpoint", "--public-key"],
        ["ingest", "x", "--assume-environment", "Foo"],
        ["history", "1", "--trust", "nonsense"], ["verify", "--jobs", "0"],
        ["verify", "--signatures", "--jobs", "65"], ["verify", "--public-key", "x"],
        ["verify", "--root-certificate", "x"],
        ["catalog", "import"], ["catalog", "import", "x", "--effective-from", "yesterdy"],
        ["catalog", "diff", "1"], ["catalog", "diff", "1", "2", "3"],
        ["catalog", "show", "--version", "one"], ["feed", "--after", "17"],
        ["feed", "--after", "0:1:0123456789ABCDEF"], ["feed", "--limit", "0"],
        ["effects", "--after", "17"], ["effects", "--after", "0:1:0123456789ABCDEF"],
        ["effects", "--limit", "0"], ["effects", "--consumer", " "],
        ["effects", "--consumer", "a\u{1b}[2J"],
        ["feed", "--poll-interval", "1"], ["feed", "--follow", "--poll-interval", "0"],
        ["follow", "--wait-for", "1", "--timeout", "nan"],
        ["follow", "--wait-for", "1", "--timeout", "inf"],
        ["follow", "--wait-for", "1", "--timeout", "1e300"],
        ["follow", "--wait-for", "1", "--timeout=-1"],
        ["follow", "--wait-for", "1", "--poll-interval", "1"], ["follow", "--timeout", "1"],
        ["follow", "--wait-for", "2026-03-03T09:00:00Z"], ["follow", "--wait-for", "1,2"],
        ["rebuild", "--jobs", "0"], ["rebuild", "--jobs", "17"],
        ["rebuild", "--into", " \t"], ["rebuild", "--into", "a\u{1b}[2J"],
        ["rebuild", "--into", ""], ["tables", "diff", "--html", "-"],
        ["report", "drift", "--limit", "0"],
        ["periods", "1", "--tz", "Europe/Atlantis"], ["periods", "1", "--at", "1772528400"],
        ["demo", "--json"],
    ])
    func `a usage error exits with 64, and stdout stays empty`(arguments: [String]) async throws {
        let ending = try await command.run(arguments)
        #expect(ending.code == 64, "\(ending.errors)")
        #expect(ending.output.isEmpty)
        #expect(ending.errors.contains("--help") || ending.errors.contains("Usage:"))
    }

    @Test(arguments: [
        ["migrate"], ["migrate", "status"], ["ingest", "--json", "/tmp"], ["rebuild"],
        ["verify", "--json"], ["periods", "1"], ["history", "1"], ["streams", "--json"], ["demo"],
        ["access", "1"], ["eligibility", "1"],
        ["rejections"], ["report", "ingest-quality"], ["verify", "--signatures"],
        ["catalog", "list"], ["catalog", "show", "--json"], ["catalog", "diff"],
        ["feed"], ["feed", "--follow"], ["effects"], ["effects", "--follow"],
    ])
    func `a database that cannot be reached exits with 69`(arguments: [String]) async throws {
        for place in ["host=/nowhere/at/all", "host=127.0.0.1 port=1"] {
            let ending = try await Command(environment: ["DATABASE_URL": place]).run(arguments)
            #expect(ending.code == 69, "\(place): \(ending.errors)")
            #expect(ending.output.isEmpty, "\(place): \(ending.output)")
            #expect(ending.errors.contains("subledger: "), "\(ending.errors)")
        }
    }

    @Test func `a missing path exits with 66 before any connection is opened`() async throws {
        let ending = try await command.run("ingest", "--json", "/nowhere/payload.json")
        #expect(ending.code == 66)
        #expect(ending.errors.contains("/nowhere/payload.json"))
        #expect(ending.output.isEmpty)
    }
}
