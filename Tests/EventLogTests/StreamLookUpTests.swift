import EventLog
import Events
import Postgres
import TestSupport
import Testing

/// Which subscriptions an id or a payload leads to, including payloads that only confirmed them.
@Suite(.enabled { await TestServer.isAvailable })
struct StreamLookUpTests {
    @Test(arguments: Variant.extremes)
    func `a web order line item and an app transaction lead to their subscriptions`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            for id in ["1", "2", "3"] {
                let fact = TestFacts.transaction(id).carrying([
                    (.webOrderLineItemId, "w\(id)"), (.appTransactionId, id == "3" ? "b" : "a"),
                ])
                _ = try await log.append(verified(fact))
            }
            func ids(_ streams: [StreamID]) -> [String] { streams.map(\.originalTransactionId) }
            #expect(
                ids(
                    try await log.streams(with: [
                        .webOrderLineItemId("w2"), .webOrderLineItemId("x"),
                    ])
                ) == ["2"]
            )
            #expect(ids(try await log.streams(with: [.appTransactionId("a")])) == ["1", "2"])
            #expect(
                try await log.streams(with: [.appTransactionId(""), .appTransactionId("x")]).isEmpty
            )
        }
    }

    private static let placeholders = [
        "00000000-0000-0000-0000-000000000000", "0", "000", " ", "null", "(NULL)", "<nil>", "None",
        "undefined", "FFFFFFFF-ffff-ffff-ffff-ffffffffffff",
    ]

    @Test(arguments: Variant.extremes)
    func `an id that identifies nothing leads nowhere, and SQL knows the same list`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, settings in
            for (number, text) in Self.placeholders.enumerated() {
                let fact = TestFacts.transaction("\(number)", transactionId: "t\(number)").carrying(
                    [
                        (.webOrderLineItemId, text), (.appTransactionId, text),
                        (.appAccountToken, text),
                    ])
                _ = try await log.append(verified(fact))
                let keys: [StreamKey] = [
                    .webOrderLineItemId(text), .appTransactionId(text), .appAccountToken(text),
                ]
                #expect(try await log.streams(with: keys).isEmpty, "'\(text)'")
            }
            let size = try await log.askableSize(in: .production, pageTransactions: 20)
            #expect(size.customers == Int64(Self.placeholders.count), "nobody stands for another")
            let ids = Self.placeholders + ["007", "nullable", "anna", "1-0", "f0", "nils", "ünull"]
            let session = try await PostgresSession.connect(settings)
            for text in ids {
                let isPlaceholder = try await session.query(
                    "SELECT $1 ~* '\(Placeholder.pattern)'",
                    [.text(text)]
                ).single().bool(0)
                #expect(isPlaceholder == text.isPlaceholder, "'\(text)'")
            }
            await session.close()
        }
    }

    @Test(arguments: Variant.extremes)
    func `keys of every kind are looked up together`(variant: Variant) async throws {
        try await variant.withLog { log, _ in
            let token = "23d1291f-1b57-46d9-aab4-41c3e9e57ce4"
            let texts: [(Field, String)] = [
                (.webOrderLineItemId, "w"), (.appTransactionId, "a"), (.appAccountToken, token),
                (.previousOriginalTransactionId, "0"),
            ]
            for (id, text) in zip(1..., texts) {
                let fact = TestFacts.transaction("\(id)").carrying([text])
                _ = try await log.append(verified(fact))
            }
            let bought = TestFacts.transaction("5", transactionId: "t")
            _ = try await log.append(verified(bought))
            _ = try await log.append(verified(TestFacts.link("anna\u{e9}", "6")))
            let keys: [StreamKey] = [
                .webOrderLineItemId("w"), .appTransactionId("a"), .appAccountToken(token),
                .previousOriginalTransactionId("0"), .transactionId("t"), .customer("anna\u{e9}"),
            ]
            let found = try await log.streams(with: keys + [.originalTransactionId("1")])
            #expect(found.map(\.originalTransactionId) == (1...6).map(String.init))
            for (index, key) in keys.enumerated() {
                let found = try await log.streams(with: [key])
                #expect(found.map(\.originalTransactionId) == ["\(index + 1)"])
            }
            // The same characters, but other bytes.
            #expect(try await log.streams(with: [.customer("annae\u{301}")]).isEmpty)
        }
    }

    @Test func `a question looks each group of keys up once`() async throws {
        try await Variant.fourLanes.withLog { log, _ in
            let keys: [StreamKey] = [.customer("anna"), .transactionId("t")]
            try await log.onOneConnection {
                #expect(try await log.streams(with: keys).isEmpty)
                _ = try await log.append(verified(TestFacts.link("anna", "1")))
                #expect(try await log.streams(with: keys.reversed()).isEmpty)
                #expect(try await log.streams(with: [.customer("anna")]).count == 1)
            }
            #expect(try await log.streams(with: keys).count == 1)
        }
    }

    @Test func `a question reads a subscription once, and cuts it for each bound`() async throws {
        try await Variant.fourLanes.withLog { log, _ in
            @Sendable func append(day: Int64) async throws {
                let fact = TestFacts.transaction("1", purchased: day, asOf: day)
                _ = try await log.append(verified(fact))
            }
            try await append(day: 1)
            let stream = TestFacts.transaction("1").stream
            let lane = log.identity.lanes.lane(of: "1")
            try await log.onOneConnection {
                #expect(try await log.history(of: stream).events.count == 1)
                try await append(day: 31)
                #expect(try await log.history(of: stream).events.count == 1)
                #expect(try await log.recordedHistory(of: stream).events.count == 1)
                let nothing = try await log.history(of: stream, knownAt: .offsets([lane: 0]))
                #expect(nothing.events.isEmpty)
            }
            #expect(try await log.history(of: stream).events.count == 2)
        }
    }

    @Test func `a question in one snapshot sees nothing that is committed meanwhile`() async throws
    {
        try await Variant.fourLanes.withLog { log, _ in
            @Sendable func seen() async throws -> [Int] {
                let histories = try await [
                    log.history(of: TestFacts.transaction("1").stream),
                    log.history(of: TestFacts.transaction("2").stream),
                ]
                return histories.map(\.events.count) + [try await log.heads().count]
            }
            _ = try await log.append(verified(TestFacts.transaction("1")))
            try await log.onOneConnection {
                #expect(try await log.heads().count == 1)
                try await log.inOneSnapshot {
                    #expect(
                        try await log.history(of: TestFacts.transaction("1").stream).events.count
                            == 1
                    )
                    _ = try await log.append(verified(TestFacts.transaction("2")))
                    #expect(try await seen() == [1, 0, 1])
                }
                #expect(try await log.heads().count == 1, "read before")
            }
            // Errors end the snapshot, too: of the database, and of the question.
            let impossible = StreamID(environment: .production, originalTransactionId: "\0")
            await #expect(throws: EventLogError.self) {
                try await log.inOneSnapshot { _ = try await log.recordedHistory(of: impossible) }
            }
            await #expect(throws: CancellationError.self) {
                try await log.inOneSnapshot {
                    _ = try await log.heads()
                    throw CancellationError()
                }
            }
            #expect(try await seen() == [1, 1, 2])
        }
    }

    @Test func `a question reads heads and each bound of a commit once`() async throws {
        try await Variant.fourLanes.withLog { log, _ in
            let lane = log.identity.lanes.lane(of: "1")
            @Sendable func knowledge() async throws -> [Int64?] {
                [
                    try await log.heads()[lane]?.offset,
                    try await log.newestCommit(lane: lane)?.offset,
                    try await log.newestCommit(lane: lane, knownAt: .offsets([lane: 1]))?.offset,
                ]
            }
            try await log.onOneConnection {
                #expect(try await knowledge() == [nil, nil, nil])
                _ = try await log.append(verified(TestFacts.transaction("1")))
                // A position beyond the end may belong to a later commit.
                #expect(try await knowledge() == [nil, nil, 1])
                // Another bound is not known yet.
                let other = try await log.newestCommit(lane: lane, knownAt: .offsets([lane: 9]))
                #expect(other?.offset == 1)
            }
            #expect(try await knowledge() == [1, 1, 1])
        }
    }

    @Test(arguments: Variant.all)
    func `a receipt leads to all it proved or confirmed, in every lane`(
        variant: Variant
    ) async throws {
        try await variant.withLog { log, _ in
            let receipt: [UInt8] = [1, 2, 3]
            _ = try await log.append(verified(TestFacts.transaction("7")))
            let facts = (1...6).map { TestFacts.transaction("\($0)", asOf: 2) }
            let all = facts + [TestFacts.transaction("7", asOf: 2)]
            let outcomes = try await log.append(
                verified(all, payload: receipt, kind: .appReceipt)
            )
            #expect(outcomes.map(\.isConfirmation).last == true)
            _ = try await log.append(verified(TestFacts.transaction("8")))
            let found = try await log.streams(with: [.receipt(Digest.of(receipt))])
            #expect(found.map(\.originalTransactionId) == (1...7).map(String.init))
            #expect(try await log.streams(with: [.receipt(.zero)]).isEmpty)
            let other: [UInt8] = [4]
            _ = try await log.append(verified([TestFacts.transaction("9")], payload: other))
            #expect(try await log.streams(with: [.receipt(Digest.of(other))]).isEmpty)
            #expect(try await log.streams(with: []).isEmpty)
        }
    }
}

extension Fact {
    /// The same fact with further text fields.
    func carrying(_ texts: [(Field, String)]) -> Fact {
        var content = content
        for (field, text) in texts { content[field] = .text(text) }
        return Fact(
            stream: stream,
            bundleId: bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content
        )
    }
}
