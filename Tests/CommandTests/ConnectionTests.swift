import Foundation
import Postgres
import TestSupport
import Testing

/// Which database is used, and what is printed if it cannot be.
@Suite(.enabled { await TestServer.isAvailable })
struct ConnectionTests {
    private static let secret = "open-sesame"

    @Test func `a database that does not exist is reported with host, user and setting`()
        async throws
    {
        try await withLedger { _, settings in
            var absent = settings
            absent.database = "nodb"
            let text = absent.fullConnectionString
            for (command, arguments, source) in [
                (Command(environment: [:]), ["--database-url", text], "--database-url"),
                (Command(environment: ["DATABASE_URL": text]), [], "DATABASE_URL"),
            ] {
                let ending = try await command.run(["streams"] + arguments)
                #expect(ending.code == 69 && ending.output.isEmpty)
                #expect(ending.errors.contains("database \"nodb\" does not exist (host "))
                #expect(ending.errors.contains("database nodb, user "), "\(ending.errors)")
                #expect(ending.errors.contains("from \(source))"), "\(ending.errors)")
            }
        }
    }

    @Test(arguments: [
        ("postgresql://me:SECRET@127.0.0.1:1/x", 69, "Connection refused", "host 127.0.0.1"),
        ("host=nowhere.invalid user=me password=SECRET", 69, "host name", "host nowhere.invalid"),
        ("host=/nowhere user=me dbname=x password=SECRET", 69, "No such file", "user me"),
        (
            "mysql://me:SECRET@localhost/x", 78, "another kind of database (mysql://)",
            "from DATABASE_URL"
        ),
        ("mysql://me:SECRET@localhost/x?a=b", 78, "postgresql://", "from DATABASE_URL"),
        ("postgresql://me:1SECRET/x@localhost/db", 69, "no server", "from DATABASE_URL"),
    ])
    func `a server that cannot be reached is reported without its password`(
        url: String,
        code: Int32,
        reason: String,
        place: String
    ) async throws {
        let value = url.replacing("SECRET", with: Self.secret)
        let ending = try await Command(environment: ["DATABASE_URL": value]).run("streams")
        if !url.contains("1SECRET") {
            #expect(ending.code == code, "\(ending.errors)")
            #expect(ending.errors.contains(reason), "\(ending.errors)")
            #expect(ending.errors.contains(place), "\(ending.errors)")
        }
        #expect(ending.output.isEmpty && !ending.errors.contains(Self.secret))
        print(ending.errors, terminator: "")
    }

    @Test func `a question creates no server and no folder, and explains how to create a ledger`()
        async throws
    {
        let folder = try TestFolder()
        let home = folder.path(of: "home")
        let command = Command(environment: ["SUBLEDGER_HOME": home])
        for question in [
            ["streams"], ["explain", "1"], ["event", "1"], ["verify"], ["migrate", "status"],
            ["migrate", "--dry-run"], ["tables"], ["database", "url"], ["ingest", folder.path],
        ] {
            let ending = try await command.run(question)
            #expect(ending.code == 78 && ending.output.isEmpty, "\(question): \(ending.errors)")
            #expect(
                ending.errors.contains("There is no ledger here: no private server was created in")
            )
            #expect(ending.errors.contains("`subledger migrate`"), "\(ending.errors)")
            #expect(!FileManager.default.fileExists(atPath: home), "\(question)")
        }
    }

    @Test func `the private server is named on stderr, and its URL opens the ledger`() async throws
    {
        let folder = try TestFolder()
        let home = folder.path(of: "home")
        let command = Command(environment: ["SUBLEDGER_HOME": home])
        do {
            try await command.expect(0, "migrate")
            let ending = try await command.run("streams")
            #expect(ending.errors.contains("database: the private server in \(home)\n"))
            let quiet = try await command.run("access", "-q", "1")
            #expect(!quiet.errors.contains("database:"))
            let url = try await command.expect(0, "database", "url").trimmingCharacters(
                in: .newlines
            )
            #expect(url.hasPrefix("postgresql://"))
            let other = Command(environment: ["DATABASE_URL": url])
            try await other.expect(0, "streams")
            #expect(try await other.expect(0, "database", "url") == url + "\n")
            let status = try await command.expect(0, "database", "status")
            #expect(status.contains("for development and small ledgers"))
        } catch {
            _ = try await command.run("database", "stop")
            throw error
        }
        try await command.expect(0, "database", "stop")
    }

    @Test func `the URL of a configured database is printed without connecting`() async throws {
        for (setting, url) in [
            ("postgresql://me@nowhere.invalid/x", "postgresql://me@nowhere.invalid/x\n"),
            (
                "host='/a b' user=me dbname=x",
                "postgresql://?user=me&dbname=x&host=%2Fa%20b\n"
            ),
        ] {
            let command = Command(environment: ["DATABASE_URL": setting])
            let printed = try await command.expect(0, "database", "url")
            #expect(printed.replacing("/?", with: "?") == url)
        }
    }

    @Test func `a password in --database-url is removed from the list of processes`() async throws {
        #if os(Linux)
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let one = try folder.write("one.json", try simulation.allPayloads()[0])
        try await withLedger { command, settings in
            try await command.expect(0, simulation.arguments + [one])
            let given = settings.connectionString(with: "password=\(Self.secret)")
            for option in [["--database-url", given], ["--database-url=\(given)"]] {
                let process = try Program("subledger").start(["feed", "--follow"] + option)
                for await _ in process.lines { break }
                let list = FileManager.default.contents(
                    atPath: "/proc/\(process.processId)/cmdline"
                )
                process.signal(SIGTERM)
                _ = await process.ending()
                let text = String(decoding: try #require(list), as: UTF8.self)
                #expect(text.contains("feed\0--follow\0--database-url"), "\(text)")
                #expect(!text.contains(Self.secret) && text.contains("****"), "\(text)")
            }
        }
        #endif
    }
}
