import EmbeddedPostgres
import EventLog
import Foundation
import HTTPTypes
import HummingbirdTesting
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// A database whose disk is really full.
@Suite(
    .enabled { await TestServer.isAvailable },
    .enabled("only acceptance mounts a small disk, which needs root") {
        Acceptance.isRunning && geteuid() == 0
    }
)
struct FullDiskTests {
    @Test func `a full disk is 503 with its name, and goes on by itself once there is space`()
        async throws
    {
        let disk = TestServer.temporaryHome()
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try await Self.expectDone(
            "mount",
            ["-t", "tmpfs", "-o", "size=384m,mode=755", "subledger-test", disk]
        )
        let server = EmbeddedServer(
            home: "\(disk)/home",
            options: EmbeddedServer.Options(lifetime: .process)
        )
        do {
            let settings = try await server.start()
            _ = try await Migrator.migrate(settings)
            try await TestService.run(on: settings, limits: ReadinessTests.limits) { service in
                try await Self.fillAndFree(disk, service)
            }
            try await server.stop()
        } catch {
            Issue.record(error)
            try await server.stop()
        }
        try await Self.expectDone("umount", [disk])
        try FileManager.default.removeItem(atPath: disk)
    }

    private static func fillAndFree(_ disk: String, _ service: TestService) async throws {
        let path = "/v1/appstore/notifications"
        var payloads = TestService.notifications(60)[...]
        #expect(try await service.post(path, payloads.removeFirst()).status == 200)
        #expect(try await service.get("/readyz").status == 200)

        let filler = "\(disk)/filler"
        try fill(filler)
        let ready = try await service.get("/readyz")
        #expect(ready.status == 503)
        #expect(ready.headers[.retryAfter] == "5")
        #expect(String(decoding: ready.body, as: UTF8.self).contains("disk-full"))
        // What fits into pages that are there is still accepted.
        var refused: [UInt8]?
        var accepted = 1
        while refused == nil, let payload = payloads.popFirst() {
            let answer = try await service.post(path, payload)
            if answer.status == 200 {
                accepted += 1
            } else {
                #expect(answer.status == 503)
                #expect(answer.headers[.retryAfter] == "5")
                #expect(try answer.json["code"] as? String == "disk-full")
                refused = payload
            }
        }
        let again = try #require(refused, "the disk was not full")

        try FileManager.default.removeItem(atPath: filler)
        // Without an append that succeeds, the fault counts for ten seconds.
        try await eventually("it is ready by itself") {
            try await service.get("/readyz").status == 200
        }
        #expect(try await service.post(path, again).status == 200)
        let report = try await service.ledger.log.verify()
        #expect(report.isOK)
        #expect(report.events >= Int64(accepted), "nothing that was accepted is lost")
    }

    private static func fill(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        var size = 1 << 20
        let zeros = [UInt8](repeating: 0, count: size)
        while size > 0 {
            if write(file, zeros, size) <= 0 { size /= 2 }
        }
        close(file)
    }

    private static func expectDone(_ program: String, _ arguments: [String]) async throws {
        let path = try #require(Program.installed(program))
        let done = try await Program(path: path).run(arguments)
        try #require(done.code == 0, "\(done.errors)")
    }
}
