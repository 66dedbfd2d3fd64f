import EventLog
import Foundation
import Postgres
import TestSupport
import Testing

/// Every refusal of the log and the projector that can be provoked from outside: its exit code, and
/// a message that names the subject and the next step.
@Suite(.enabled { await TestServer.isAvailable })
struct ErrorGalleryTests {
    /// How a database gets into the state that a code describes.
    struct Case: CustomStringConvertible {
        let code: EventLogError.Code
        let exit: Int32
        let meddling: String
        let arguments: [String]
        let words: [String]

        var description: String { code.rawValue }
    }

    private static let cases = [
        Case(
            code: .notMigrated,
            exit: 78,
            meddling: "DROP SCHEMA ledger CASCADE",
            arguments: ["verify"],
            words: ["no ledger", "subledger migrate"]
        ),
        Case(
            code: .schemaTooNew,
            exit: 78,
            meddling: "INSERT INTO ledger.migration (version, name, checksum) "
                + "VALUES (99, 'v099-later', repeat('0', 64))",
            arguments: ["streams"],
            words: ["v099-later", "newer subledger"]
        ),
        Case(
            code: .schemaTooOld,
            exit: 78,
            meddling: "DELETE FROM ledger.migration",
            arguments: ["streams"],
            words: ["subledger migrate"]
        ),
        Case(
            code: .migrationEdited,
            exit: 78,
            meddling: "UPDATE ledger.migration SET checksum = repeat('0', 64) WHERE version = 1",
            arguments: ["migrate"],
            words: ["v001-ledger", "never edited"]
        ),
        Case(
            code: .laneCountFixed,
            exit: 78,
            meddling: "",
            arguments: ["migrate", "--lanes", "2"],
            words: ["1 lane", "never be changed", "new ledger"]
        ),
        Case(
            code: .notDistributable,
            exit: 78,
            meddling: "",
            arguments: ["migrate", "--distributed"],
            words: ["Citus", "CREATE EXTENSION citus", "without --distributed"]
        ),
        Case(
            code: .malformedLog,
            exit: 3,
            meddling: "UPDATE ledger.event SET content = '\\x63' WHERE lane_offset = 1",
            arguments: ["feed"],
            words: ["1", "subledger verify"]
        ),
        Case(
            code: .database,
            exit: 70,
            meddling: "ALTER TABLE ledger.event ADD CONSTRAINT unforeseen CHECK (false) NOT VALID",
            arguments: ["INGEST"],
            words: ["append", "unforeseen"]
        ),
    ]

    // Citus distributes the tests' own ledger.
    @Test(arguments: cases.filter { CitusCluster.shared == nil || $0.code != .notDistributable })
    func `a refusal names its subject and the next step`(_ gallery: Case) async throws {
        let simulation = try await Simulation.shared
        let folder = try TestFolder()
        let payloads = try simulation.allPayloads()
        let one = try folder.write("one.json", payloads[0])
        let rest = try folder.write("rest.ndjson", payloads[5..<9].joined(separator: [0x0a]))
        try await withLedger { command, settings in
            try await command.expect(0, simulation.arguments + [one])
            if !gallery.meddling.isEmpty { try await settings.meddle(gallery.meddling) }
            let arguments =
                gallery.arguments == ["INGEST"]
                ? simulation.arguments + [rest] : gallery.arguments
            let ending = try await command.run(arguments)
            #expect(ending.code == gallery.exit, "\(ending.errors)")
            #expect(ending.output.isEmpty, "\(ending.output)")
            #expect(ending.errors.hasPrefix("subledger: "), "\(ending.errors)")
            for word in gallery.words + ["[\(gallery.code.rawValue)]"] {
                #expect(ending.errors.contains(word), "\(word): \(ending.errors)")
            }
            print("\(gallery.code.rawValue): \(ending.errors)", terminator: "")
        }
    }

    @Test func `a role without rights exits with 77 and names the role to grant`() async throws {
        let simulation = try await Simulation.shared
        let role = "stranger_\(ProcessInfo.processInfo.processIdentifier)"
        try await withLedger { command, settings in
            try await settings.meddle("CREATE ROLE \(role)")
            let stranger = Command(
                environment: command.environment.merging(["PGOPTIONS": "-c role=\(role)"]) { $1 }
            )
            let endings = [
                try await stranger.run("verify"),
                try await stranger.run(simulation.arguments + [simulation.payloads]),
                try await stranger.run("migrate"),
            ]
            try await settings.meddle("DROP ROLE \(role)")
            for ending in endings {
                #expect(ending.code == 77, "\(ending.errors)")
                #expect(ending.errors.contains("[permission-denied]"), "\(ending.errors)")
                #expect(ending.output.isEmpty)
            }
            #expect(endings[0].errors.contains("ledger_reader"))
        }
    }

