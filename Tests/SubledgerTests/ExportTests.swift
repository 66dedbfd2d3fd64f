import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Projections
import Projector
import Subledger
import TestSupport
import Testing

/// Tables of schema `analytics` as files.
@Suite(.enabled { await TestServer.isAvailable })
struct ExportTests {
    @Test(arguments: [ExportRequest.Format.csv, .ndjson])
    func `every table is exported whole, sorted by a unique key`(
        _ format: ExportRequest.Format
    ) async throws {
        try await Analytics.withLedger { session, ledger in
            let folder = try TestFolder()
            var request = ExportRequest(folder: folder.path)
            request.format = format
            request.partitions = []
            let document = try await ledger.export(request)
            #expect(
                Set(document.tables.map(\.name)) == [
                    "metric_definition", "customers", "transactions", "movements", "periods",
                    "subscriptions", "customer_value", "daily_snapshot", "recognised_revenue",
                    "retention", "ingest_quality",
                ]
            )
            try await session.execute("SET TIME ZONE 'UTC'")
            for table in try ExportTests.schema(folder.path).tables {
                let lines = try await ExportTests.lines(folder.path(of: table.files))
                let key = table.key.joined(separator: ", ")
                let found = try await session.query(
                    """
                    SELECT count(*), count(DISTINCT (\(key))) FROM analytics.\(table.name)
                    """
                ).single()
                #expect(try found.int8(0) == found.int8(1), "\(table.name): \(key)")
                let header = format == .csv ? 1 : 0
                #expect(lines.count - header == Int(try found.int8(0)), "\(table.name)")
                #expect(table.comment.count > 10, "\(table.name)")
                for column in table.columns { #expect(!column.comment.isEmpty, "\(column.name)") }
                let names = table.columns.map(\.name)
                if format == .csv { #expect(lines[0] == names.joined(separator: ",")) }
            }
            let theirs = try await session.copyOut(
                ExportTests.movements(format),
                into: [UInt8]()
            ) { (all, row) throws(PostgresError) in all.append(contentsOf: row) }
            let ours = try await ExportTests.lines(
                folder.path(of: "movements/movements.\(format.rawValue).gz")
            )
            #expect(ours == String(decoding: theirs, as: UTF8.self).lines)
        }
    }

    // As PostgreSQL writes them by itself.
    private static func movements(_ format: ExportRequest.Format) -> String {
        let order = "ORDER BY original_transaction_id, environment, lane, ordinal"
        return format == .csv
            ? "COPY (SELECT * FROM analytics.movements \(order)) TO STDOUT (FORMAT csv, HEADER)"
            : """
            COPY (SELECT row_to_json(m) FROM analytics.movements m \(order)) TO STDOUT
            """
    }

    @Test func `an export again writes what changed, and holds what a new one does`()
        async throws
    {
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, Migrator.Layout(lanes: LaneCount(4)))
            let ledger = try await FilledLedger.open(settings)
            let deliveries = Array(FilledLedger.simulator.sampleHistory(count: 25))
            let folder = try TestFolder()
            let place = ExportRequest(folder: folder.path(of: "again"))
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count - 6)))
            _ = try await ledger.projector.rebuild()
            let first = try await ledger.export(place)
            #expect(first.tables.allSatisfy { $0.filesWritten == $0.files })
            let before = try ExportTests.tree(place.folder)
            let same = try await ledger.export(place)
            #expect(same.manifest == first.manifest)
            #expect(same.tables.allSatisfy { $0.filesWritten == 0 && $0.filesRemoved == 0 })
            try await ledger.ingest(Array(deliveries.suffix(6)))
            try await ExportTests.follow(ledger, settings)
            let next = try await ledger.export(place)
            for name in ["transactions", "movements", "periods"] {
                let table = try #require(next.tables.first { $0.name == name })
                #expect(table.filesWritten > 0 && table.filesWritten < table.files / 2, "\(name)")
            }
            let after = try ExportTests.tree(place.folder)
            let fresh = ExportRequest(folder: folder.path(of: "fresh"))
            _ = try await ledger.export(fresh)
            #expect(try after.keys.sorted() == ExportTests.tree(fresh.folder).keys.sorted())
            #expect(try after == ExportTests.tree(fresh.folder))
            #expect(after != before)
            await ledger.log.close()
        }
    }

    @Test func `what is erased is in no file any more, and empty folders are gone`()
        async throws
    {
        try await Analytics.withLedger { session, ledger in
            let id = try await session.query(
                """
                SELECT original_transaction_id FROM analytics.transactions
                GROUP BY 1 ORDER BY count(*) DESC LIMIT 1
                """
            ).single().text(0)
            let folder = try TestFolder()
            var request = ExportRequest(folder: folder.path)
            request.tables = ["transactions", "customer_value"]
            request.partitions = ["original_transaction_id", "month"]
            _ = try await ledger.export(request)
            let place = folder.path(of: "transactions/original_transaction_id=\(id)")
            #expect(FileManager.default.fileExists(atPath: place))
            let stream = StreamID(environment: .production, originalTransactionId: id)
            let erased = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: .subscription)],
                reason: ErasureTests.reason,
                withSiblings: false
            )
            #expect(!erased.isEmpty)
            let settings = ledger.log.settings
            try await ExportTests.follow(ledger, settings)
            let document = try await ledger.export(request)
            #expect((document.tables.first { $0.name == "transactions" }?.filesRemoved ?? 0) > 1)
            #expect(!FileManager.default.fileExists(atPath: place))
            let manifest = try String(
                contentsOfFile: folder.path(of: "manifest.json"),
                encoding: .utf8
            )
            #expect(!manifest.contains(id))
            for (name, bytes) in try ExportTests.tree(folder.path) where name.hasSuffix(".gz") {
                #expect(bytes.count > 0)
                let lines = try await ExportTests.lines(folder.path(of: name))
                #expect(!lines.contains { $0.contains(id) }, "\(name)")
            }
        }
    }

    @Test func `what was known at a position is exported later in the same bytes`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            // From the back, so that what comes later was signed later, too.
            let deliveries = Array(FilledLedger.simulator.sampleHistory(count: 12).reversed())
            let folder = try TestFolder()
            var then = ExportRequest(folder: folder.path(of: "then"))
            then.tables = ["transactions", "subscriptions", "retention", "daily_snapshot"]
            try await ledger.ingest(Array(deliveries.prefix(deliveries.count / 2)))
            _ = try await ledger.projector.rebuild()
            let positions = try await ledger.export(then).positions
            let signed = try await ExportTests.lastSigned(settings)
            try await ledger.ingest(Array(deliveries.suffix(deliveries.count / 2)))
            _ = try await ledger.projector.rebuild()
            #expect(try await ExportTests.lastSigned(settings) > signed)
            var known = then
            known.folder = folder.path(of: "known")
            known.knownAt = .offsets([0: try #require(positions["0"])])
            _ = try await ledger.export(known)
            let (first, second) = (
                try ExportTests.tree(then.folder), try ExportTests.tree(known.folder)
            )
            #expect(first.keys.sorted() == second.keys.sorted())
            for (name, bytes) in first where name.hasSuffix(".gz") {
                #expect(second[name] == bytes, "\(name)")
            }
            await ledger.log.close()
        }
    }

    @Test func `a past position is exported without what was erased since then`() async throws {
        try await Analytics.withLedger { session, ledger in
            let folder = try TestFolder()
            var request = ExportRequest(folder: folder.path)
            request.tables = ["transactions"]
            request.partitions = []
            let heads = try await ledger.log.heads()
            request.knownAt = .offsets(heads.mapValues(\.offset))
            _ = try await ledger.export(request)
            let file = folder.path(of: "transactions/transactions.csv.gz")
            let id = try await session.query(
                "SELECT min(original_transaction_id) FROM analytics.transactions"
            ).single().text(0)
            #expect(try await ExportTests.lines(file).contains { $0.contains(id) })
            let stream = StreamID(environment: .production, originalTransactionId: id)
            _ = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: .subscription)],
                reason: ErasureTests.reason,
                withSiblings: true
            )
            let again = try await ledger.export(request)
            #expect(again.tables.map(\.filesWritten) == [1])
            #expect(try await !ExportTests.lines(file).contains { $0.contains(id) })
        }
    }

    @Test func `names that Swift holds equal are two folders`() async throws {
        try await Analytics.withLedger { session, ledger in
            let ids = try await session.query(
                "SELECT DISTINCT original_transaction_id FROM analytics.transactions ORDER BY 1 LIMIT 2"
            ).map { try $0.text(0) }
            let names = ["\u{E9}", "e\u{301}"]
            try #require(ids.count == 2 && names[0] == names[1])
            for (name, id) in zip(names, ids) {
                let link = CustomerLink(
                    stream: StreamID(environment: .production, originalTransactionId: id),
                    customer: name,
                    statedBy: "test",
                    reason: "test",
                    statedAt: Instant(milliseconds: 0)
                )
                let outcome = try await ledger.add(link, receivedAt: .systemClock())
                guard case .appended = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
            }
            try await ExportTests.follow(ledger, ledger.log.settings)
            let folder = try TestFolder()
            var request = ExportRequest(folder: folder.path)
            request.tables = ["transactions"]
            request.partitions = ["customer_id"]
            for _ in 1...2 { _ = try await ledger.export(request) }
            let place = folder.path(of: "transactions")
            let folders = try FileManager.default.contentsOfDirectory(atPath: place)
            for (name, id) in zip(names, ids) {
                let own = "customer_id=\(name)"
                #expect(folders.contains { $0.utf8.elementsEqual(own.utf8) }, "\(folders)")
                let lines = try await ExportTests.lines("\(place)/\(own)/transactions.csv.gz")
                #expect(lines.dropFirst().allSatisfy { $0.contains(id) } && lines.count > 1)
            }
        }
    }

    @Test func `a value that cannot be the name of a folder is refused`() async throws {
        try await Analytics.withLedger { session, ledger in
            let id = try await session.query(
                "SELECT min(original_transaction_id) FROM analytics.transactions"
            ).single().text(0)
            let link = CustomerLink(
                stream: StreamID(environment: .production, originalTransactionId: id),
                // Each takes three bytes of a folder's name.
                customer: String(repeating: "/", count: 82),
                statedBy: "test",
                reason: "test",
                statedAt: Instant(milliseconds: 0)
            )
            _ = try await ledger.add(link, receivedAt: .systemClock())
            try await ExportTests.follow(ledger, ledger.log.settings)
            _ = try await FollowTests.texts(
                ledger.log.settings,
                """
                UPDATE projection.transactions SET country = ''
                WHERE original_transaction_id = '\(id)' RETURNING country
                """
            )
            for (column, words) in [
                ("customer_id", "name would have 258 bytes; the maximum is 255"),
                ("country", "an empty country, which engines would read as null"),
            ] {
                let folder = try TestFolder()
                var request = ExportRequest(folder: folder.path)
                request.tables = ["transactions"]
                request.partitions = [column]
                let error = await #expect(throws: ExportError.self) {
                    _ = try await ledger.export(request)
                }
                #expect(error?.code == .unfitPartition)
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test func `a file that does not match the manifest is written again`() async throws {
        try await Analytics.withLedger { _, ledger in
            let folder = try TestFolder()
            var request = ExportRequest(folder: folder.path)
            request.tables = ["transactions"]
            request.partitions = ["year"]
            _ = try await ledger.export(request)
            let whole = try ExportTests.tree(folder.path)
            let name = try #require(whole.keys.filter { $0.hasSuffix(".gz") }.min())
            var bytes = try #require(whole[name])
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(fileURLWithPath: folder.path(of: name)))
            let again = try await ledger.export(request)
            #expect(again.tables.map(\.filesWritten) == [1])
            #expect(try ExportTests.tree(folder.path) == whole)
        }
    }

    @Test func `two exports into one folder at once are refused, as are tables that are not ready`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let folder = try TestFolder()
            let request = ExportRequest(folder: folder.path)
            let early = await #expect(throws: QuestionError.self) {
                _ = try await ledger.export(request)
            }
            #expect(early?.code == .tablesNotBuilt)
            #expect(early?.message.contains("`subledger rebuild`") == true)
            _ = try await ledger.projector.rebuild()
            let descriptor = open(folder.path, O_RDONLY)
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            let busy = await #expect(throws: ExportError.self) {
                _ = try await ledger.export(request)
            }
            #expect(busy?.code == .folderInUse)
            close(descriptor)
            _ = try await ledger.export(request)
            await ledger.log.close()
        }
    }
}

