import AppStore
import AppStoreSimulator
import EventLog
import Events
import Postgres
import Projections
import Subledger
import TestSupport
import Testing

/// Customers of a filled ledger: reading step by step must agree with the fold over everything.
@Suite(.enabled { await TestServer.isAvailable })
struct CustomerTests {
    private static let start: Int64 = 1_780_000_000_000

    @Test(arguments: [FilledLedger.plain, FilledLedger.divided])
    func `a customer read step by step is the same as among all subscriptions`(
        template: TestTemplate
    ) async throws {
        try await TestServer.shared.withDatabase(from: template) { settings in
            let ledger = try await FilledLedger.open(settings)
            let streams = try await ledger.allStreams()
            try await shareTokens(streams, in: ledger)
            var random = TestSupport.SeededGenerator(seed: 4)
            for number in 0..<60 {
                _ = try await ledger.add(
                    Self.link(
                        streams[Int.random(in: 0..<8, using: &random)],
                        ["anna", "ben", "caro", nil].randomElement(using: &random) ?? nil,
                        at: Int64(number)
                    ),
                    isTransfer: Bool.random(using: &random),
                    receivedAt: Instant(milliseconds: Self.start)
                )
            }
            #expect(try await ledger.log.verify().isOK)
            for knownAt in [KnownAt.latest, .time(Instant(milliseconds: 0))] {
                try await compare(ledger, streams, knownAt: knownAt)
            }
            let report = try await SignatureVerification(
                log: ledger.log,
                roots: RootCertificate.apple
                    + [try RootCertificate(der: FilledLedger.simulator.store.pki.rootDER)],
                jobs: 2
            ).run()
            #expect(report.isOK, "\(String(describing: report.firstFailure))")
            #expect((report.byTrust[.vouched] ?? 0) > 0)
            await ledger.log.close()
        }
    }

    @Test func `a link in one call holds from the first purchase on, once`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let stream = try #require(try await ledger.allStreams().first)
            let subject = SubjectID(stream.originalTransactionId, in: stream.environment)
            let now = Instant(milliseconds: Self.start)
            func link(_ customer: String) async throws -> LinkOutcome {
                try await ledger.link(subject, to: customer, reason: "restored", now: now)
            }
            guard case .appended(let positions) = try await link("anna"),
                case .duplicate(let known, .epoch) = try await link("anna"),
                case .held(let hold) = try await link("ben")
            else {
                Issue.record("a link, its repetition and that of another customer")
                return
            }
            #expect(positions == [known] && hold.customer == "anna")
            let anna = SubjectID("anna", in: stream.environment)
            let answer = try await ledger.access(of: anna, at: now)
            #expect(answer.subscriptions.contains { $0.because == "link" && $0.value == "anna" })
            let error = await #expect(throws: QuestionError.self) {
                try await ledger.link("4711", to: "anna")
            }
            #expect(error?.code == .unknownId)
            await ledger.close()
        }
    }

    @Test func `a refused link gives the reason, and nothing is appended`() async throws {
        try await TestServer.shared.withDatabase(from: FilledLedger.plain) { settings in
            let ledger = try await FilledLedger.open(settings)
            let stream = try #require(try await ledger.allStreams().first)
            let now = Instant(milliseconds: Self.start)
            guard
                case .appended(let first) = try await ledger.add(
                    Self.link(stream, "anna", at: 5),
                    receivedAt: now
                )
            else {
                Issue.record("a free subscription is linked")
                return
            }
            let head = try await ledger.log.heads()
            for (day, isTransfer) in [(Int64(9), false), (1, false), (1, true)] {
                let outcome = try await ledger.add(
                    Self.link(stream, "ben", at: day),
                    isTransfer: isTransfer,
                    receivedAt: now
                )
                guard case .held(let hold) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(hold.customer == "anna" && [hold.position] == first)
            }
            let foreign = StreamID(environment: .sandbox, originalTransactionId: "4711")
            let unknown = try await ledger.add(
                Self.link(foreign, "ben", at: 9),
                receivedAt: now
            )
            guard case .unknownStream = unknown else {
                Issue.record("\(unknown)")
                return
            }
            #expect(try await ledger.log.heads() == head)
            await ledger.log.close()
        }
    }

    private func compare(
        _ ledger: Ledger,
        _ streams: [StreamID],
        knownAt: KnownAt
    ) async throws {
        var all: [CustomerStream] = []
        for stream in streams {
            let history = try await ledger.log.history(of: stream, knownAt: knownAt)
            guard !history.events.isEmpty else { continue }
            let receipts = try await ledger.log.receipts(of: [history])[0]
            all.append(CustomerStream(history, receipts: receipts))
        }
        let environment = try #require(streams.first).environment
        let names = ["anna", "ben", "caro", "shared"] + streams.map(\.originalTransactionId)
        for name in names {
            let read = try await ledger.customer(name, in: environment, knownAt: knownAt)
            let folded = Customer(name, in: environment, among: all)
            #expect(read.customerId == folded.customerId, "\(name)")
            #expect(read.tokens == folded.tokens, "\(name)")
            #expect(read.streams.map(\.stream) == folded.streams.map(\.stream), "\(name)")
            #expect(read.related.map(\.stream) == folded.related.map(\.stream), "\(name)")
        }
    }

    // Vouched renewal info gives several subscriptions one more token.
    private func shareTokens(_ streams: [StreamID], in ledger: Ledger) async throws {
        for stream in streams[2..<6] {
            let body = """
                {"status":0,"environment":"\(stream.environment.word)","receipt":\
                {"receipt_type":"\(stream.environment.word)","bundle_id":"example",\
                "request_date_ms":"\(Self.start)","in_app":[{"quantity":"1","product_id":"once",\
                "transaction_id":"9\(stream.originalTransactionId)","app_account_token":"shared",\
                "original_transaction_id":"\(stream.originalTransactionId)",\
                "purchase_date_ms":"\(Self.start - 1000)"}]}}
                """
            _ = try await ledger.ingest(Array(body.utf8), source: "test", voucher: .operator)
        }
    }

    private static func link(_ stream: StreamID, _ customer: String?, at day: Int64) -> CustomerLink
    {
        CustomerLink(
            stream: stream,
            customer: customer,
            statedBy: "test",
            reason: "",
            statedAt: Instant(milliseconds: start + day * 86_400_000)
        )
    }
}
