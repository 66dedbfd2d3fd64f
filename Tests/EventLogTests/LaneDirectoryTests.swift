import Events
import Postgres
import TestSupport
import Testing

@testable import EventLog

/// A ledger with a directory of lanes answers as one without: by asking few lanes, and never
/// without a lane that has the id.
@Suite(.enabled { await TestServer.isAvailable })
struct LaneDirectoryTests {
    static let lanes = LaneCount(16) ?? .one
    static let variant = Variant(lanes: lanes, isDivided: true)

    @Test(arguments: Histories.numbers(unlessTold: 3))
    func `ids lead where they lead without a directory`(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let payloads = (0..<60).map { _ in Self.randomPayload(&generator) }
        // Half of it is listed from the log, half by the appends.
        try await Self.withDirectory(of: Array(payloads.prefix(30))) { log, plain, settings in
            for isListed in [false, true] {
                if isListed {
                    try await Self.fill(settings)
                    for keys in Self.keys {
                        let found = try await log.streams(with: keys)
                        #expect(try await plain.streams(with: keys) == found, "seed \(seed)")
                    }
                    for payload in payloads.suffix(30) { _ = try await log.append(payload) }
                }
                for keys in Self.keys {
                    let found = try await log.streams(with: keys)
                    #expect(try await plain.streams(with: keys) == found, "seed \(seed): \(keys)")
                }
            }
            let all = try await log.streams(withEach: Self.keys)
            #expect(try await plain.streams(withEach: Self.keys) == all, "seed \(seed)")
            #expect(all.contains { !$0.isEmpty }, "seed \(seed)")
            #expect(try await Self.unlisted(settings).lanes.isEmpty)
            try await expectSound(log, settings)
        }
    }

    @Test func `only the lanes in the directory are asked`() async throws {
        try await Self.withDirectory { log, plain, settings in
            try await Self.fill(settings)
            let token = Self.texts[0]
            for id in ["1", "2"] {
                let fact = TestFacts.transaction(id).carrying([(.appAccountToken, token)])
                _ = try await log.append(verified(fact))
            }
            let keys: [StreamKey] = [.appAccountToken(token)]
            #expect(try await log.streams(with: keys).count == 2)
            let lane = Self.lanes.lane(of: "1")
            try await CitusCluster.execute(
                "DELETE FROM operation.lookup_key WHERE lane = \(lane)",
                settings
            )
            #expect(try await log.streams(with: keys).map(\.originalTransactionId) == ["2"])
            #expect(try await plain.streams(with: keys).count == 2)
        }
    }

    /// As after the coordinator was restored to an earlier moment from a copy of its files.
    @Test func `a lane that lost ids is noticed, asked and filled again`() async throws {
        try await Self.withDirectory { log, _, settings in
            try await Self.fill(settings)
            let lane = Self.lanes.lane(of: "1")
            for number in Int64(1)...2 { try await Self.append(number, to: log) }
            // An append that fails has the same number as the next one.
            try await Self.announce(TestFacts.transaction("1", purchased: 77), for: log, settings)
            try await CitusCluster.execute(Self.backup, settings)
            try await Self.append(3, to: log)
            #expect(try await Self.unlisted(settings).lanes.isEmpty)
            try await CitusCluster.execute(Self.restore, settings)
            let keys: [StreamKey] = [.transactionId("t1-3")]
            #expect(try await Self.unlisted(settings).lanes == [lane])
            #expect(try await log.streams(with: keys).isEmpty)
            try await Self.append(4, to: log)
            #expect(try await log.streams(with: keys).count == 1, "the append noticed it")
            #expect(try await Self.unlisted(settings).lanes == [lane])
            try await CitusCluster.execute(
                "DELETE FROM operation.lookup_lane WHERE lane = \(lane)",
                settings
            )
            #expect(try await log.streams(with: keys).count == 1)
            try await Self.fill(settings)
            #expect(try await Self.unlisted(settings).lanes.isEmpty)
            let listed = try await Self.listed(["t1-1", "t1-3", "t1-4"], in: lane, settings)
            #expect(listed.count == 3)
            #expect(try await log.streams(with: keys).count == 1)
        }
    }

    /// As after a standby took over from the coordinator.
    @Test func `on another timeline all lanes are asked until migrate compares them`() async throws
    {
        try await Self.withDirectory { log, _, settings in
            try await Self.fill(settings)
            try await Self.append(1, to: log)
            try await CitusCluster.execute(
                "DELETE FROM operation.lookup_key; UPDATE operation.lookup_lane SET timeline = '0'",
                settings
            )
            let keys: [StreamKey] = [.transactionId("t1-1")]
            #expect(try await log.streams(with: keys).count == 1)
            let unlisted = try await Self.unlisted(settings)
            #expect(unlisted.lanes.isEmpty)
            #expect(unlisted.unconfirmed == Array(0..<Self.lanes.value))
        }
    }

    /// As after the server of a lane was restored to an earlier moment.
    @Test func `a lane that lost commits is noticed and filled again`() async throws {
        try await Self.withDirectory { log, _, settings in
            try await Self.fill(settings)
            let lane = Self.lanes.lane(of: "1")
            for number in Int64(1)...5 { try await Self.append(number, to: log) }
            try await settings.meddle(
                """
                DELETE FROM ledger.event WHERE lane_offset > 2;
                DELETE FROM ledger.evidence WHERE commit_no > 2;
                DELETE FROM ledger.commit WHERE commit_no > 2
                """
            )
            #expect(try await Self.unlisted(settings).lanes == [lane])
            try await Self.append(8, to: log)
            #expect(try await log.streams(with: [.transactionId("t1-8")]).count == 1)
            #expect(try await Self.unlisted(settings).lanes == [lane])
            try await Self.fill(settings)
            #expect(try await Self.unlisted(settings).lanes.isEmpty)
            #expect(try await log.streams(with: [.transactionId("t1-8")]).count == 1)
            try await expectSound(log, settings)
        }
    }

