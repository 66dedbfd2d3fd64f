import AppStore
import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// The ledgers of these tests, and what changes them.
extension LaneDirectoryTests {
    static let texts = [
        "23d1291f-1b57-46d9-aab4-41c3e9e57ce4", "AB12291F-1B57-46D9-AAB4-41C3E9E57CE4", "anna", "7",
        "41000123", "ann\u{e9}",
    ]
    static let receipts: [[UInt8]] = [[1], [2], [3]]

    // Alone, and all together.
    static let keys: [[StreamKey]] = {
        let single = texts.flatMap(all) + receipts.map { .receipt(Digest.of($0)) }
        return single.map { [$0] } + [single, [.originalTransactionId("7")] + all("7")]
    }()

    static func all(_ id: String) -> [StreamKey] {
        [
            .customer(id), .appAccountToken(id), .transactionId(id), .webOrderLineItemId(id),
            .appTransactionId(id), .previousOriginalTransactionId(id),
        ]
    }

    // The same few ids for many subscriptions.
    static func randomPayload(_ generator: inout SeededGenerator) -> Verified<[Fact]> {
        let facts = (0..<Int.random(in: 1...4, using: &generator)).map { _ -> Fact in
            let id = "\(Int.random(in: 1...20, using: &generator))"
            let day = Int64.random(in: 0...3, using: &generator)
            guard Bool.random(using: &generator) else {
                return TestFacts.link(texts.randomElement(using: &generator), id, asOf: day)
            }
            let fields: [Field] = [
                .appAccountToken, .webOrderLineItemId, .appTransactionId,
                .previousOriginalTransactionId,
            ]
            return TestFacts.transaction(
                id,
                purchased: day,
                asOf: Int64.random(in: 0...3, using: &generator),
                transactionId: texts.randomElement(using: &generator)
            ).carrying([
                (
                    fields.randomElement(using: &generator) ?? .appAccountToken,
                    texts.randomElement(using: &generator) ?? ""
                )
            ])
        }
        guard Bool.random(using: &generator) else { return verified(facts) }
        let receipt = receipts.randomElement(using: &generator) ?? []
        return verified(facts, payload: receipt, trust: .vouched, kind: .appReceipt)
    }

    // A log that lists what it appends and looks up in the directory, and one that asks all lanes.
    static func withDirectory(
        of payloads: [Verified<[Fact]>] = [],
        _ body: (_ log: EventLog, _ plain: EventLog, ConnectionSettings) async throws -> Void
    ) async throws {
        try await variant.withDatabase { settings in
            try await CitusCluster.execute("DELETE FROM operation.lookup_lane", settings)
            let plain = try await EventLog.open(settings, .test())
            for payload in payloads { _ = try await plain.append(payload) }
            let session = try await PostgresSession.connect(settings)
            try await session.atomically { try LaneDirectory.open(lanes, in: $0) }
            await session.close()
            let log = try await EventLog.open(settings, .test())
            #expect(log.hasDirectory && !plain.hasDirectory)
            do {
                try await body(log, plain, settings)
            } catch {
                await log.close()
                await plain.close()
                throw error
            }
            await log.close()
            await plain.close()
        }
    }

    static func append(_ number: Int64, to log: EventLog) async throws {
        _ = try await log.append(verified(TestFacts.transaction("1", purchased: number)))
    }

    // As an append does before it writes its rows.
    static func announce(
        _ fact: Fact,
        for log: EventLog,
        _ settings: ConnectionSettings
    ) async throws {
        let lane = lanes.lane(of: fact.stream.originalTransactionId)
        let genesis = log.identity.genesis(lane: lane)
        let batch = [submission(fact)]
        let session = try await PostgresSession.connect(settings)
        try await session.together { session in
            let rows = try session.query(AppendSQL.readHead, [.int4(Int32(lane))])
            let head = try AppendSQL.head(in: rows, lane: lane, genesis: genesis)
            let lookUp = AppendLookUp(batch, lane: lane, of: lanes)
            let plan = try PlanMaking.test.plan(batch, lookUp, head: head, in: session)
            try LaneDirectory.announce(plan, in: session)
        }
        await session.close()
    }

    static func erase(_ id: String, from log: EventLog) async throws {
        let stream = StreamID(environment: .production, originalTransactionId: id)
        let done = try await log.erase(
            ErasureTarget(stream: stream, scope: .subscription),
            sharingWith: []
        ) { stream, erasure, now in
            ErasureStatement(
                stream: stream,
                erasure: erasure,
                erasedBy: "test",
                reason: "test",
                erasedAt: now
            ).verified(source: "test", receivedAt: now)
        }
        #expect(done.count == 1)
    }

    static let backup = """
        CREATE TABLE public.kept_key AS SELECT * FROM operation.lookup_key;
        CREATE TABLE public.kept_lane AS SELECT * FROM operation.lookup_lane
        """

    static let restore = """
        DELETE FROM operation.lookup_key; INSERT INTO operation.lookup_key SELECT * FROM public.kept_key;
        DELETE FROM operation.lookup_lane;
        INSERT INTO operation.lookup_lane SELECT * FROM public.kept_lane
        """

    static func fill(_ settings: ConnectionSettings) async throws {
        let unlisted = try await unlisted(settings)
        let session = try await PostgresSession.connect(settings)
        let identity = try await Migrator.identity(of: session)
        try await session.atomically { try LaneDirectory.open(lanes, in: $0) }
        for lane in unlisted.lanes {
            try await LaneDirectory.fill(lane, of: identity, in: session)
        }
        await session.close()
    }

    static func unlisted(
        _ settings: ConnectionSettings
    ) async throws -> LaneDirectory.Unlisted {
        let session = try await PostgresSession.connect(settings)
        let identity = try await Migrator.identity(of: session)
        let unlisted = try await session.atomically {
            try LaneDirectory.unlisted(identity, in: $0)
        }
        await session.close()
        return unlisted
    }

    static func listed(
        _ texts: [String],
        in lane: Int,
        _ settings: ConnectionSettings
    ) async throws -> [String] {
        let session = try await PostgresSession.connect(settings)
        let rows = try await session.query(
            "SELECT key FROM operation.lookup_key WHERE lane = $1",
            [.int4(Int32(lane))]
        )
        let keys = Set(try rows.map { try $0.int8(0) })
        await session.close()
        return texts.filter { keys.contains(LaneDirectory.key($0.utf8)) }
    }
}
