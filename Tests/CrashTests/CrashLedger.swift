import AppStore
import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Subledger
import Synchronization
import TestSupport

/// A ledger filled by processes that are killed, and everything that was acknowledged to them.
struct CrashLedger {
    /// Subscriptions whose payloads are ingested.
    static let lives = 120

    let payloads: [[UInt8]]
    let settings: ConnectionSettings
    /// Payloads that were acknowledged, by index.
    private(set) var acknowledged: Set<Int> = []
    /// Erasures that were acknowledged.
    private(set) var erased: Set<ErasureTarget> = []
    /// Repairs that were acknowledged.
    private(set) var repairs = 0
    private(set) var serverKills = 0
    private(set) var backendKills = 0
    private(set) var childKills = 0

    let seed: UInt64
    private let lanes: Int
    /// Whether erasures, repairs, checkpoints and polls are among the work.
    private let erases: Bool
    private let server: any KilledServer
    private let root: RootCertificate
    // For each payload, the addresses of the evidence in it.
    private let digests: [[Digest]]
    private let folder: TestFolder
    private var generator: TestSupport.SeededGenerator
    /// The payload that was acknowledged as proof of the event at a position.
    private var promised: [Position: Int] = [:]
    /// Positions that were reported for duplicates.
    private var referred: Set<Position> = []

    /// Makes an empty ledger and the payloads for it.
    init(
        seed: UInt64,
        lanes: Int,
        erases: Bool = false,
        server: any KilledServer
    ) async throws {
        let simulator = AppStoreSimulator(seed: seed)
        var payloads = simulator.sampleHistory(count: Self.lives).map(\.payload)
        if erases {
            // Payloads that repeat and confirm: three polls of some subscriptions.
            for life in 0..<Self.lives / 2 {
                payloads += simulator.life(life).silentPolls().prefix(3).map(\.payload)
            }
        }
        self.payloads = payloads
        self.erases = erases
        root = try RootCertificate(der: simulator.store.pki.rootDER)
        let verifier = AppStoreVerifier(policy: VerificationPolicy(roots: [root]))
        digests = try payloads.map { try verifier.evidenceDigests(of: RecognisedPayload($0)) }
        folder = try TestFolder()
        try folder.write("root.der", simulator.store.pki.rootDER)
        generator = TestSupport.SeededGenerator(seed: seed)
        settings = try await Self.makeDatabase(
            "crashed_\(lanes)_\(erases)",
            lanes: lanes,
            on: server
        )
        self.seed = seed
        self.lanes = lanes
        self.server = server
    }

    private static func makeDatabase(
        _ name: String,
        lanes: Int,
        on server: any KilledServer
    ) async throws -> ConnectionSettings {
        let session = try await PostgresSession.connect(server.settings)
        try await session.execute("CREATE DATABASE \(name) TEMPLATE template0")
        // Settings that an operator may make for other applications must not break the promise.
        try await session.execute("ALTER DATABASE \(name) SET synchronous_commit = off")
        await session.close()
        var settings = server.settings
        settings.database = name
        _ = try await Migrator.migrate(settings, Migrator.Layout(lanes: LaneCount(lanes)))
        return settings
    }

    /// A ledger with the same lanes that ingests everything, undisturbed and in order.
    func undisturbedLedger() async throws -> (ledger: Ledger, settings: ConnectionSettings) {
        let settings = try await Self.makeDatabase(
            "undisturbed_\(lanes)",
            lanes: lanes,
            on: server
        )
        let ledger = try await open(settings)
        try await ledger.ingest(payloads)
        return (ledger, settings)
    }

    /// Kills so far.
    var kills: Int { serverKills + backendKills + childKills }

    /// Whether any payload is not acknowledged yet.
    var hasWork: Bool { acknowledged.count < payloads.count }

    /// Drops the database, for the next ledger.
    func drop() async throws {
        let session = try await PostgresSession.connect(server.settings)
        try await session.execute("DROP DATABASE \(settings.database ?? "") WITH (FORCE)")
        await session.close()
    }

    func open(_ settings: ConnectionSettings) async throws -> Ledger {
        try await Ledger.open(settings, policy: VerificationPolicy(roots: [root]))
    }
}

extension CrashLedger {
    /// The kinds of rounds; a killed server needs seconds to restart, hence the odds.
    private enum Incident {
        case childrenKilled
        /// The ingesting processes must survive it and do all their work.
        case serverKilled
        case serverThenChildrenKilled
        /// The ingesting processes must survive it.
        case backendKilled

