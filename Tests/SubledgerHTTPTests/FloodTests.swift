import AppStore
import AppStoreSimulator
import EventLog
import Events
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import Subledger
import SubledgerHTTP
import TestSupport
import Testing

/// Anonymous junk: what is refused, what is kept, and what passes meanwhile.
@Suite(.enabled { await TestServer.isAvailable })
struct FloodTests {
    private static let path = "/v1/appstore/notifications"

    // A notification in form, which nothing signs.
    private static func junk(_ number: Int) -> [UInt8] {
        Array("{\"signedPayload\": \"eyJh.e30.\(number)\"}".utf8)
    }

    @Test func `a flood is answered with 429, and notifications of a known address still pass`()
        async throws
    {
        var limits = ServiceLimits()
        limits.strangerRequestsBurst = 10
        limits.strangerRequestsPerSecond = 0
        let payloads = Array(TestService.notifications(8).prefix(8))
        let proxies = [try #require(AddressRange("127.0.0.1"))]
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, limits: limits, trustedProxies: proxies) {
                service in
                func send(_ body: [UInt8], from address: String) async throws -> Int {
                    try await service.client.executeRequest(
                        uri: Self.path,
                        method: .post,
                        headers: [try #require(HTTPField.Name("X-Forwarded-For")): address],
                        body: ByteBuffer(bytes: body)
                    ).status.code
                }
                #expect(try await send(payloads[0], from: "17.58.0.1") == 200)
                var statuses: [Int] = []
                for (number, payload) in payloads.enumerated() {
                    for part in 0..<5 {
                        let body = Self.junk(number * 5 + part)
                        statuses.append(try await send(body, from: "198.51.100.7"))
                    }
                    #expect(try await send(payload, from: "17.58.0.1") == 200)
                }
                #expect(statuses.prefix(10).allSatisfy { $0 == 400 })
                #expect(statuses.dropFirst(10).allSatisfy { $0 == 429 })
                #expect(try await service.ledger.rejections().count == 10)
                let token = try await service.token(.support)
                let text = String(
                    decoding: try await service.get("/metrics", token: token).body,
                    as: UTF8.self
                )
                for line in [
                    #"subledger_notifications_limited_total{limit="address-rate"} 30"#,
                    #"subledger_notifications_limited_total{limit="rate"} 0"#,
                    #"subledger_rejections_rows{standing="unproven"} 10.0"#,
                    #"subledger_rejections_rows{standing="proven"} 0.0"#,
                    #"subledger_rejections_omitted_total{part="row",standing="unproven"} 0"#,
                ] {
                    #expect(text.contains("\n\(line)\n"), "\(line)")
                }
                #if os(Linux)
                #expect(text.contains(/\nprocess_resident_memory_bytes [1-9]/))
                #endif
            }
        }
    }

    @Test func `what Apple signed is appended while the rejection of a stranger waits for a lock`()
        async throws
    {
        let genuine = try #require(TestService.notifications(1).first)
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings) { service in
                // An append looks whether its payload was refused once, but writes no rejection.
                let lock = try await StuckReadTests.Lock(
                    on: "ledger.rejection",
                    mode: "SHARE",
                    settings
                )
                let port = try #require(service.client.port)
                let junk = try RawConnection(port: port)
                let body = String(decoding: Self.junk(1), as: UTF8.self)
                junk.write(
                    "POST \(Self.path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)"
                        + "\r\n\r\n\(body)"
                )
                #expect(try await lock.waiting(for: 1))
                #expect(try await service.post(Self.path, genuine).status == 200)
                #expect(try await lock.waiting() == 1)
                try await lock.end()
                #expect(await junk.firstLine().contains(" 400 "))
                junk.end()
            }
        }
    }

    @Test
    func `what Apple signed keeps its bytes when junk has filled the store, and is recovered`()
        async throws
    {
        var options = EventLog.Options()
        options.rejectedBytesMax = 1 << 20
        let full = options
        let simulator = TestService.simulator
        // Genuine, and refused: the operator forgot an app.
        let strict = try simulator.verifier(bundleIds: ["com.example.forgotten"])
        let genuine = try #require(TestService.notifications(1).first)
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await TestService.run(on: settings, full, verifier: strict) { service in
                // More bytes than there is room for.
                for number in 0..<5 {
                    let filling = String(repeating: "a", count: 20_000)
                    let body = "{\"signedPayload\": \"eyJh.\(filling).\(number)\"}"
                    #expect(try await service.post(Self.path, Array(body.utf8)).status == 400)
                }
                #expect(try await service.post(Self.path, genuine).status == 400)
                let listed = try await service.ledger.rejections().rejections
                let junk = listed.filter { $0.standing == .unproven }
                #expect(junk.count == 5 && junk.count { $0.bodyByteCount != nil } == 3)
                let kept = listed.filter { $0.standing == .proven }
                #expect(kept.map { $0.bodyByteCount } == [genuine.count])
            }
            let ledger = Ledger(
                log: try await EventLog.open(settings),
                verifier: try simulator.verifier()
            )
            let body = try #require(try await ledger.log.rejectedBody(Digest.of(genuine)))
            let again = try await ledger.ingest(try #require(body), source: "again")
            let isAppended = again.outcomes.contains { $0.isNew }
            #expect(isAppended)
            await ledger.close()
        }
    }
}
