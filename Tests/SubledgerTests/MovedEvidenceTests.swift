import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Projector
import Subledger
import Synchronization
import TestSupport
import Testing

/// Payloads that were moved from the database to files.
@Suite(.enabled { await TestServer.isAvailable })
struct MovedEvidenceTests {
    @Test(arguments: [1, 4])
    func `moved payloads are read, verified and proven as before`(lanes: Int) async throws {
        try await ErasureTests.withFilled(lanes: lanes) { ledger, settings in
            let before = try await Self.payloads(of: ledger)
            let moved = try await Self.inFolder { folder in
                let files = try await Self.move(ledger, folder)
                #expect(files.count > lanes, "several files a lane")
                #expect(try await Self.bodies(settings) == 0)
                #expect(try await Self.payloads(of: ledger) == before)
                try await Self.expectProven(ledger)
                #expect(try await Self.move(ledger, folder).isEmpty)

                // What comes later is stored in the database, and moved to further files.
                let later = FilledLedger.simulator.life(FilledLedger.lives + 1).deliveries()
                try await ledger.ingest(later)
                #expect(try await ledger.ingest(later).appended == 0)
                #expect(try await Self.bodies(settings) > 0)
                let further = try await Self.move(ledger, folder)
                for file in further {
                    let last = files.last { $0.lane == file.lane }?.last ?? 0
                    #expect(file.first > last)
                }
                #expect(try await Self.bodies(settings) == 0)
                try await Self.expectProven(ledger)
                let projector = Projector(log: ledger.log, settings: settings)
                _ = try await projector.rebuild()
                return files
            }
            #expect(moved.allSatisfy { $0.byteCount > 0 })
        }
    }