    @Test func `a writer that locks the lane lists its ids first`() async throws {
        try await Self.withDirectory { log, _, settings in
            try await Self.fill(settings)
            let lane = Self.lanes.lane(of: "1")
            let batch = [submission(TestFacts.transaction("1"))]
            let writer = Appender(
                settings: settings,
                identity: log.identity,
                dictionaries: log.dictionaries,
                making: .test,
                limits: log.limits
            )
            let plan = try await writer.commitLocked(
                AppendLookUp(batch, lane: lane, of: Self.lanes),
                batch,
                lane: lane,
                genesis: log.identity.genesis(lane: lane),
                by: log.limits.deadline()
            )
            #expect(plan.events.count == 1)
            #expect(try await log.streams(with: [.transactionId("t1-0")]).count == 1)
            #expect(try await Self.unlisted(settings).lanes.isEmpty)
            await writer.close()
            try await expectSound(log, settings)
        }
    }

    @Test func `a key with more subscriptions than a person has is refused`() async throws {
        try await Self.withDirectory { log, _, settings in
            try await Self.fill(settings)
            // No lane alone has too many.
            let half = EventLog.customerStreamsMax / 2 + 1
            let ids = [3, 4].flatMap { Self.variant.ids(inLane: $0, count: half) }
            _ = try await log.append(
                ids.map { id in
                    verified(TestFacts.transaction(id).carrying([(.appAccountToken, "all")]))
                }
            )
            await #expect {
                try await log.streams(with: [.appAccountToken("all")])
            } throws: {
                ($0 as? EventLogError)?.code == .tooManyStreams
            }
        }
    }

    @Test func `an erasure removes ids, unless another subscription has them`() async throws {
        try await Self.withDirectory { log, plain, settings in
            try await Self.fill(settings)
            let ids = Self.variant.ids(inLane: 5, count: 3)
            let token = Self.texts[1]
            for id in ids.prefix(2) {
                let fact = TestFacts.transaction(id).carrying([
                    (.appAccountToken, token), (.appTransactionId, "e\u{301} of \(id)"),
                    (.webOrderLineItemId, "\u{e9} of \(id)"),
                ])
                _ = try await log.append(verified(fact))
            }
            let link = TestFacts.link(token.lowercased(), ids[2])
            _ = try await log.append(verified(link))
            let own = ids.map { ["e\u{301} of \($0)", "\u{e9} of \($0)", "t\($0)-0"] }
            try await Self.erase(ids[0], from: log)
            #expect(try await Self.listed(own[0], in: 5, settings).isEmpty)
            #expect(try await Self.listed([token] + own[1], in: 5, settings).count == 4)
            for log in [log, plain] {
                let found = try await log.streams(with: [.appAccountToken(token)])
                #expect(found.map(\.originalTransactionId) == [ids[1]])
            }
            try await Self.erase(ids[1], from: log)
            #expect(try await Self.listed([token] + own[0] + own[1], in: 5, settings).isEmpty)
            let linked = try await log.streams(with: [.customer(token.lowercased())])
            #expect(linked.map(\.originalTransactionId) == [ids[2]])
            #expect(try await Self.unlisted(settings).lanes.isEmpty)
            try await expectSound(log, settings)
        }
    }

    /// The append has listed its ids, but its rows come after the erasure.
    @Test func `an erasure leaves a lane of a slow append to be asked`() async throws {
        try await Self.withDirectory { log, _, settings in
            try await Self.fill(settings)
            let ids = Self.variant.ids(inLane: 5, count: 2)
            func fact(_ id: String) -> Fact {
                TestFacts.transaction(id).carrying([(.appTransactionId, "shared")])
            }
            _ = try await log.append(verified(fact(ids[0])))
            try await Self.erase(ids[0], from: log)
            try await Self.announce(fact(ids[1]), for: log, settings)
            let removed = ErasureReading.Removed(ids: [Array("shared".utf8)])
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.atomically {
                    try LaneDirectory.forget(removed, lane: 5, in: $0)
                }
            }
            #expect(try await Self.unlisted(settings).lanes == [5])
            #expect(try await Self.listed(["shared"], in: 5, settings).isEmpty)
            _ = try await log.append(verified(fact(ids[1])))
            let found = try await log.streams(with: [.appTransactionId("shared")])
            #expect(found.map(\.originalTransactionId) == [ids[1]])
        }
    }

    @Test func `ids are listed after an erasure that the append waited for`() async throws {
        try await Self.withDirectory { log, _, settings in
            try await Self.fill(settings)
            try await Self.append(1, to: log)
            let keys: [StreamKey] = [.appAccountToken("token of 1")]
            let lane = Self.lanes.lane(of: "1")
            try await Inspector.inspect(settings) { inspector in
                try await inspector.session.execute("BEGIN")
                try await inspector.session.together { try LaneDirectory.lock(lane, in: $0) }
                async let appended: Void = Self.append(2, to: log)
                while try await inspector.number(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted"
                ) == 0 {}
                try await inspector.session.execute("DELETE FROM operation.lookup_key; COMMIT")
                try await appended
            }
            #expect(try await log.streams(with: keys).count == 1)
            #expect(try await Self.unlisted(settings).lanes.isEmpty)
        }
    }
}
