import EventLog
import Events
import Postgres
import Subledger
import TestSupport
import Testing

/// Order ids of Apple's invoices: commands find subscriptions by them, no answer rests on them, and
/// they go with an erased customer.
@Suite(.enabled { await TestServer.isAvailable })
struct OrderIDTests {
    @Test(arguments: [1, 4])
    func `a subscription is recognised by its order id, as it is pasted`(
        lanes: Int
    ) async throws {
        try await withOrder(lanes: lanes) { ledger, stream, _ in
            for pasted in [
                "MK5TS1XYZ7", "mk5ts1xyz7", "Mk5Ts1xYz7", "#mk5ts1xyz7", " MK5TS1XYZ7.",
                "(MK5TS1XYZ7)",
            ] {
                let subject = try await ledger.recognised(SubjectID(pasted, alone: true))
                let own = SubjectID(
                    stream.originalTransactionId,
                    in: stream.environment,
                    alone: true
                )
                #expect(subject == own, "\(pasted)")
            }
            let sandbox = SubjectID("MK5TS1XYZ7", in: .sandbox)
            #expect(try await ledger.recognised(sandbox) == sandbox)
        }
    }

    /// Nobody signs which subscriptions an order has, so a row about it must not open anything.
    @Test func `no answer rests on an order id`() async throws {
        try await withOrder(lanes: 4) { ledger, stream, settings in
            let session = try await PostgresSession.connect(settings)
            try await session.execute("UPDATE operation.apple_order SET order_id = 'ALICE'")
            await session.close()
            for id in ["alice", "ALICE"] {
                for alone in [true, false] {
                    let answer = try await ledger.access(
                        of: SubjectID(id, in: stream.environment, alone: alone),
                        at: .systemClock()
                    )
                    #expect(!answer.isKnown && !answer.access)
                }
                let customer = try await ledger.customer(id, in: stream.environment)
                #expect(customer.streams.isEmpty)
            }
        }
    }

    @Test func `an order of several subscriptions names them`() async throws {
        try await withOrder(lanes: 4) { ledger, stream, _ in
            let other = try #require(
                try await ledger.allStreams().first {
                    $0 != stream && $0.environment == stream.environment
                }
            )
            let order = try #require(OrderID("MANY2"))
            try await ledger.log.record(order, of: [stream, other])
            let error = await #expect(throws: QuestionError.self) {
                _ = try await ledger.recognised(SubjectID("many2"))
            }
            #expect(error?.code == .severalSubscriptions)
            #expect(error?.subscriptions.contains(other.originalTransactionId) == true)
        }
    }

    @Test(arguments: [1, 4])
    func `an erased customer's order id is gone, and is not kept again`(
        lanes: Int
    ) async throws {
        for scope in [Erasure.Scope.customer, .subscription] {
            try await withOrder(lanes: lanes) { ledger, stream, settings in
                _ = try await ledger.erase(
                    [ErasureTarget(stream: stream, scope: scope)],
                    reason: ErasureTests.reason,
                    withSiblings: true
                )
                #expect(try await Self.rowCount(settings) == 0)
                for _ in 0..<2 {
                    let written = SubjectID("MK5TS1XYZ7")
                    #expect(try await ledger.recognised(written) == written)
                    // As an import does that asks Apple again.
                    let order = try #require(OrderID("MK5TS1XYZ7"))
                    try await ledger.log.record(order, of: [stream])
                    #expect(try await Self.rowCount(settings) == 0)
                }
            }
        }
    }

    @Test func `the error about an unknown id says how an order id is found`() async throws {
        try await withOrder(lanes: 1) { ledger, _, _ in
            for (id, isOrder) in [
                ("MK5TS1XYZ8", true), ("#mk5ts1xyz8", true), ("4711", false), ("anna", false),
            ] {
                let error = await #expect(throws: QuestionError.self) {
                    _ = try await ledger.stream(of: SubjectID(id))
                }
                #expect(error?.code == .unknownId)
                #expect(
                    error?.message.contains("`subledger import -` asks Apple") == isOrder,
                    "\(error?.message ?? "")"
                )
            }
        }
    }

    @Test func `an order id has letters and digits, among them a letter`() {
        #expect(OrderID("mk5ts1xyz7")?.text == "MK5TS1XYZ7")
        for text in ["", "4711", "M-1", "MÄ1", "M 1", String(repeating: "M", count: 33)] {
            #expect(OrderID(text) == nil, "\(text)")
        }
    }

    private func withOrder(
        lanes: Int,
        _ body: (Ledger, StreamID, ConnectionSettings) async throws -> Void
    ) async throws {
        try await ErasureTests.withFilled(lanes: lanes) { ledger, settings in
            let stream = try await ErasureTests.longest(of: ledger)
            let order = try #require(OrderID("mk5ts1xyz7"))
            try await ledger.log.record(order, of: [stream])
            try await ledger.log.record(order, of: [stream])
            #expect(try await Self.rowCount(settings) == 1)
            #expect(try await ledger.log.orders(of: stream) == [order])
            try await body(ledger, stream, settings)
        }
    }

    private static func rowCount(_ settings: ConnectionSettings) async throws -> Int64 {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query("SELECT count(*) FROM operation.apple_order")
        await session.close()
        return try rows.single().int8(0)
    }
}
