import EventLog
import Events
import Foundation
import HTTPTypes
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// Answers over HTTP are the documents that the command prints.
@Suite(.enabled { await TestServer.isAvailable })
struct QuestionRouteTests {
    private static let now = Instant(milliseconds: 1_760_000_000_000)

    private func withAnswers(
        _ body:
            @escaping @Sendable (TestService, _ id: String, _ token: String) async throws -> Void
    ) async throws {
        try await TestService.run(clock: { Self.now }) { service in
            for payload in TestService.notifications(3) {
                _ = try await service.post("/v1/appstore/notifications", payload)
            }
            let stream = try #require(try await service.ledger.log.streams(limit: 1).first?.stream)
            let token = try await service.token(.support)
            try await body(service, stream.originalTransactionId, token)
        }
    }

    private func json(_ document: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(document))
    }

    @Test func `answers are the documents of the library`() async throws {
        try await withAnswers { service, id, token in
            let (ledger, subject) = (service.ledger, SubjectID(id))
            let expected: [String: [UInt8]] = [
                "access": try json(try await ledger.access(of: subject, at: Self.now)),
                "entitlements": try json(
                    try await ledger.entitlements(of: subject, at: Self.now)
                ),
                "explain": try json(try await ledger.explain(subject, at: Self.now)),
                "eligibility": try json(try await ledger.eligibility(of: subject, at: Self.now)),
                "periods": try json(try await ledger.periods(of: subject) as PeriodsDocument),
                "history": try json(try await ledger.history(of: subject)),
                "changes": try json(try await ledger.changes(of: subject)),
                "refunds": try json(try await ledger.refunds(of: subject)),
                "state": try json(try await ledger.state(of: subject)),
                "charges": try json(try await ledger.charges(of: subject, now: Self.now)),
            ]
            for (question, document) in expected {
                let answer = try await service.get("/v1/customers/\(id)/\(question)", token: token)
                #expect(answer.status == 200, "\(question)")
                #expect(answer.body == document, "\(question)")
                let alone = try await service.get(
                    "/v1/subscriptions/\(id)/\(question)",
                    token: token
                )
                #expect(alone.status == 200, "\(question)")
            }
        }
    }

    @Test func `times are read as on the command line`() async throws {
        try await withAnswers { service, id, token in
            let path = "/v1/customers/\(id)/access"
            for (query, milliseconds) in [
                ("at=now", Self.now.milliseconds), ("at=2025-10-09", 1_759_968_000_000),
                ("at=2025-10-09&tz=Europe/Berlin", 1_759_960_800_000),
                ("at=1759968000000", 1_759_968_000_000),
                ("at=2025-10-09T00:00:00%2B02:00", 1_759_960_800_000),
                ("at=yesterday", 1_759_881_600_000), ("at=2%20hours%20ago", 1_759_992_800_000),
            ] as [(String, Int64)] {
                let answer = try await service.get("\(path)?\(query)", token: token)
                #expect(answer.status == 200, "\(query)")
                #expect(try answer.json["at"] as? Int64 == milliseconds, "\(query)")
            }
        }
    }

    @Test func `sentences are written in the zone of the question`() async throws {
        try await withAnswers { service, id, token in
            let path = "/v1/customers/\(id)/explain?at=2025-10-09T12:00:00Z"
            let utc = try await service.get(path, token: token)
            let tokyo = try await service.get("\(path)&tz=Asia/Tokyo", token: token)
            let words = try [utc, tokyo].map { try $0.json["summary"] as? String ?? "" }
            #expect(words[0].contains(" UTC") && !words[0].contains("Tokyo"), "\(words)")
            #expect(words[1].contains(" Tokyo time") && !words[1].contains(" UTC"), "\(words)")
            #expect(try tokyo.json["at"] as? Int64 == utc.json["at"] as? Int64)
        }
    }

    @Test func `an id counts only as it is written: apps do not paste`() async throws {
        try await withAnswers { service, id, token in
            let pasted = try await service.get("/v1/customers/%23\(id)/access", token: token)
            #expect(pasted.status == 404)
            #expect(try pasted.json["code"] as? String == "unknown-id")
        }
    }

    @Test func `an order id stays unknown over HTTP, and the error says who knows it`()
        async throws
    {
        try await withAnswers { service, _, token in
            let log = service.ledger.log
            let stream = try #require(try await log.streams(limit: 1).first?.stream)
            try await log.record(try #require(OrderID("MK5TS1XYZ7")), of: [stream])
            for path in ["customers/MK5TS1XYZ7/access", "subscriptions/mk5ts1xyz7/state"] {
                let answer = try await service.get("/v1/\(path)", token: token)
                #expect(answer.status == 404, "\(path)")
                let detail = try answer.json["detail"] as? String
                #expect(detail?.contains("`subledger import -` asks Apple") == true)
            }
        }
    }

    @Test func `an empty ledger is reported, and an unknown customer has bought nothing`()
        async throws
    {
        try await TestService.run { service in
            let token = try await service.token(.support)
            let empty = try await service.get("/v1/customers/anna/access", token: token)
            #expect(empty.status == 404)
            #expect(try empty.json["code"] as? String == "empty-ledger")
        }
        try await withAnswers { service, _, token in
            let unknown = try await service.get("/v1/customers/anna/access", token: token)
            #expect(unknown.status == 404)
            #expect(try unknown.json["code"] as? String == "unknown-id")
            let offers = try await service.get("/v1/customers/anna/eligibility", token: token)
            #expect(offers.status == 200)
            #expect(try offers.json["isKnown"] as? Bool == false)
            let product = try await service.get(
                "/v1/customers/anna/eligibility?product=never.sold",
                token: token
            )
            #expect(product.status == 404)
            #expect(try product.json["code"] as? String == "unknown-product")
        }
    }

    @Test func `an invalid question is refused with what was expected`() async throws {
        try await withAnswers { service, id, token in
            let path = "/v1/customers/\(id)/access"
            for query in [
                "at=soon", "knownAt=x", "tz=Moon", "minPosition=x", "knowAt=2", "tz=%20",
            ] {
                let answer = try await service.get("\(path)?\(query)", token: token)
                #expect(answer.status == 400, "\(query)")
                #expect(try (answer.json["detail"] as? String)?.contains("expected") == true)
            }
            for query in ["knownAt=999999", "at=", "at=1&at=2", "product=a&group=b"] {
                let answer = try await service.get("\(path)?\(query)", token: token)
                #expect(answer.status == 400, "\(query)")
            }
            let elsewhere = try await service.get("\(path)?environment=Moon", token: token)
            #expect(elsewhere.status == 404)
            #expect(try elsewhere.json["code"] as? String == "other-environment")
        }
    }

    @Test func `minPosition waits for a position to be written, but no longer than its limit`()
        async throws
    {
        var limits = ServiceLimits()
        limits.positionSecondsMax = 0.2
        try await TestService.run(limits: limits) { service in
            let token = try await service.token(.support)
            let payload = try #require(TestService.notifications(1).first)
            let taken = try await service.post("/v1/appstore/notifications", payload)
            let positions = try #require(taken.json["positions"] as? [String: Int])
            let offset = try #require(positions["0"])
            let stream = try #require(try await service.ledger.log.streams(limit: 1).first?.stream)
            let path = "/v1/customers/\(stream.originalTransactionId)/access?minPosition="
            #expect(try await service.get(path + "\(offset)", token: token).status == 200)
            let ahead = try await service.get(path + "\(offset + 1)", token: token)
            #expect(ahead.status == 503)
            #expect(ahead.headers[.retryAfter] == "1")
        }
    }

    @Test func `the payload of an event is returned byte for byte`() async throws {
        let payload = try #require(TestService.notifications(1).first)
        try await TestService.run { service in
            _ = try await service.post("/v1/appstore/notifications", payload)
            let token = try await service.token(.support)
            let answer = try await service.get("/v1/events/1/payload", token: token)
            let event = try #require(
                try await service.ledger.log.event(at: Position(lane: .only, offset: 1))
            )
            guard case .whole(let evidence) = event.evidence else {
                Issue.record("the payload is not whole")
                return
            }
            #expect(answer.body == evidence.payload)
            #expect(try await service.get("/v1/events/1/proof", token: token).status == 200)
            #expect(try await service.get("/v1/events/99999", token: token).status == 404)
            #expect(try await service.get("/v1/events/x", token: token).status == 400)
            #expect(try await service.get("/v1/checkpoint", token: token).status == 200)
        }
    }
}
