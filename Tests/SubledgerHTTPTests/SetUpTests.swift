import EmbeddedPostgres
import EventLog
import Foundation
import HTTPTypes
import Postgres
import TestSupport
import Testing

/// The set-up that the article *Operating* prints.
@Suite(.enabled { await TestServer.isAvailable })
struct SetUpTests {
    /// The lines of the first block of commands in a section of the article.
    private static func commands(of section: String) throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent(
                "Sources/Subledger/Subledger.docc/Operating.md"
            ),
            encoding: .utf8
        )
        let start = try #require(text.firstRange(of: "\n## \(section)\n")).upperBound
        let block = try #require(text[start...].firstMatch(of: /\n```\n(?<lines>(?s:.)*?)```/))
        return block.lines.split(separator: "\n").map(String.init)
    }

    // Variables for psql and the program: the server, and who its superuser is.
    private static func environment(_ settings: ConnectionSettings) throws -> [String: String] {
        let place = try #require(
            settings.connectionString.firstMatch(of: /host='(.*?)' port=(\d+) user=(\S+)/)
        )
        let folders = [
            URL(fileURLWithPath: try Program("subledger").path).deletingLastPathComponent().path,
            try EmbeddedServer.binaries(), "/usr/bin", "/bin",
        ]
        return [
            "PGHOST": String(place.1), "PGPORT": String(place.2), "PGUSER": String(place.3),
            "PGDATABASE": "postgres", "PATH": folders.joined(separator: ":"),
        ]
    }

    @Test
    func `the commands of the article, line by line, lead to a service that builds its tables`()
        async throws
    {
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: EmbeddedServer.Options(lifetime: .process)
        )
        let environment = try Self.environment(try await server.start())
        func run(_ line: String) async throws -> Program.Ending {
            try await Program(path: "/bin/sh").run(["-c", line], environment: environment)
        }
        var services = 0
        for line in try Self.commands(of: "Roles") {
            guard line.contains("subledger serve") else {
                let ending = try await run(line)
                #expect(ending.code == 0, "\(line): \(ending.errors)")
                continue
            }
            services += 1
            let service = try Program(path: "/bin/sh").start(
                ["-c", "exec \(line) --port 0"],
                environment: environment
            )
            var url = ""
            for await line in service.errorLines {
                guard let match = line.firstMatch(of: /listening at (http:.*)$/) else { continue }
                url = String(match.1)
                break
            }
            try await eventually("all tables are live and followed") {
                let listed = try await run(
                    line.replacing(/serve --follow/, with: "tables --json")
                )
                return listed.code == 0
                    && listed.output.contains(#""state":"live""#)
            }
            let ready = try await run("curl -s \(url)/readyz")
            #expect(ready.output.contains(#"{"name":"tables","ok":true}"#), "\(ready.output)")
            service.signal(SIGTERM)
            #expect(await service.ending().code == 0)
        }
        #expect(services == 1)
        // Without the privilege to make a schema, it does not start instead of failing for ever.
        for line in [
            "psql -c 'CREATE DATABASE other'",
            "subledger migrate --database-url 'dbname=other'",
        ] { #expect(try await run(line).code == 0, "\(line)") }
        let refused = try await run(
            "subledger serve --follow --port 0 "
                + "--database-url 'dbname=other user=subledger_service'"
        )
        #expect(refused.code == 77, "\(refused.errors)")
        #expect(
            refused.errors.contains("GRANT CREATE ON DATABASE other TO subledger_service"),
            "\(refused.errors)"
        )
        try await server.stop()
    }
}
