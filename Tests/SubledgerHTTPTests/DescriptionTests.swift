import AppStoreSimulator
import EventLog
import Events
import Foundation
import HTTPTypes
import Subledger
import SubledgerHTTP
import SubledgerTesting
import TestSupport
import Testing

/// The description at /openapi.json is a file; the answers decide whether it is right.
///
/// `TestService` compares every answer that a test of this target gets, with the schema of its
/// route and status.
@Suite(.enabled { await TestServer.isAvailable })
struct DescriptionTests {
    @Test func `the file is served, and every component in it is used`() async throws {
        try await TestService.run { service in
            let answer = try await service.get("/openapi.json")
            #expect(answer.status == 200)
            #expect(answer.headers[.contentType] == "application/json")
            #expect(answer.body == [UInt8](try Data(contentsOf: ServiceDescription.file)))
        }
        let description = try ServiceDescription.kept.get()
        #expect(description.root["openapi"] == .text("3.1.0"))
        #expect(description.unusedComponents == [])
    }

    @Test func `every route is described, and every description is a route`() async throws {
        let description = try ServiceDescription.kept.get()
        let described = description.operations.map { operation in
            "\(operation.method.rawValue) \(operation.path.replacing(/{(\w+)}/) { ":\($0.1)" })"
        }
        try await TestService.run { service in
            // Each route has its series from the start.
            let token = try await service.token(.support)
            let metrics = try await service.get("/metrics", token: token)
            let series = /subledger_http_requests_total{method="([A-Z]+)",route="([^"]+)"/
            let routes = String(decoding: metrics.body, as: UTF8.self).matches(of: series)
                .map { "\($0.1) \($0.2)" }
            #expect(Set(routes) == Set(described))
        }
    }

    @Test func `the parameters that a route accepts are those described`() async throws {
        let description = try ServiceDescription.kept.get()
        try await TestService.run { service in
            let token = try await service.token(.admin)
            for operation in description.operations {
                let name = "\(operation.method) \(operation.path)"
                let inPath = operation.path.matches(of: /{(\w+)}/).map { String($0.1) }
                #expect(description.parameters(of: operation, in: "path") == inPath, "\(name)")
                // An unknown parameter is refused with the names of the known ones.
                let place = operation.path.replacing(/{\w+}/, with: "1") + "?none=1"
                let body: [UInt8]? = operation.method == .post ? Array("{}".utf8) : nil
                let answer = try await service.send(operation.method, place, body, token)
                let detail = answer.status == 400 ? try answer.json["detail"] as? String : nil
                let accepted = detail?.firstMatch(of: /no parameter "none"; expected (.*)\./)?.1
                let known = (accepted ?? "none").split(separator: ", ").map(String.init)
                let described = description.parameters(of: operation, in: "query")
                #expect((described.isEmpty ? ["none"] : described) == known, "\(name)")
            }
        }
    }

    /// Asks every route about everything in the ledger of the kept answers of the commands: seats,
    /// family members, offers, refunds, plan changes and grace periods.
    @Test func `every route answers as it is described`() async throws {
        let description = try ServiceDescription.kept.get()
        let now = Instant(milliseconds: 1_755_648_000_000)
        let rows = ServiceDescription.file.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Tests/CommandTests/Goldens/ledger.sql")
        let refresh = CustomerRefresh { _ in (.answered(appended: 0, at: now), nil) }
        try await TestServer.shared.withDatabase(from: .served) { settings in
            try await settings.meddle(String(contentsOf: rows, encoding: .utf8))
            try await TestService.run(on: settings, refresh: refresh, clock: { now }) { service in
                let token = try await service.token(.admin)
                _ = try await service.ledger.projector.rebuild()
                let ids = try await service.ledger.log.streams(limit: 100)
                    .map(\.stream.originalTransactionId)
                let last = try #require(try await service.ledger.log.heads()[0]?.offset)
                let values: [String: [String]] = [
                    "id": ids, "originalTransactionId": ids,
                    "position": stride(from: 1, through: last, by: 7).map { "\($0)" },
                    "name": Report.all.map(\.name),
                ]
                for operation in description.operations {
                    let parameter = operation.path.firstMatch(of: /{(\w+)}/)
                    let places = parameter.map { found in
                        (values[String(found.1)] ?? []).map {
                            operation.path.replacing(found.0, with: $0)
                        }
                    }
                    let times =
                        description.parameters(of: operation, in: "query").contains("at")
                        ? ["", "?at=2025-03-01"] : [""]
                    var answered = false
                    for place in places ?? [operation.path] {
                        for time in times {
                            let answer = try await service.send(
                                operation.method,
                                place + time,
                                try Self.body(operation.path),
                                token
                            )
                            answered = answered || answer.status == 200
                        }
                    }
                    #expect(answered, "\(operation.method) \(operation.path) never answered 200")
                }
            }
        }
    }

    private static func body(_ path: String) throws -> [UInt8]? {
        let start = Instant(milliseconds: 1_750_000_000_000)
        let json: [String: Any]
        switch path {
        case "/v1/appstore/notifications": return TestService.notifications(1).first
        case "/v1/transactions":
            let bought = try TestService.store(at: start).buy(TestStore.Product("pro"))
            let jws = String(decoding: bought.transaction, as: UTF8.self)
            json = ["signedTransactions": [jws, "x"], "customerId": "anna"]
        case "/v1/receipts":
            let receipt = try #require(TestService.simulator.life(1).appReceipts().last)
            json = ["receipt": Data(receipt.payload).base64EncodedString()]
        case "/mcp": json = ["jsonrpc": "2.0", "id": 1, "method": "ping"]
        default: return nil
        }
        return [UInt8](try JSONSerialization.data(withJSONObject: json))
    }
}
