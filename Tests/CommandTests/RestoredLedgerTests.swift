import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// A ledger that `pg_restore` has copied to a separate server.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled(if: Acceptance.isRunning, "make acceptance runs it"),
    .enabled("the tests' own server lets every role in") {
        ProcessInfo.processInfo.environment["SUBLEDGER_TEST_DATABASE_URL"] == nil
    }
)
struct RestoredLedgerTests {
    /// How it was restored, and what is missing before `migrate`.
    struct Way: Sendable, CustomTestStringConvertible {
        let options: [String]
        let restored: Int32
        let rebuild: Int32
        let words: [String]

        var testDescription: String { options.joined(separator: " ") }
    }

    private static let ways = [
        // pg_restore counts its errors about roles and continues.
        Way(
            options: [],
            restored: 1,
            rebuild: 78,
            words: ["no role ledger_projector", "subledger migrate"]
        ),
        Way(
            options: ["--no-owner", "--no-privileges"],
            restored: 0,
            rebuild: 78,
            words: ["no role ledger_projector", "subledger migrate"]
        ),
    ]

    @Test(.disabled(if: CitusCluster.shared != nil, "the new server has no Citus"), arguments: ways)
    func `one migrate completes a restored ledger`(way: Way) async throws {
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await command.expect(0, "rebuild", "--into", "kept", "--quiet")
            try await settings.meddle(
                "CREATE VIEW public.mine AS SELECT count(*) FROM projection.refunds"
            )
            let heads = try await command.expect(0, "verify", "--json")
            let folder = try TestFolder()
            let dump = folder.path(of: "ledger.dump")
            let dumped = try await Program(ofServer: "pg_dump").run([
                "-Fc", "--file", dump, "--dbname", settings.fullConnectionString,
            ])
            #expect(dumped.code == 0, "\(dumped.errors)")
            let server = EmbeddedServer(
                home: TestServer.temporaryHome(),
                options: .init(lifetime: .process, settings: ["fsync": "off"])
            )
            let new = try await server.start()
            let restored = try await Program(ofServer: "pg_restore").run(
                way.options + ["--dbname", new.fullConnectionString, dump]
            )
            #expect(restored.code == way.restored, "\(restored.errors)")
            try await Self.expectWhole(new, way)
            #expect(try await Command(new).expect(0, "verify", "--json") == heads)
            try await server.stop()
        }
    }

    @Test(.disabled(if: CitusCluster.shared != nil, "the new server has no Citus"))
    func `with the roles of the old cluster a restored ledger lacks nothing`() async throws {
        let simulation = try await Simulation.shared
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            let folder = try TestFolder()
            let (dump, roles) = (folder.path(of: "ledger.dump"), folder.path(of: "roles.sql"))
            let outside = folder.path(of: "outside.json")
            try await command.expect(0, "checkpoint", "--quiet", "--no-store", "--out", outside)
            let heads = try await command.expect(0, "verify", "--json")
            let server = EmbeddedServer(
                home: TestServer.temporaryHome(),
                options: .init(lifetime: .process, settings: ["fsync": "off"])
            )
            let new = try await server.start()
            for (program, arguments) in [
                ("pg_dumpall", ["--roles-only", "-f", roles, "-d", settings.fullConnectionString]),
                ("pg_dump", ["-Fc", "-f", dump, "-d", settings.fullConnectionString]),
                // It complains about the one role that is there already.
                ("psql", ["-q", "-f", roles, new.fullConnectionString]),
                ("pg_restore", ["--exit-on-error", "-d", new.fullConnectionString, dump]),
            ] {
                let ending = try await Program(ofServer: program).run(arguments)
                #expect(ending.code == 0, "\(program): \(ending.errors)")
            }
            let restored = Command(new)
            #expect(try await restored.expect(0, "migrate").contains("up to date"))
            #expect(try await restored.expect(0, "verify", "--json") == heads)
            try await restored.expect(0, "verify", "--against", outside)
            try await restored.expect(0, "tables", "check", "--quiet")
            let again = try await restored.ingest(
                "--quiet",
                "--root-certificate",
                simulation.root,
                simulation.payloads
            )
            #expect(again.appended == 0 && again.rejected == 0)
            #expect(try await restored.rebuiltDigest() == command.rebuiltDigest())
            try await server.stop()
        }
    }

    private static func expectWhole(_ settings: ConnectionSettings, _ way: Way) async throws {
        let command = Command(settings)
        let before = try await command.run("rebuild", "--quiet")
        #expect(before.code == way.rebuild, "\(before.errors)")
        for words in way.words { #expect(before.errors.contains(words), "\(before.errors)") }
        let mended = try await command.expect(0, "migrate")
        for what in [
            "role ledger_projector", "owner of ledger.event", "owner of schema projection",
        ] { #expect(mended.contains(what), "\(mended)") }
        #expect(try await command.expect(0, "migrate").contains("up to date"))
        // The restored tables are live and stay so.
        for arguments in [
            ["verify"], ["tables", "check", "--quiet"], ["follow", "--once", "--quiet"],
            ["tables"], ["rebuild", "--quiet"], ["tables", "check", "--quiet"],
            ["tables", "discard", "--schema", "kept", "--quiet"], ["feed", "--limit", "1"],
        ] { try await command.expect(0, arguments) }
        #expect(try await settings.number("SELECT count(*) FROM public.mine") == 1)
        // Each role does its own work, and no other role's.
        let simulation = try await Simulation.shared
        let ingest = simulation.arguments + [simulation.payloads]
        try await settings.meddle(
            """
            CREATE ROLE projector LOGIN IN ROLE ledger_projector;
            CREATE ROLE writer LOGIN IN ROLE ledger_writer;
            CREATE ROLE reader LOGIN IN ROLE ledger_reader;
            GRANT CREATE ON DATABASE \(EmbeddedServer.databaseName) TO projector
            """
        )
        let projector = Command(settings.loggedIn(as: "projector"))
        try await projector.expect(0, "rebuild", "--quiet")
        try await projector.expect(0, "follow", "--once", "--quiet")
        try await projector.expect(77, ingest)
        try await Command(settings.loggedIn(as: "writer")).expect(0, ingest)
        try await Command(settings.loggedIn(as: "reader")).expect(0, "tables")
        try await Command(settings.loggedIn(as: "reader")).expect(77, ingest)
        let session = try await PostgresSession.connect(settings.loggedIn(as: "reader"))
        let rows = try await session.query("SELECT count(*) FROM projection.movements")
        #expect(try rows.single().int8(0) > 0)
        await session.close()
    }
}

/// The short form of ``RestoredLedgerTests`` and ``LogicalReplicationTests``: a copy on the same
/// server, where every role exists already.
@Suite(.enabled { await TestServer.isAvailable })
struct RestoredCopyTests {
    // A database that quotes all identifiers stores the paths of restored functions in another
    // spelling, which `migrate` repairs.
    @Test(
        .disabled(if: CitusCluster.shared != nil, "the copy has no Citus"),
        .disabled(if: HostileShadows.areEverywhere, "its databases quote all identifiers")
    )
    func `a dump restored into another database has the same heads and continues`() async throws {
        let simulation = try await Simulation.shared
        try await withSimulatedLedger(rebuilt: true) { command, settings in
            try await TestServer.shared.withDatabase { copy in
                let folder = try TestFolder()
                let dump = folder.path(of: "ledger.dump")
                for (program, arguments) in [
                    ("pg_dump", ["-Fc", "-f", dump, "-d", settings.fullConnectionString]),
                    ("pg_restore", ["--exit-on-error", "-d", copy.fullConnectionString, dump]),
                ] {
                    let ending = try await Program(ofServer: program).run(arguments)
                    try #require(ending.code == 0, "\(program): \(ending.errors)")
                }
                let restored = Command(copy)
                #expect(try await restored.expect(0, "migrate").contains("up to date"))
                let heads = try await command.expect(0, "verify", "--json")
                #expect(try await restored.expect(0, "verify", "--json") == heads)
                try await restored.expect(0, "tables", "check", "--quiet")
                let again = try await restored.ingest(
                    "--quiet",
                    "--root-certificate",
                    simulation.root,
                    simulation.payloads
                )
                #expect(again.appended == 0 && again.rejected == 0)
                #expect(try await restored.rebuiltDigest() == command.rebuiltDigest())
            }
        }
    }
}