    @Test func `a database that does not exist exits with 69 and the next step`() async throws {
        try await withLedger { command, settings in
            var absent = settings
            absent.database = "no_such_database"
            let ending = try await Command(absent).run("verify")
            #expect(ending.code == 69, "\(ending.errors)")
            #expect(ending.errors.contains("does not exist"), "\(ending.errors)")
            #expect(ending.errors.contains("DATABASE_URL"), "\(ending.errors)")
        }
    }

    @Test func `an unknown projection exits with 64, and the known ones are listed`() async throws {
        try await withLedger { command, _ in
            let ending = try await command.run("rebuild", "nonsense")
            #expect(ending.code == 64, "\(ending.errors)")
            #expect(ending.errors.contains("nonsense") && ending.errors.contains("active_periods"))
        }
    }

    @Test func `a rebuild that the database refuses reports that refusal`() async throws {
        try await withLedger { command, settings in
            try await command.expect(0, "rebuild")
            let page = "ALTER TABLE projection.ledger_projection"
            try await settings.meddle("\(page) OWNER TO CURRENT_USER")
            let foreign = try await command.run("rebuild")
            #expect(foreign.code == 77, "\(foreign.errors)")
            #expect(foreign.errors.contains("GRANT ledger_projector"), "\(foreign.errors)")
            try await settings.meddle(
                "\(page) OWNER TO ledger_projector; \(page) ADD CONSTRAINT no_more CHECK (false) NOT VALID"
            )
            let ending = try await command.run("rebuild")
            #expect(ending.code == 70, "\(ending.errors)")
            #expect(ending.errors.contains("rebuild: "))
            #expect(ending.errors.contains("no_more"), "\(ending.errors)")
        }
    }

    @Test func `an object with the name of a view exits with 69 and is left alone`() async throws {
        try await withLedger { command, settings in
            try await command.expect(0, "rebuild")
            try await settings.meddle(
                """
                DROP VIEW projection.active_periods CASCADE;
                CREATE TABLE projection.active_periods ()
                """
            )
            for arguments in [["rebuild"], ["tables", "diff"]] {
                let ending = try await command.run(arguments)
                #expect(ending.code == 69, "\(ending.errors)")
                for word in ["\"active_periods\" is not a view", "rename or drop it"] {
                    #expect(ending.errors.contains(word), "\(ending.errors)")
                }
            }
        }
    }

    @Test func `a full folder for temporary files exits with 78 and names TMPDIR`() async throws {
        let probe = try await Program(path: "/usr/bin/env").run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        )
        guard probe.code == 0 else {
            print("SKIPPED: no file system can be mounted here: \(probe.errors)")
            return
        }
        let simulation = try await Simulation.shared
        try await withLedger { command, settings in
            try await command.expect(0, simulation.arguments + [simulation.payloads])
            let before = try await command.rebuiltDigest()
            // More than the folder can hold, at the offsets of a log that is read through a
            // temporary file.
            try await settings.meddle(ErrorGalleryTests.longLog)
            let folder = try TestFolder()
            // Only the command sees this file system, which disappears with it.
            let script = "mount -t tmpfs -o size=1m tmpfs \"$TMPDIR\" && exec \"$0\" \"$@\""
            let ending = try await Program(path: "/usr/bin/env").run(
                ["unshare", "-m", "sh", "-c", script, try Program("subledger").path]
                    + ["rebuild", "--jobs", "2", "--quiet"],
                environment: command.environment.merging(["TMPDIR": folder.path]) { $1 }
            )
            #expect(ending.code == 78, "\(ending.errors)")
            #expect(ending.output.isEmpty)
            for word in ["No space left", folder.path, "TMPDIR", "[temporary-file]"] {
                #expect(ending.errors.contains(word), "\(word): \(ending.errors)")
            }
            print("temporary-file: \(ending.errors)", terminator: "")
            try await settings.meddle(
                """
                DELETE FROM ledger.event WHERE lane_offset > 90000;
                DELETE FROM ledger.commit WHERE commit_no = 90000
                """
            )
            try await RebuildFailureTests.expectWholeTables(command, settings, before)
        }
    }

    private static let longLog = """
        INSERT INTO ledger.event SELECT r.* FROM ledger.event e, generate_series(1, 2000) g,
            jsonb_populate_record(e, jsonb_build_object('fact_key', gen_random_uuid(), 'lane_offset', 98000 + g,
                'as_of_ms', e.as_of_ms + g, 'content', '\\x' || repeat('00', 1024))) r
        WHERE e.lane_offset = 1;
        INSERT INTO ledger.commit SELECT r.* FROM ledger.commit c,
            jsonb_populate_record(c, jsonb_build_object('commit_no', 90000,
                'first_offset', 98001, 'count', 2000, 'confirmations', 0)) r
        WHERE c.commit_no = 1
        """
}
