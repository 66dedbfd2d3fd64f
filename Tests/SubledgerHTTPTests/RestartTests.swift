import EmbeddedPostgres
import EventLog
import Foundation
import HTTPTypes
import Subledger
import Synchronization
import TestSupport
import Testing

/// Every payload answered with 200 is in the log, even if the database restarted meanwhile.
@Suite(.enabled { await TestServer.isAvailable })
struct RestartTests {
    private static let path = "/v1/appstore/notifications"
    private static let workers = 4
    /// The number of answers between two restarts.
    private static let answersBetween = 6

    @Test
    func `under restarts of the database every answer is 200 or 503 and every 200 is in once`()
        async throws
    {
        let variable = ProcessInfo.processInfo.environment["SUBLEDGER_SERVE_RESTARTS"]
        let restarts = variable.flatMap(Int.init) ?? 2
        let server = EmbeddedServer(
            home: TestServer.temporaryHome(),
            options: EmbeddedServer.Options(lifetime: .process)
        )
        let settings = try await server.start()
        _ = try await Migrator.migrate(settings)
        var options = EventLog.Options()
        options.appendSecondsMax = 1
        let set = options
        let payloads = TestService.notifications(4 + 2 * restarts)
        try #require(payloads.count > (restarts + 1) * Self.answersBetween)
        try await TestService.run(on: settings, set) { service in
            let (answers, answer) = AsyncStream.makeStream(of: Void.self)
            async let statuses = Self.send(payloads, to: service, answer)
            var (count, done) = (0, 0)
            for await _ in answers {
                count += 1
                guard done < restarts, count % Self.answersBetween == 0 else { continue }
                done += 1
                try await server.stop()
                _ = try await server.start()
            }
            #expect(done == restarts)
            let others = try await statuses.subtracting([200, 503])
            #expect(others.isEmpty, "\(others)")
            let before = try await service.ledger.log.heads().mapValues(\.offset)
            for payload in payloads {
                let again = try await service.ledger.ingest(payload, source: "again")
                #expect(again.outcomes.allSatisfy { !$0.isNew })
            }
            #expect(try await service.ledger.log.heads().mapValues(\.offset) == before)
            #expect(try await service.ledger.log.verify().isOK)
        }
        try await server.stop()
    }

    // Sends each payload until it is accepted; returns every status received.
    private static func send(
        _ payloads: [[UInt8]],
        to service: TestService,
        _ answer: AsyncStream<Void>.Continuation
    ) async throws -> Set<Int> {
        let next = Mutex(0)
        let take: @Sendable () -> [UInt8]? = {
            next.withLock { index in
                defer { index += 1 }
                return index < payloads.count ? payloads[index] : nil
            }
        }
        defer { answer.finish() }
        return try await withThrowingTaskGroup(of: Set<Int>.self) { group in
            for _ in 0..<workers {
                group.addTask {
                    var statuses: Set<Int> = []
                    while let payload = take() {
                        var status = 0
                        while status != 200 {
                            status = try await service.post(path, payload).status
                            statuses.insert(status)
                            guard [200, 503].contains(status) else { return statuses }
                        }
                        answer.yield()
                    }
                    return statuses
                }
            }
            return try await group.reduce(into: []) { $0.formUnion($1) }
        }
    }
}
