import EventLog
import Foundation
import Postgres
import TestSupport
import Testing

/// A primary with a standby: what each answers, and what a failover keeps.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled(if: Acceptance.isRunning, "make acceptance runs it")
)
struct ReplicaTests {
    @Test func `a standby answers what only reads, and refuses the rest with advice`() async throws
    {
        let server = try await ReplicatedServer(isSynchronous: true)
        let primary = Command(server.settings)
        let simulation = try await Simulation.shared
        let payloads = try simulation.allPayloads()
        let folder = try TestFolder()
        let half = try folder.write(
            "half.ndjson",
            payloads.prefix(payloads.count / 2).joined(separator: [0x0a])
        )
        try await primary.expect(0, "migrate")
        try await primary.expect(0, simulation.arguments + [half])
        try await primary.expect(0, "rebuild", "--quiet")
        let recorded = folder.path(of: "primary.json")
        try await primary.expect(0, "checkpoint", "--quiet", "--no-store", "--out", recorded)
        try await server.waitForStandby()

        let settings = await server.standby
        let standby = Command(settings)
        let id = try #require(
            try await primary.json([StreamLine].self, "streams").first?.originalTransactionId
        )
        for arguments in [
            ["streams", "--json"], ["periods", id], ["state", id, "--at", "2025-06-01"],
            ["explain", id, "--at", "2025-06-01"], ["history", id], ["changes", id],
            ["refunds", id], ["feed"], ["tables", "--json"], ["rejections"], ["report", "drift"],
            ["verify", "--json"], ["verify", "--against", recorded],
            ["verify", "--signatures", "--root-certificate", simulation.root],
        ] {
            let answer = try await standby.expect(0, arguments)
            #expect(try await primary.expect(0, arguments) == answer, "\(arguments)")
        }
        let outside = folder.path(of: "standby.json")
        try await standby.expect(0, "checkpoint", "--quiet", "--no-store", "--out", outside)
        try await primary.expect(0, "verify", "--against", outside)
        // Writers wait for a promotion.
        let impatient = Command(
            environment: standby.environment.merging(["SUBLEDGER_APPEND_SECONDS_MAX": "2"]) { $1 }
        )
        for arguments in [
            simulation.arguments + [simulation.payloads], ["checkpoint"], ["rebuild"],
            ["follow", "--once"], ["tables", "check"], ["migrate"],
        ] {
            let ending = try await impatient.run(arguments)
            #expect(ending.code == 69, "\(arguments): \(ending.errors)")
            #expect(ending.errors.contains("it is a standby"), "\(arguments): \(ending.errors)")
            #expect(ending.errors.contains("target_session_attrs"), "\(arguments)")
        }
        await server.stop()
    }

    /// With asynchronous replication, a failover loses the newest commits.
    ///
    /// The chain of what is left is whole, so only what was recorded outside shows the loss.
    @Test func `what an asynchronous standby lacked is missed by a checkpoint and by a cursor`()
        async throws
    {
        let server = try await ReplicatedServer(isSynchronous: false)
        let command = Command(server.settings)
        let simulation = try await Simulation.shared
        let payloads = try simulation.allPayloads()
        let folder = try TestFolder()
        let halves = try [payloads.prefix(payloads.count / 2), payloads[...]].enumerated().map {
            try folder.write("\($0).ndjson", $1.joined(separator: [0x0a]))
        }
        try await command.expect(0, "migrate")
        try await command.expect(0, simulation.arguments + [halves[0]])
        try await command.expect(0, "rebuild", "--quiet")
        let early = folder.path(of: "early.json")
        try await command.expect(0, "checkpoint", "--quiet", "--no-store", "--out", early)
        try await server.waitForStandby()
        try await server.disconnectStandby()
        let lost = try await command.ingest(
            "--quiet",
            "--root-certificate",
            simulation.root,
            halves[1]
        )
        #expect(lost.appended > 0 && lost.rejected == 0)
        let digests = try await command.rebuiltDigest()
        let late = folder.path(of: "late.json")
        try await command.expect(0, "checkpoint", "--quiet", "--no-store", "--out", late)
        let cursor = try #require(
            try await command.expect(0, "feed").split(separator: "\n").last
        )
        try await server.crash()

        try await command.expectSoundLog()
        try await command.expect(0, "verify", "--against", early)
        try await Self.expectMissing(since: late, notSince: early, command)
        try await command.expect(3, "feed", "--after", try Self.cursor(cursor))
        // Sent again, the facts are news, and the tables end as they were. How many events they
        // make depends on their order.
        let again = try await command.ingest(
            "--quiet",
            "--root-certificate",
            simulation.root,
            simulation.payloads
        )
        #expect(again.appended > 0 && again.rejected == 0)
        try await command.expect(0, "follow", "--once", "--quiet")
        try await command.expect(0, "tables", "check", "--quiet")
        #expect(try await command.rebuiltDigest() == digests)
        try await command.expectSoundLog()
        try await command.expect(3, "verify", "--against", late)
        await server.stop()
    }

    /// Of two checkpoints, the log still has the commits of the earlier one only.
    private static func expectMissing(
        since late: String,
        notSince early: String,
        _ command: Command
    ) async throws {
        let found = try await command.json(
            VerifyDocument.self,
            exit: 3,
            "verify",
            "--against",
            early,
            late
        )
        #expect(found.asItWas.map(\.source) == [early])
        #expect(found.rewritten.first?.isMissing == true)
        #expect(found.rewritten.first?.upTo.source == late)
    }

    private static func cursor(_ line: Substring) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?["cursor"] as? String)
    }
}