        static let inTurn = [
            childrenKilled, serverKilled, childrenKilled, serverThenChildrenKilled,
        ]
        // A killed server takes seconds, so most kills are of other kinds.
        static let oftenInTurn = [
            childrenKilled, backendKilled, childrenKilled, backendKilled, childrenKilled,
            serverThenChildrenKilled, childrenKilled, backendKilled, childrenKilled, serverKilled,
        ]
    }

    /// Lets one or two processes ingest what is left, and kills something; returns what.
    mutating func round(_ number: Int) async throws -> String {
        let incidents = erases ? Incident.oftenInTurn : Incident.inTurn
        let incident = incidents[number % incidents.count]
        if erases { try await plant() }
        var children = [try await startChild("\(number)a", window: 1 + number % 24)]
        if erases || Int.random(in: 0..<3, using: &generator) == 0 {
            children.append(try await startChild("\(number)b", window: 4))
        }
        var acks = children.map { $0.lines.makeAsyncIterator() }
        // All have opened the ledger before anything is killed.
        for child in acks.indices { try await read(1, from: &acks[child]) }
        try await read(Int.random(in: 0...12, using: &generator), from: &acks[0])
        if incident == .backendKilled {
            backendKills += try await killBackend() ? 1 : 0
        } else if incident != .childrenKilled {
            try await server.crash()
            serverKills += 1
        }
        let mustFinish = incident == .serverKilled || incident == .backendKilled
        if !mustFinish {
            try await read(Int.random(in: 0...8, using: &generator), from: &acks[0])
            for child in children { child.signal(SIGKILL) }
        }
        for child in acks.indices { try await read(.max, from: &acks[child]) }
        for child in children { try await end(child, mustFinish: mustFinish) }
        return "\(incident)"
    }

    private mutating func end(_ child: RunningProgram, mustFinish: Bool) async throws {
        let ending = await child.ending()
        // A process may have finished before it was killed, but must not have failed.
        guard ending.code == 0 || (ending.wasKilled && !mustFinish) else {
            throw CrashTestError("a child failed with \(ending.code): \(ending.errors)")
        }
        if ending.wasKilled { childKills += 1 }
    }

    /// Starts a process with payloads that are not acknowledged yet, in a new order, and some that
    /// are.
    private mutating func startChild(
        _ name: String,
        window: Int
    ) async throws -> RunningProgram {
        let open = payloads.indices.filter { !acknowledged.contains($0) }
        let known = acknowledged.sorted().shuffled(using: &generator).prefix(3)
        let chosen = (open.shuffled(using: &generator).prefix(40) + known)
            .shuffled(using: &generator)
        var lines = chosen.map { Array("\($0) ".utf8) + payloads[$0] }
        if erases { lines = try await withErasures(lines) }
        let file = lines.flatMap { $0 + [UInt8(ascii: "\n")] }
        return try Program("CrashChild").start(
            [
                try folder.write("\(name).txt", file), folder.path(of: "root.der"),
                String(window),
            ],
            environment: ["DATABASE_URL": settings.fullConnectionString]
        )
    }

    /// The same lines, with a checkpoint, a repair and an erasure or two among them.
    private mutating func withErasures(_ lines: [[UInt8]]) async throws -> [[UInt8]] {
        let ledger = try await open(settings)
        let streams = try await ledger.log.streams().map(\.stream)
        await ledger.log.close()
        var more = [Array("checkpoint ".utf8), Array("repair ".utf8)]
        for stream in streams.shuffled(using: &generator).prefix(2) {
            let scope: Erasure.Scope =
                Int.random(in: 0..<4, using: &generator) == 0 ? .subscription : .customer
            more.append(
                Array(
                    "erase \(scope.rawValue) \(stream.environment) \(stream.originalTransactionId)"
                        .utf8
                )
            )
        }
        var all = lines
        for line in more {
            all.insert(line, at: Int.random(in: 0...all.count, using: &generator))
        }
        return all
    }

    /// Ends a connection of an ingesting process; false if there is none.
    private mutating func killBackend() async throws -> Bool {
        let session = try await PostgresSession.connect(server.settings)
        let pids = try await session.query(
            """
            SELECT pid FROM pg_stat_activity
            WHERE datname LIKE 'crashed%' AND backend_type = 'client backend' ORDER BY pid
            """
        ).map { try $0.int4(0) }
        let pid = pids.randomElement(using: &generator)
        if let pid {
            try await session.query("SELECT pg_terminate_backend($1)", [.int4(pid)])
        }
        await session.close()
        return pid != nil
    }

