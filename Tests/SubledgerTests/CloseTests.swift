import AppStoreSimulator
import Catalog
import EventLog
import Events
import Foundation
import Postgres
import Subledger
import TestSupport
import Testing

/// Months that are closed, and computed again.
@Suite(.enabled { await TestServer.isAvailable })
struct CloseTests {
    @Test func `a closed month is computed again byte for byte after late facts`() async throws {
        try await Self.withLedger { ledger, lives in
            let (close, files) = try await Self.close(CloseQuestion(month: "2026-01"), in: ledger)
            let names = Report.all.filter { !$0.namesCustomers }.map(\.name)
            #expect(close.reports.map(\.name) == names)
            let expected = names.flatMap { ["\($0).csv", "\($0).json"] } + ["checkpoint.json"]
            #expect(close.files.map(\.path) == expected)
            #expect(Set(files.keys) == Set(expected + ["close.json"]))
            let read = try JSONDecoder().decode(
                CloseDocument.self,
                from: Data(try #require(files["close.json"]))
            )
            #expect(read == close)

            try await ledger.ingest(lives.after)
            try await Self.importCatalog(into: ledger)
            let result = try await ledger.verifyClose(close) { files[$0] }
            #expect(result.ok && result.files.count == expected.count, "\(result)")

            // The file is what the command prints that the report names.
            var question = ReportQuestion(try #require(Report.named("revenue")))
            question.from = Instant("2026-01-01")
            question.to = Instant("2026-01-31")
            question.knownAt = KnownAt(close.knownAt)
            let again = try await ledger.report(question)
            #expect(again.csv == String(decoding: files["revenue.csv"] ?? [], as: UTF8.self))
        }
    }

    @Test func `what is edited, missing, of another definition or another log is found`()
        async throws
    {
        try await Self.withLedger { ledger, lives in
            let (close, files) = try await Self.close(CloseQuestion(month: "2026-01"), in: ledger)
            var broken = files
            broken["revenue.csv"]?[3] ^= 1
            broken["mrr.json"] = nil
            let result = try await ledger.verifyClose(close) { broken[$0] }
            let found = result.files.filter { $0.state != .same }
            #expect(!result.ok)
            #expect(
                Dictionary(uniqueKeysWithValues: found.map { ($0.path, $0.state) })
                    == ["revenue.csv": .edited, "mrr.json": .missing]
            )

            // As if an older program had written it.
            let text = String(decoding: try close.file(), as: UTF8.self)
            let older = try Self.document(
                text.replacing("\"sha256\" : \"", with: "\"sha256\" : \"0")
                    .replacing("\"transactions\" : ", with: "\"transactions\" : 1")
            )
            let differing = try await ledger.verifyClose(older) { files[$0] }
            #expect(!differing.ok && differing.files.allSatisfy { $0.state == .edited })
            let reasons = differing.files.first { $0.path == "revenue.csv" }?.reasons ?? []
            #expect(reasons.contains { $0.hasPrefix("fold transactions 1") }, "\(reasons)")

            let head = try #require(close.heads.first)
            let forked = try Self.document(
                text.replacing(head.digest.hex, with: String(repeating: "0", count: 64))
            )
            let lost = try await ledger.verifyClose(forked) { files[$0] }
            #expect(!lost.ok && lost.changedHeads.map(\.commit) == [head.commit])
            let other = try Self.document(
                text.replacing(close.ledgerId, with: "00000000-0000-0000-0000-000000000000")
            )
            #expect(try await !ledger.verifyClose(other) { files[$0] }.isOfThisLedger)
            // Files that it does not list any more are missed.
            let short = try Self.document(
                text.replacing(#/"files" : \[[^\]]*\]/#, with: "\"files\" : []")
            )
            #expect(short.files.isEmpty)
            let missed = try await ledger.verifyClose(short) { files[$0] }
            #expect(!missed.ok && missed.files.count == close.files.count)
            #expect(close.isReadable)
            for (was, forged) in [
                ("\"month\" : \"2026-01\"", "\"month\" : \"/../../evil\""),
                ("\"format\" : ", "\"format\" : 9"), ("\"erasures\" : ", "\"erasures\" : -1"),
            ] {
                #expect(text.contains(was), "\(was)")
                let document = try Self.document(text.replacing(was, with: forged))
                #expect(!document.isReadable, "\(forged)")
            }
        }
    }

    @Test func `an erasure since the close is the reason why its files differ`() async throws {
        try await Self.withLedger { ledger, _ in
            let (close, files) = try await Self.close(CloseQuestion(month: "2026-01"), in: ledger)
            _ = try await ledger.projector.rebuild()
            let session = try await PostgresSession.connect(ledger.log.settings)
            let id = try await session.query(
                """
                SELECT original_transaction_id FROM analytics.transactions
                WHERE start_time < '2026-02-01' AND NOT is_shared
                ORDER BY purchase_price_milliunits DESC NULLS LAST LIMIT 1
                """
            ).single().text(0)
            await session.close()
            let stream = StreamID(environment: .production, originalTransactionId: id)
            _ = try await ledger.erase(
                [ErasureTarget(stream: stream, scope: .subscription)],
                reason: ErasureTests.reason,
                withSiblings: false
            )
            let result = try await ledger.verifyClose(close) { files[$0] }
            #expect(!result.ok && result.changedHeads.isEmpty)
            let revenue = try #require(result.files.first { $0.path == "revenue.csv" })
            #expect(revenue.state == .differs && revenue.reasons == ["1 erasure since"])
            // The document of a report counts the erasures of the ledger, whatever they removed.
            let others = result.files.filter { $0.path.hasSuffix(".json") && $0.state == .differs }
            #expect(others.count == close.reports.count)
            #expect(others.allSatisfy { $0.reasons == ["1 erasure since"] }, "\(others)")
        }
    }

    @Test func `each correction is in one later close, and adds up to the difference`()
        async throws
    {
        try await Self.withLedger { ledger, lives in
            let (first, _) = try await Self.close(CloseQuestion(month: "2026-01"), in: ledger)
            // Something of March, so that February is over.
            try await ledger.ingest(lives.later)
            var question = CloseQuestion(month: "2026-02")
            question.earlier = [first]
            let purchases = lives.late[0].notifications().count
            try await ledger.ingest(Array(lives.after[..<purchases]))
            let (second, files) = try await Self.close(question, in: ledger)
            #expect(second.corrections.map(\.month) == ["2026-01"])
            try await ledger.ingest(Array(lives.after[purchases...]))
            question.month = "2026-03"
            question.earlier = [first, second]
            let (third, more) = try await Self.close(question, in: ledger)
            #expect(third.corrections.map(\.month) == ["2026-01", "2026-02"])

            let january = "2026-01"
            let bounds = try [first, second, third].map { try #require(KnownAt($0.knownAt)) }
            var nets: [Int64] = []
            for bound in bounds { nets.append(try await Self.net(of: january, bound, ledger)) }
            #expect(Set(nets).count == 3, "\(nets)")
            for (number, found) in [files, more].enumerated() {
                let json = try #require(found["corrections-2026-01.json"])
                let corrections = try JSONDecoder().decode(Corrections.self, from: Data(json))
                let revenue = try #require(corrections.reports.first { $0.name == "revenue" })
                let sum = revenue.rows.flatMap(\.cells).filter { $0.column == "netMilliunits" }
                    .flatMap(\.parts).reduce(0) { $0 + $1.difference.count }
                #expect(nets[number] + sum == nets[number + 1], "\(revenue)")
                #expect(corrections.reports.map(\.name).contains("mrr"))
                #expect(revenue.causes.allSatisfy { $0.customers.isEmpty })
                let csv = String(
                    decoding: found["corrections-2026-01.csv"] ?? [],
                    as: UTF8.self
                )
                #expect(csv.hasPrefix("report,") && csv.contains("\nrevenue,"), "\(csv)")
            }
            let result = try await ledger.verifyClose(third) { more[$0] }
            #expect(result.ok, "\(result)")
        }
    }

    @Test func `a month that is not over, and an earlier close that does not fit, are refused`()
        async throws
    {
        try await Self.withLedger { ledger, _ in
            let (first, _) = try await Self.close(CloseQuestion(month: "2026-01"), in: ledger)
            var sandbox = CloseQuestion(month: "2026-02")
            (sandbox.environment, sandbox.earlier) = (.sandbox, [first])
            var same = CloseQuestion(month: "2026-01")
            same.earlier = [first]
            for (question, words) in [
                (CloseQuestion(month: "2026-02"), "2026-02 is not over"),
                (CloseQuestion(month: "2026-13"), "invalid month '2026-13'"),
                (sandbox, "the close of 2026-01 is of Production, not of Sandbox"),
                (same, "the close of 2026-01 is not of a month before 2026-01"),
            ] {
                let error = await #expect(throws: QuestionError.self) {
                    _ = try await ledger.closeMonth(question) { name, _ in
                        Issue.record("\(name) is written")
                    }
                }
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
        }
    }

    private struct Corrections: Decodable { let reports: [ReportChangesDocument] }

    private static func withLedger(_ body: (Ledger, LateLives) async throws -> Void) async throws {
        try await TestServer.shared.withDatabase(from: .migrated) { settings in
            let ledger = try await FilledLedger.open(settings)
            let lives = try LateLives()
            try await ledger.ingest(lives.before)
            try await body(ledger, lives)
            await ledger.log.close()
        }
    }

    private static func close(
        _ question: CloseQuestion,
        in ledger: Ledger
    ) async throws -> (CloseDocument, [String: [UInt8]]) {
        var files: [String: [UInt8]] = [:]
        let close = try await ledger.closeMonth(question) { files[$0] = $1 }
        return (close, files)
    }

    private static func document(_ text: String) throws -> CloseDocument {
        try JSONDecoder().decode(CloseDocument.self, from: Data(text.utf8))
    }

    private static func net(
        of month: String,
        _ bound: KnownAt,
        _ ledger: Ledger
    ) async throws -> Int64 {
        var question = ReportQuestion(try #require(Report.named("revenue")))
        question.from = Instant(month + "-01")
        question.to = Instant(month + "-31")
        question.knownAt = bound
        return try await ledger.report(question).rows.map(ReportRow.init)
            .reduce(0) { $0 + $1.number("netMilliunits") }
    }

    private static func importCatalog(into ledger: Ledger) async throws {
        _ = try await CatalogStore(log: ledger.log).add(
            try CatalogFile.read(SimulatedCatalog.storekit),
            effectiveFrom: .epoch,
            source: "test",
            recordedAt: .systemClock()
        )
    }
}