    @Test func `a missing or changed file is named, and one in another folder is found`()
        async throws
    {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            try await Self.inFolder { folder in
                let files = try await Self.move(ledger, folder)
                let file = files[files.count / 2]
                let url = URL(fileURLWithPath: file.path)
                let content = try Data(contentsOf: url)

                try FileManager.default.removeItem(at: url)
                let missing = try await ledger.log.verify().firstMismatch
                #expect(missing?.reason.contains(file.path) == true)
                #expect(missing?.reason.contains("SUBLEDGER_EVIDENCE_FOLDER") == true)

                var changed = content
                changed[changed.count - 1] ^= 1
                try changed.write(to: url)
                #expect(try await !ledger.log.verify().isOK)
                try content.prefix(content.count - 1).write(to: url)
                #expect(try await !ledger.log.verify().isOK)
                // The file of other payloads, under this one's name.
                try Data(contentsOf: URL(fileURLWithPath: files[0].path)).write(to: url)
                let other = try await ledger.log.verify().firstMismatch
                #expect(other?.reason.contains("is not the file of payloads") == true)
                try content.write(to: url)
                #expect(try await ledger.log.verify().isOK)

                let renamed = folder + "-elsewhere"
                try FileManager.default.moveItem(atPath: folder, toPath: renamed)
                #expect(try await !ledger.log.verify().isOK)
                var options = FilledLedger.options
                options.evidenceFolder = renamed
                let elsewhere = try await EventLog.open(settings, options)
                #expect(try await elsewhere.verify().isOK)
                await elsewhere.close()
                try FileManager.default.moveItem(atPath: renamed, toPath: folder)
            }
        }
    }

    @Test func `a file is believed only as far as it has bytes, and nothing else is opened`()
        async throws
    {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            try await Self.inFolder { folder in
                let file = try #require(try await Self.move(ledger, folder).first)
                let url = URL(fileURLWithPath: file.path)
                let content = try Data(contentsOf: url)
                func expectNamed(_ reason: String) async throws {
                    let found = try await ledger.log.verify().firstMismatch
                    #expect(found?.reason.contains(file.path) == true, "\(found as Any)")
                    #expect(found?.reason.contains(reason) == true, "\(found as Any)")
                }

                // The byte counts of the bodies are 4 bytes each and begin after the head.
                let count = Int(file.last - file.first + 1)
                let start = 4 + "subledger/evidence-file".utf8.count + 16 + 4 + 8 + 4
                var forged = content
                for byte in start..<start + 4 * count { forged[byte] = 0xff }
                try forged.write(to: url)
                try await expectNamed("shorter than it was written")
                try FileManager.default.removeItem(at: url)
                #expect(mkfifo(file.path, 0o600) == 0)
                try await expectNamed("not a regular file")
                try FileManager.default.removeItem(at: url)
                try content.write(to: url)

                // An owner's row may name any range.
                let session = try await PostgresSession.connect(settings)
                for last in [Int64.max, Int64.max / 4, 4_000_000_000] {
                    try await session.execute(
                        """
                        BEGIN; SET LOCAL session_replication_role = replica;
                        ALTER TABLE ledger.evidence_file DISABLE TRIGGER ALL;
                        UPDATE ledger.evidence_file SET last_evidence_no = \(last)
                        WHERE first_evidence_no = \(file.first); COMMIT
                        """
                    )
                    try await expectNamed("shorter than it was written")
                }
                await session.close()
            }
        }
    }

    @Test func `what lies at the place of a new file is not written into`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            try await Self.inFolder { folder in
                let session = try await PostgresSession.connect(settings)
                try await session.execute(
                    "ALTER TABLE ledger.evidence_file ADD CONSTRAINT test CHECK (false)"
                )
                await #expect(throws: EventLogError.self) { try await Self.move(ledger, folder) }
                try await session.execute("ALTER TABLE ledger.evidence_file DROP CONSTRAINT test")
                let name = try #require(
                    FileManager.default.contentsOfDirectory(atPath: folder).first
                )
                try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
                let other = "\(folder)/other"
                try Data("other".utf8).write(to: URL(fileURLWithPath: other))
                try FileManager.default.createSymbolicLink(
                    atPath: "\(folder)/\(name).part",
                    withDestinationPath: other
                )
                #expect(try await !Self.move(ledger, folder).isEmpty)
                #expect(try String(contentsOfFile: other, encoding: .utf8) == "other")
                try await Self.expectProven(ledger)
                await session.close()
            }
        }
    }

    @Test(arguments: [1, 4])
    func `an erasure removes moved payloads from their files, also if it was interrupted`(
        lanes: Int
    ) async throws {
        try await ErasureTests.withFilled(lanes: lanes) { ledger, settings in
            try await Self.inFolder { folder in
                let files = try await Self.move(ledger, folder).map(\.path)
                let stream = try await ErasureTests.longest(of: ledger)
                let target = ErasureTarget(stream: stream, scope: .subscription)
                let old = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
                func erase() async throws {
                    _ = try await ledger.erase(
                        [target],
                        reason: ErasureTests.reason,
                        withSiblings: true
                    )
                }

                // Without the files, nothing is erased.
                for file in files { try FileManager.default.removeItem(atPath: file) }
                let refused = await #expect(throws: EventLogError.self) { try await erase() }
                #expect(refused?.code == .evidenceFile)
                for (file, content) in zip(files, old) {
                    try content.write(to: URL(fileURLWithPath: file))
                }
                #expect(try await ledger.log.verify().erasedEvents == 0)

                try await erase()
                let new = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
                #expect(new != old)
                #expect(new.map(\.count) == old.map(\.count))
                try await ErasureTests.expectSound(ledger, erased: 1)

                // As if it had been killed between its transaction and the files.
                for (file, content) in zip(files, old) {
                    try content.write(to: URL(fileURLWithPath: file))
                }
                let left = try await ledger.log.verify().firstMismatch
                #expect(left?.reason.contains("still contains it") == true)
                try await erase()
                #expect(
                    try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == new
                )
                try await ErasureTests.expectSound(ledger, erased: 1)
            }
        }
    }

    @Test func `a move that ends after its file was written is continued by the next`()
        async throws
    {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            try await Self.inFolder { folder in
                let bodies = try await Self.bodies(settings)
                let session = try await PostgresSession.connect(settings)
                try await session.execute(
                    "ALTER TABLE ledger.evidence_file ADD CONSTRAINT test CHECK (false)"
                )
                let ended = await #expect(throws: EventLogError.self) {
                    try await Self.move(ledger, folder)
                }
                #expect(ended?.code == .database)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
                #expect(try await Self.bodies(settings) == bodies)
                try await session.execute("ALTER TABLE ledger.evidence_file DROP CONSTRAINT test")

                // A file that a copy of this ledger has written is not touched.
                let name = try #require(
                    FileManager.default.contentsOfDirectory(atPath: folder).first
                )
                let url = URL(fileURLWithPath: folder).appendingPathComponent(name)
                let content = try Data(contentsOf: url)
                var changed = content
                changed[changed.count - 1] ^= 1
                try changed.write(to: url)
                let foreign = await #expect(throws: EventLogError.self) {
                    try await Self.move(ledger, folder)
                }
                #expect(foreign?.code == .evidenceFile)
                #expect(try Data(contentsOf: url) == changed)
                try content.write(to: url)

                #expect(try await !Self.move(ledger, folder).isEmpty)
                try await Self.expectProven(ledger)
                await session.close()
            }
        }
    }

    @Test func `only a recorded file lets a body go, and nothing else of its row`() async throws {
        try await ErasureTests.withFilled(lanes: 1) { ledger, settings in
            let session = try await PostgresSession.connect(settings)
            let record = """
                INSERT INTO ledger.evidence_file VALUES (0, 1, 2, clock_timestamp(), '/gone')
                """
            for (first, change, isAllowed) in [
                ("", "SET body = NULL WHERE evidence_no = 1", false),
                (record, "SET body = NULL WHERE evidence_no = 3", false),
                (record, "SET body = NULL, source = 'x' WHERE evidence_no = 1", false),
                (record, "SET body = '' WHERE evidence_no = 1", false),
                (record, "SET body = NULL WHERE evidence_no = 2", true),
            ] {
                try await session.execute("BEGIN; SET LOCAL ROLE ledger_owner; \(first)")
                var refused: PostgresError?
                do throws(PostgresError) {
                    try await session.execute("UPDATE ledger.evidence \(change)")
                } catch {
                    refused = error
                }
                #expect(refused?.sqlState == (isAllowed ? nil : "LG001"), "\(change)")
                try await session.execute("ROLLBACK")
            }
            await session.close()
        }
    }

    @discardableResult
    private static func move(
        _ ledger: Ledger,
        _ folder: String
    ) async throws -> [MovedEvidenceFile] {
        let files = Mutex<[MovedEvidenceFile]>([])
        let now = Instant.systemClock()
        try await ledger.log.moveEvidence(
            before: Instant(milliseconds: now.milliseconds + 3_600_000),
            to: folder,
            bytesMax: 20_000
        ) { file in files.withLock { $0.append(file) } }
        return files.withLock { $0 }
    }

    private static func inFolder<Value>(
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("subledger-moved-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false
        )
        let value = try await body(folder)
        try FileManager.default.removeItem(atPath: folder)
        return value
    }

    private static func payloads(of ledger: Ledger) async throws -> [Position: [UInt8]] {
        var payloads: [Position: [UInt8]] = [:]
        for (lane, head) in try await ledger.log.heads() {
            var commit: Int64 = 0
            while let page = try await ledger.log.citedPayloads(
                lane: lane,
                after: commit,
                upTo: head
            ) {
                commit = page.lastCommit
                for cited in page.payloads {
                    guard case .whole(let evidence) = cited.evidence else { continue }
                    payloads[Position(lane: Lane(lane), offset: cited.number)] = evidence.payload
                }
            }
        }
        return payloads
    }

    private static func bodies(_ settings: ConnectionSettings) async throws -> Int64 {
        try await RepairTests.number(
            "SELECT count(*) FROM ledger.evidence WHERE body IS NOT NULL",
            settings
        )
    }

    private static func expectProven(_ ledger: Ledger) async throws {
        #expect(try await ledger.log.verify().firstMismatch == nil)
        let signatures = try await SignatureVerification(
            log: ledger.log,
            roots: [try .init(der: FilledLedger.simulator.store.pki.rootDER)],
            jobs: 2
        ).run()
        #expect(signatures.firstFailure == nil)
        #expect(signatures.notKept == 0)
    }
}