    /// Reads this many acknowledgements, or all until the end.
    private mutating func read(
        _ count: Int,
        from lines: inout AsyncStream<String>.Iterator
    ) async throws {
        var left = count
        while left > 0, let line = await lines.next() {
            try acknowledge(line)
            left -= 1
        }
    }

    private mutating func acknowledge(_ line: String) throws {
        let words = line.split(separator: " ")
        if line == "repair" {
            repairs += 1
            return
        }
        if words.first == "erase", words.count == 4,
            let scope = Erasure.Scope(rawValue: String(words[1]))
        {
            let stream = StreamID(
                environment: StoreEnvironment(String(words[2])),
                originalTransactionId: String(words[3])
            )
            erased.insert(ErasureTarget(stream: stream, scope: scope))
            return
        }
        guard let first = words.first, let index = Int(first), payloads.indices.contains(index)
        else { throw CrashTestError("an acknowledgement cannot be read: \(line)") }
        acknowledged.insert(index)
        for word in words.dropFirst() {
            let parts = word.dropFirst().split(separator: ":").compactMap { Int64($0) }
            guard parts.count == 2 else { throw CrashTestError("no position: \(line)") }
            let position = Position(lane: Lane(Int(parts[0])), offset: parts[1])
            guard word.hasPrefix("+") else {
                referred.insert(position)
                continue
            }
            if let other = promised.updateValue(index, forKey: position), other != index {
                throw CrashTestError("\(position) was given to payloads \(other) and \(index)")
            }
        }
    }
}

extension CrashLedger {
    /// What is wrong with the log now; should be empty.
    func check() async throws -> [String] {
        if erases {
            // The children's repairs may have been killed.
            let log = try await EventLog.open(settings)
            _ = try await log.repair(reason: "crash test", by: "crash test")
            await log.close()
        }
        let session = try await PostgresSession.connect(settings)
        var wrong: [String] = []
        var proofs: [Position: Digest] = [:]
        var forgotten: Set<Position> = []
        let input = Set(digests.joined())
        let rows = try await session.query(
            """
            SELECT e.lane, e.lane_offset, v.digest,
                v.body IS NULL OR v.kind = 'erasure-statement' AS is_of_erasure
            FROM ledger.event e JOIN ledger.evidence v USING (lane, evidence_no) ORDER BY 1, 2
            """,
            []
        )
        var expected = Position(lane: Lane(-1), offset: 0)
        for row in rows {
            let position = Position(lane: Lane(Int(try row.int4(0))), offset: try row.int8(1))
            let next = position.lane == expected.lane ? expected.offset + 1 : 1
            if position.offset != next { wrong.append("hole before \(position)") }
            expected = position
            if erases, try row.bool(3) {
                forgotten.insert(position)
                continue
            }
            proofs[position] = Digest(bytes: try row.bytea(2))
            if proofs[position].map(input.contains) != true {
                wrong.append("event \(position) is proven by nothing that was taken in")
            }
        }
        for (position, index) in promised
        where !forgotten.contains(position)
            && proofs[position].map(digests[index].contains) != true
        {
            wrong.append("payload \(index) was promised \(position) and is not there")
        }
        for position in referred
        where proofs[position] == nil && !forgotten.contains(position) {
            wrong.append("a duplicate was said to stand at \(position), where nothing is")
        }
        let twice = try await session.query(Self.twiceSQL, [])
        for row in twice { wrong.append("a fact stands there twice: \(try row.text(0))") }
        await session.close()
        return wrong + (try await verification())
    }

    /// Equal facts at two positions, even if the unique index is damaged.
    private static let twiceSQL = """
        SELECT original_transaction_id || ' ' || kind || ' as of ' || as_of_ms FROM ledger.event
        GROUP BY environment, original_transaction_id, kind, purchase_date_ms, expires_date_ms,
            as_of_ms, fact_key
        HAVING count(*) > 1
        """

    private func verification() async throws -> [String] {
        let log = try await EventLog.open(settings)
        let report = try await log.verify()
        for target in erased where report.isOK {
            let left = try await log.plannedErasure(of: target)
            if !left.isEmpty { return ["an acknowledged erasure did not last: \(left)"] }
        }
        await log.close()
        guard let mismatch = report.firstMismatch else { return [] }
        return ["verify: commit \(mismatch.commit): \(mismatch.reason)"]
    }
}

extension Ledger {
    /// Ingests payloads.
    @discardableResult
    func ingest(_ payloads: [[UInt8]]) async throws -> IngestReport {
        let rest = Mutex(payloads.makeIterator())
        return try await ingest(
            next: {
                rest.withLock { $0.next() }
                    .map { [LocatedPayload(path: "", payload: .success($0))] }
            },
            source: "test"
        )
    }
}
