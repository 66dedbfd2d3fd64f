import EventLog
import Foundation
import HTTPTypes
import Postgres
import Projector
import Subledger
import TestSupport
import Testing

/// Several services of one ledger.
@Suite(.enabled { await TestServer.isAvailable })
struct SeveralServicesTests {
    private static let path = "/v1/appstore/notifications"

    @Test
    func `two services that follow share the work, and one takes over from one that was killed`()
        async throws
    {
        try await TestServer.shared.withDatabase(from: .served) { settings in
            // With tables to follow: a service that has to build them includes what has arrived by
            // then, and takes no lease for it.
            let ledger = try await Ledger.open(settings)
            _ = try await ledger.projector.rebuild()
            let first = try await ServeProcess.start(settings, "--follow")
            let second = try await ServeProcess.start(settings, "--follow")
            let payloads = TestService.notifications(3)
            for (number, payload) in payloads.enumerated() {
                let service = number.isMultiple(of: 2) ? first : second
                #expect(await service.post(payload, to: Self.path) == 200)
                // A repetition at the other service adds nothing.
                let other = number.isMultiple(of: 2) ? second : first
                #expect(await other.post(payload, to: Self.path) == 200)
            }
            func isCurrent() async throws -> Bool {
                let live = try await ledger.projector.tables().filter { $0.state == .live }
                return !live.isEmpty && live.allSatisfy { $0.lag == 0 }
            }
            try await eventually("the tables contain the log") { try await isCurrent() }
            let holders = try await Self.holders(settings)
            #expect(holders == 1, "one process follows the only lane")
            first.program.signal(SIGKILL)
            _ = await first.program.ending()
            let more = TestService.notifications(6).dropFirst(payloads.count)
            for payload in more { #expect(await second.post(payload, to: Self.path) == 200) }
            try await eventually("the other one took over") { try await isCurrent() }
            #expect(try await ledger.log.verify().isOK)
            await ledger.close()
            second.program.signal(SIGTERM)
            #expect(await second.program.ending().code == 0)
        }
    }

    private static func holders(_ settings: ConnectionSettings) async throws -> Int64 {
        let session = try await PostgresSession.connect(settings)
        let count = try await session.query("SELECT count(DISTINCT holder) FROM operation.lease")
            .single().int8(0)
        await session.close()
        return count
    }
}
