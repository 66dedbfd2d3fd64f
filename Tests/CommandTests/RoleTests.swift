import EventLog
import Foundation
import Postgres
import TestSupport
import Testing

/// Login roles with exactly the rights that schema/README.md lists for a command.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled("the tests' own server lets every role in") {
        ProcessInfo.processInfo.environment["SUBLEDGER_TEST_DATABASE_URL"] == nil
    }
)
struct RoleTests {
    @Test func `every command runs with the role that it needs, and not with less`() async throws {
        // The ledger's roles belong to the cluster: they exist once one ledger was migrated.
        try await withLedger { _, _ in }
        try await TestServer.shared.withDatabase { settings in
            let roles = try await Roles(settings)
            do {
                try await Self.migrateAndIngest(roles)
                try await Self.buildAndFollow(roles)
                try await roles.drop()
            } catch {
                try await roles.drop()
                throw error
            }
        }
    }

    private static func migrateAndIngest(_ roles: Roles) async throws {
        let simulation = try await Simulation.shared
        let ingest = simulation.arguments + [simulation.payloads]
        for role in [roles.owner, roles.builder] { try await role.expect(77, "migrate") }
        try await roles.founder.expect(0, "migrate", "--lanes", "1")
        // With nothing to do, migrate needs only to read.
        try await roles.reader.expect(0, "migrate")
        try await roles.settings.meddle("DROP TRIGGER append_only_statement ON ledger.event")
        for role in [roles.reader, roles.writer, roles.builder] {
            try await role.expect(77, "migrate")
        }
        // One member of ledger_owner can migrate what another has created.
        try await roles.owner.expect(0, "migrate")
        for role in [roles.reader, roles.builder] { try await role.expect(77, ingest) }
        try await roles.writer.expect(0, ingest)
        for role in [roles.reader, roles.builder] { try await role.expect(0, "verify") }
    }

    private static func buildAndFollow(_ roles: Roles) async throws {
        for role in [roles.reader, roles.writer, roles.follower, roles.founder] {
            try await role.expect(77, "rebuild", "--quiet")
        }
        try await roles.builder.expect(0, "rebuild", "--quiet")
        try await roles.follower.expect(0, "follow", "--once", "--quiet")
        for role in [roles.reader, roles.writer, roles.owner] {
            try await role.expect(77, "follow", "--once", "--quiet")
        }
        try await roles.builder.expect(0, "tables", "check", "--quiet")
        try await roles.builder.expect(0, "tables", "diff", "--quiet")
        // A finished build can be promoted and dropped without the right to create schemas.
        try await roles.follower.expect(0, "tables", "promote", "--quiet")
        try await roles.follower.expect(77, "tables", "diff", "--quiet")
        try await roles.builder.expect(0, "rebuild", "--into", "kept", "--quiet")
        try await roles.follower.expect(0, "tables", "discard", "--schema", "kept", "--quiet")
        for arguments in [
            ["tables"], ["feed"], ["effects"], ["streams"], ["report", "drift"],
            ["follow", "--wait-for", "1"], ["rejections"], ["catalog", "list"],
        ] { try await roles.reader.expect(0, arguments) }
        try await Self.erase(roles)
        let session = try await PostgresSession.connect(roles.settings(of: roles.readerName))
        let rows = try await session.query("SELECT count(*) FROM projection.movements")
        #expect(try rows.single().int8(0) > 0)
        await session.close()
    }
}

extension RoleTests {
    // Only a member of ledger_eraser: not even the owner, who could do worse by other means.
    private static func erase(_ roles: Roles) async throws {
        let streams = try await roles.reader.json([StreamLine].self, "streams")
        let stream = try #require(streams.first { $0.environment == "Production" })
        let arguments = [
            "erase", "subscription", stream.originalTransactionId, "--reason", "test",
            "--with-siblings",
        ]
        try await roles.reader.expect(0, arguments + ["--dry-run"])
        // The payloads that are erased then are in files.
        let folder = try TestFolder()
        let move = ["evidence", "move", "--before", "2099-01-01", "--to", folder.path]
        for role in [roles.reader, roles.writer, roles.builder, roles.eraser] {
            try await role.expect(77, move)
        }
        let moved = try await roles.owner.expect(0, move)
        #expect(moved.hasPrefix("moved "), "\(moved)")
        #expect(try await roles.owner.expect(0, move) == "nothing to move\n")
        for role in [roles.reader, roles.writer, roles.builder, roles.owner] {
            try await role.expect(77, arguments)
        }
        try await roles.eraser.expect(0, arguments)
        try await roles.reader.expect(0, "verify")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        try await roles.follower.expect(0, "follow", "--once", "--quiet")
    }
}

/// Login roles, each with the rights for its work.
private struct Roles {
    /// A member of ledger_owner that may create schemas, and one that may not.
    let founder: Command
    let owner: Command
    /// The same for ledger_projector.
    let builder: Command
    let follower: Command
    let writer: Command
    let reader: Command
    let eraser: Command
    let readerName: String
    let settings: ConnectionSettings
    private let names: [String]

    init(_ settings: ConnectionSettings) async throws {
        self.settings = settings
        let process = ProcessInfo.processInfo.processIdentifier
        names = ["founder", "owner", "builder", "follower", "writer", "reader", "eraser"].map {
            "\($0)_\(process)"
        }
        readerName = names[5]
        let database = try #require(settings.database)
        try await settings.meddle(
            names.map { "CREATE ROLE \($0) LOGIN" }.joined(separator: ";") + """
                ; GRANT ledger_owner TO \(names[0]), \(names[1]);
                GRANT ledger_projector TO \(names[2]), \(names[3]);
                GRANT CREATE ON DATABASE \(database) TO \(names[0]), \(names[2]);
                GRANT ledger_writer TO \(names[4]);
                GRANT ledger_reader TO \(names[5]);
                GRANT ledger_eraser TO \(names[6])
                """
        )
        let commands = names.map { Command(settings.loggedIn(as: $0)) }
        (founder, owner, builder) = (commands[0], commands[1], commands[2])
        (follower, writer, reader) = (commands[3], commands[4], commands[5])
        eraser = commands[6]
    }

    func settings(of role: String) -> ConnectionSettings { settings.loggedIn(as: role) }

    func drop() async throws {
        let list = names.joined(separator: ", ")
        try await settings.meddle("DROP OWNED BY \(list); DROP ROLE \(list)")
    }
}
