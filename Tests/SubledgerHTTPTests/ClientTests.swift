import AppStoreSimulator
import EventLog
import Events
import Foundation
import HummingbirdTesting
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// Real clients: old ones, cautious ones, and several at once.
@Suite(.enabled { await TestServer.isAvailable })
struct ClientTests {
    private let notifications = "/v1/appstore/notifications"

    @Test(arguments: ["", "Connection: keep-alive\r\n"])
    func `an answer to HTTP 1.0 ends the connection`(_ header: String) async throws {
        try await TestService.run { service in
            let old = try RawConnection(port: try #require(service.client.port))
            old.write("GET /livez HTTP/1.0\r\n\(header)\r\n")
            // If the connection did not end, this would wait for the whole idle timeout.
            let answer = await old.rest()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
            old.end()
        }
    }

    @Test func `a client that expects 100 Continue receives it before it sends the body`()
        async throws
    {
        let body = String(decoding: try #require(TestService.notifications(1).first), as: UTF8.self)
        try await TestService.run { [notifications] service in
            let careful = try RawConnection(port: try #require(service.client.port))
            careful.write(
                "POST \(notifications) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                    + "Expect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            )
            #expect(await careful.firstLine() == "HTTP/1.1 100 Continue")
            careful.write(body)
            let answer = await careful.rest()
            #expect(answer.contains("HTTP/1.1 200 OK"), "\(answer)")
            careful.end()
        }
    }

    @Test func `a compressed body and a body that is not a notification are refused and not kept`()
        async throws
    {
        let page = TestService.simulator.life(1).history(asOf: .systemClock()).first
        let history = try #require(page).payload
        try await TestService.run { [notifications] service in
            let bodies: [[UInt8]] = [
                history, Array("eyJh.e30.AA".utf8), [0x1F, 0x8B, 0], Array("{}".utf8),
            ]
            for body in bodies {
                let refused = try await service.post(notifications, body)
                #expect(refused.status == 400)
                #expect(try refused.json["code"] as? String == "not-a-notification")
            }
            let packed = try RawConnection(port: try #require(service.client.port))
            packed.write(
                "POST \(notifications) HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n"
                    + "Content-Length: 2\r\n\r\n{}"
            )
            #expect(await packed.firstLine() == "HTTP/1.1 415 Unsupported Media Type")
            packed.end()
            #expect(try await service.ledger.rejections().count == 0)
            #expect(try await service.ledger.log.heads().values.allSatisfy { $0.offset == 0 })
        }
    }

    @Test
    func `of several concurrent claims to a subscription one wins and the others learn its owner`()
        async throws
    {
        let transactions = try UploadRouteTests.signedTransactions()
        try await TestService.run { service in
            let token = try await service.token(.ingest, .support)
            let answers = try await withThrowingTaskGroup(
                of: (String, TestService.Answer).self
            ) { group in
                for number in 1...8 {
                    group.addTask {
                        let name = "customer \(number)"
                        let answer = try await service.post(
                            "/v1/transactions",
                            json: ["signedTransactions": transactions, "customerId": name],
                            token: token
                        )
                        return (name, answer)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            var owners: Set<String> = []
            for (name, answer) in answers {
                let subscriptions = try #require(
                    try answer.json["subscriptions"] as? [[String: Any]]
                )
                for owned in subscriptions {
                    let owner = try #require(owned["customerId"] as? String)
                    #expect(owned["isOfAnother"] as? Bool == (owner != name))
                    owners.insert(owner)
                }
            }
            #expect(owners.count == 1, "\(owners)")
            // The positions include the link, so whoever waits for them reads it.
            let last = try await service.ledger.log.heads().values.map(\.offset).max()
            let positions = try answers.compactMap {
                try $0.1.positions?["0"]
            }
            #expect(positions.max().map(Int64.init) == last)
        }
    }

    @Test func `an impossible position is refused at once`() async throws {
        try await TestService.run { service in
            let token = try await service.token(.support)
            for position in ["-1", "1:5", "0:1,7:3"] {
                let path = "/v1/customers/anna/access?minPosition=\(position)"
                let refused = try await service.get(path, token: token)
                #expect(refused.status == 400, "\(position)")
                let detail = try refused.json["detail"] as? String ?? ""
                #expect(detail.contains("which has 1 lane, counted from 0"), "\(detail)")
            }
        }
    }
}

extension TestService.Answer {
    fileprivate var positions: [String: Int]? {
        get throws { (try json["taken"] as? [String: Any])?["positions"] as? [String: Int] }
    }
}
