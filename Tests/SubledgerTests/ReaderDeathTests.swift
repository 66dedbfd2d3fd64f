import Dispatch
import EventLog
import Events
import Postgres
import Projections
import Projector
import Subledger
import Synchronization
import TestSupport
import Testing

/// One of several connections that read for a rebuild dies, while another has folded ahead of it
/// and waits for its rows to be received first.
@Suite(.enabled { await TestServer.isAvailable })
struct ReaderDeathTests {
    @Test(arguments: [1, 4])
    func `the death of one reader ends a rebuild with others ahead of it, and the next finishes`(
        lanes: Int
    ) async throws {
        let template = lanes == 1 ? FilledLedger.plain : FilledLedger.divided
        try await TestServer.shared.withDatabase(from: template) { settings in
            // Each lane through a temporary file, or lane by lane along the index.
            let ledger = try await Self.open(settings, spooledEventsMin: lanes == 1 ? 1 : .max)
            let before = try await rebuild(ledger, settings)
            let hold = Hold(try await Self.firstStream(of: ledger))
            let projector = Projector(
                log: ledger.log,
                settings: settings,
                projections: allProjections + [Held(hold: hold)]
            )
            async let failing = Self.failure(of: projector)
            try await Self.killReader(hold, settings)
            let failure = await failing
            #expect(
                failure.map {
                    [.databaseUnavailable, .log(.databaseUnavailable)].contains($0.code)
                } == true,
                "\(String(describing: failure))"
            )

            let live = try await projector.tables().filter { $0.state == .live }
            #expect(live.map(\.digest) == before.map(\.digest))
            for table in live {
                let counted = try await FollowTests.texts(
                    settings,
                    "SELECT count(*)::text FROM projection.\(table.name)"
                )
                #expect(counted == ["\(table.rows)"], "\(table.name)")
            }
            #expect(try await buildSchemas(settings).count == 1)
            let after = try await projector.rebuild(nil, Self.twoJobs)
            #expect(after.dropLast().map(\.digest) == before.map(\.digest))
            #expect(try await buildSchemas(settings).count == 1)
            await ledger.log.close()
        }
    }

    private static var twoJobs: Projector.RebuildOptions {
        var options = Projector.RebuildOptions()
        options.jobs = 2
        return options
    }

    private static func open(
        _ settings: ConnectionSettings,
        spooledEventsMin: Int64
    ) async throws -> Ledger {
        var options = EventLog.Options()
        // As many as there are jobs, so that each keeps its own.
        options.readersMax = 2
        options.spooledEventsMin = spooledEventsMin
        return Ledger(
            log: try await EventLog.open(settings, options),
            verifier: try FilledLedger.simulator.verifier()
        )
    }

    private static func failure(of projector: Projector) async -> ProjectorError? {
        do throws(ProjectorError) {
            _ = try await projector.rebuild(nil, twoJobs)
            return nil
        } catch {
            return error
        }
    }

    // The stream with which the rebuild's first part begins: all others are ahead of it.
    private static func firstStream(of ledger: Ledger) async throws -> StreamID {
        let first = try await ledger.allStreams().filter {
            ledger.log.identity.lanes.lane(of: $0.originalTransactionId) == 0
        }.min { one, other in
            let keys = [one, other].map {
                Array($0.environment.word.utf8) + [0] + Array($0.originalTransactionId.utf8)
            }
            return keys[0].lexicographicallyPrecedes(keys[1])
        }
        return try #require(first)
    }

    /// Lets the other reader continue, and kills the held one once the other is ahead.
    private static func killReader(_ hold: Hold, _ settings: ConnectionSettings) async throws {
        let session = try await PostgresSession.connect(settings)
        await hold.waitUntilBothAreHeld()
        // Writers are in a transaction too until they begin to copy.
        var begun = try await readers(session)
        while begun.count != 2 { begun = try await readers(session) }
        hold.releaseOther()
        // Each part is read in its own transaction, so the other reader has a later one by now.
        var held = begun
        while held.count == 2 {
            let now = try await readers(session)
            held = begun.filter { now[$0.key] == $0.value }
        }
        let victim = try #require(held.keys.first)
        let killed = try await session.query(
            "SELECT pg_terminate_backend($1, 60000)",
            [.int4(victim)]
        )
        #expect(try killed.single().bool(0))
        hold.releaseFirst()
        await session.close()
    }

    // The backends of the two readers, with the start of their transactions.
    private static func readers(_ session: PostgresSession) async throws -> [Int32: String] {
        var readers: [Int32: String] = [:]
        for row in try await session.query(
            """
            SELECT l.pid, a.xact_start::text FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE l.locktype = 'virtualxid' AND a.datname = current_database()
                AND a.state = 'idle in transaction' AND a.query !~ 'projection'
            """
        ) {
            readers[try row.int4(0)] = try row.text(1)
        }
        return readers
    }
}

/// Holds two folds until they are released: that of one stream, and whichever runs next to it.
private final class Hold: Sendable {
    private let first: StreamID
    private let firstGate = DispatchSemaphore(value: 0)
    private let otherGate = DispatchSemaphore(value: 0)
    private let state = Mutex((isOtherHeld: false, isFirstOver: false))
    private let holds: AsyncStream<Void>
    private let hold: AsyncStream<Void>.Continuation

    init(_ first: StreamID) {
        self.first = first
        (holds, hold) = AsyncStream.makeStream()
    }

    func waitUntilBothAreHeld() async {
        var held = holds.makeAsyncIterator()
        for _ in 0..<2 { await held.next() }
    }

    func releaseFirst() {
        state.withLock { $0.isFirstOver = true }
        firstGate.signal()
    }

    func releaseOther() { otherGate.signal() }

    func pass(_ stream: StreamID) {
        if stream == first {
            hold.yield()
            firstGate.wait()
            firstGate.signal()
            return
        }
        let isHeld = state.withLock { state in
            defer { if !state.isFirstOver { state.isOtherHeld = true } }
            return !state.isOtherHeld && !state.isFirstOver
        }
        guard isHeld else { return }
        hold.yield()
        otherGate.wait()
    }
}

/// A projection without rows, whose fold can be held.
private struct Held: Projection {
    let name = "held"
    let version = 1
    let columns = ["events"]
    let hold: Hold
    var tableSQL: String { table("events bigint") }

    func rows(of timeline: Timeline, in context: FoldContext) -> [ProjectionRow] {
        hold.pass(timeline.stream)
        return []
    }
}
