import EventLog
import Events
import Foundation
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// The events over HTTP, for a reader whose place the service keeps.
@Suite(.enabled { await TestServer.isAvailable })
struct EventFeedTests {
    private struct Page {
        let events: [[String: Any]]
        let cursor: String

        /// Events; confirmations have no position.
        var positions: [Int] { events.compactMap { $0["position"] as? Int } }
    }

    private static func run(
        _ body: @escaping @Sendable (TestService, String) async throws -> Void
    ) async throws {
        try await TestService.run { service in
            // More than a page.
            for payload in TestService.notifications(40) {
                _ = try await service.ledger.ingest(payload, source: "notification")
            }
            try await body(service, try await service.token(.support))
        }
    }

    private static func page(
        _ service: TestService,
        _ token: String,
        _ query: String
    ) async throws -> Page {
        let answer = try await service.get("/v1/events" + query, token: token)
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        return Page(
            events: try #require(try answer.json["events"] as? [[String: Any]]),
            cursor: try #require(try answer.json["cursor"] as? String)
        )
    }

    @Test func `a page is acknowledged with the request for the next one`() async throws {
        try await Self.run { service, token in
            let heads = try await service.ledger.log.heads()
            let count = Int(heads.values.reduce(0) { $0 + $1.offset })
            let first = try await Self.page(service, token, "?consumer=lake")
            #expect(first.positions == Array(1...500) && count > 500)
            let again = try await Self.page(service, token, "?consumer=lake")
            #expect(again.positions == first.positions, "it was not acknowledged")
            let plain = try await Self.page(service, token, "?after=\(first.cursor)")
            let next = try await Self.page(service, token, "?consumer=lake&after=\(first.cursor)")
            #expect(next.positions == plain.positions && next.positions.first == 501)
            // A client that forgot everything continues after what it acknowledged.
            let kept = try await Self.page(service, token, "?consumer=lake")
            #expect(kept.positions == next.positions)

            var (cursor, last) = (next.cursor, next.positions.last)
            while last != count {
                let page = try await Self.page(service, token, "?consumer=lake&after=\(cursor)")
                (cursor, last) = (page.cursor, page.positions.last ?? count)
            }
            let end = try await Self.page(service, token, "?consumer=lake&after=\(cursor)")
            #expect(end.positions.isEmpty && end.cursor == cursor)
            #expect(try await service.ledger.log.consumers(limit: 10).map(\.lag) == [0])
            let ops = try await service.token(.operator, named: "ops")
            let metrics = try await service.get("/metrics", token: ops)
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains(#"subledger_consumer_lag_events{consumer="lake"} 0.0"#))
            _ = try await service.ledger.log.removeConsumer("lake")
            let without = try await service.get("/metrics", token: ops)
            let gone = String(decoding: without.body, as: UTF8.self)
            #expect(!gone.contains(#"{consumer="lake"}"#), "a removed consumer raises no alert")
        }
    }

    @Test func `a name in use, of effects, or with a foreign cursor is refused`() async throws {
        try await Self.run { service, token in
            let (ledger, log) = (service.ledger, service.ledger.log)
            let session = try await log.followerSession(of: Consumer("busy", of: .events))
            for try await effect in ledger.effects(of: "mailer", isFollowing: false) {
                _ = effect
                break
            }
            func refusal(_ query: String) async throws -> String {
                let answer = try await service.get("/v1/events" + query, token: token)
                let type = try answer.json["type"] as? String ?? ""
                return "\(answer.status) \(type.split(separator: "/").last ?? "")"
            }
            #expect(try await refusal("?consumer=busy").hasPrefix("409 "))
            #expect(try await refusal("?consumer=busy").hasSuffix("consumer-in-use"))
            #expect(try await refusal("?consumer=mailer").hasSuffix("consumer-of-other-stream"))
            let foreign = "0:1:0123456789abcdef"
            let refused = try await refusal("?consumer=lake&after=\(foreign)")
            #expect(refused.hasSuffix("cursor-not-of-log"))
            #expect(try await refusal("?after=nothing").hasPrefix("400 "))
            #expect(try await refusal("?consumer=%09").hasPrefix("400 "))
            let names = try await log.consumers(limit: 10).map(\.name)
            #expect(names == ["mailer"], "no place is kept for a refused cursor")
            await session.close()
            _ = try await Self.page(service, token, "?consumer=busy")
        }
    }
}
