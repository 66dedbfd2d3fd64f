import EventLog
import HTTPTypes
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// Apple's notifications are in the log when they are answered with 200, and only then.
@Suite(.enabled { await TestServer.isAvailable })
struct NotificationRouteTests {
    private let path = "/v1/appstore/notifications"

    @Test func `notifications give the same events as ingest, and repeated ones are duplicates`()
        async throws
    {
        let payloads = TestService.notifications(6)
        try await TestService.run { service in
            var appended = 0
            for payload in payloads {
                let answer = try await service.post(path, payload)
                #expect(answer.status == 200)
                appended += try #require(answer.json["appended"] as? Int)
            }
            let events = try await service.ledger.log.heads().values.reduce(0) { $0 + $1.offset }
            #expect(events == Int64(appended))
            for payload in payloads {
                let again = try await service.post(path, payload)
                #expect(again.status == 200)
                #expect(try again.json["appended"] as? Int == 0)
            }
            #expect(
                try await service.ledger.log.heads().values.reduce(0) { $0 + $1.offset } == events
            )
        }
    }

    @Test func `a forged notification is refused with 400 and stored among the rejections`()
        async throws
    {
        var forged = try #require(TestService.notifications(1).first)
        // A byte inside the signature, which is the last part.
        forged[forged.count - 20] ^= 1
        let body = forged
        try await TestService.run { service in
            let answer = try await service.post(path, body)
            #expect(answer.status == 400)
            #expect(answer.headers[.contentType] == "application/problem+json")
            #expect(try answer.json["status"] as? Int == 400)
            #expect(try answer.json["title"] as? String == "Bad Request")
            #expect(try await service.ledger.rejections().count == 1)
            #expect(try await service.ledger.log.heads().values.allSatisfy { $0.offset == 0 })
        }
    }

    @Test func `a version 1 notification without the shared secret is refused`() async throws {
        let body = Array(#"{"notification_type":"RENEWAL","environment":"PROD"}"#.utf8)
        try await TestService.run { service in
            let answer = try await service.post(path, body)
            #expect(answer.status == 400)
        }
    }

    @Test func `a body above the limit is refused with 413 and an empty one with 400`()
        async throws
    {
        var limits = ServiceLimits()
        limits.notificationByteCountMax = 1000
        try await TestService.run(limits: limits) { service in
            let large = try await service.post(path, [UInt8](repeating: 65, count: 1001))
            #expect(large.status == 413)
            #expect(try large.json["code"] as? String == "body-too-large")
            let empty = try await service.post(path, [])
            #expect(empty.status == 400)
        }
    }
}