extension ExportTests {
    private static func follow(_ ledger: Ledger, _ settings: ConnectionSettings) async throws {
        var options = Projector.FollowOptions(holder: "test")
        options.isOnce = true
        _ = try await ledger.projector.follow(options)
    }

    private static func lastSigned(_ settings: ConnectionSettings) async throws -> Int64 {
        let session = try await PostgresSession.connect(settings)
        let signed = try await session.query(
            "SELECT extract(epoch FROM analytics.last_signed_at())::bigint"
        ).single().int8(0)
        await session.close()
        return signed
    }

    private static func schema(_ folder: String) throws -> ExportSchema {
        try JSONDecoder().decode(
            ExportSchema.self,
            from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/schema.json"))
        )
    }

    /// The lines of a file, as gzip unpacks it.
    private static func lines(_ path: String) async throws -> [String] {
        let ending = try await Program(path: "/bin/sh").run(["-c", "gzip -dc '\(path)'"])
        #expect(ending.code == 0, "\(ending.errors)")
        return ending.output.lines
    }

    private static func tree(_ path: String) throws -> [String: Data] {
        var tree: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            let url = URL(fileURLWithPath: "\(path)/\(name)")
            guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
            else { continue }
            tree[name] = try Data(contentsOf: url)
        }
        return tree
    }
}

extension String {
    /// Its lines, the last with its end.
    fileprivate var lines: [String] { split(separator: "\n").map(String.init) }
}
