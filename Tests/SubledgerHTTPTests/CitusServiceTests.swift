import EventLog
import Events
import HTTPTypes
import Subledger
import TestSupport
import Testing

/// The service of a ledger that is distributed over the servers of a Citus cluster.
@Suite(.enabled(if: CitusCluster.shared != nil))
struct CitusServiceTests {
    @Test func `a request that needs a lost server gets 503, others an answer`() async throws {
        let cluster = try #require(CitusCluster.shared)
        let layout = Migrator.Layout(lanes: LaneCount(8), isDistributed: true)
        try await TestServer.shared.withDatabase { settings in
            _ = try await Migrator.migrate(settings, layout)
            try await TestService.run(on: settings) { service in
                for payload in TestService.notifications(20) {
                    let answer = try await service.post("/v1/appstore/notifications", payload)
                    #expect(answer.status == 200)
                }
                let token = try await service.token(.support)
                let streams = try await service.ledger.log.streams().map(\.stream)
                try await cluster.withoutOneWorker(settings) {
                    var statuses: Set<Int> = []
                    for stream in streams {
                        let answer = try await service.get(
                            "/v1/subscriptions/\(stream.originalTransactionId)/history",
                            token: token
                        )
                        statuses.insert(answer.status)
                        guard answer.status != 200 else { continue }
                        #expect(try answer.json["code"] as? String == "lanes-unavailable")
                        #expect(answer.headers[.retryAfter] == "5")
                    }
                    #expect(statuses == [200, 503])
                    #expect(try await service.get("/readyz").status == 200)
                }
            }
        }
    }
}
