import EventLog
import Foundation
import HTTPService
import TestSupport
import Testing

/// The content of /openapi.json.
@Suite(.enabled { await TestServer.isAvailable })
struct DescriptionTests {
    @Test func `every route is described, and every description is a route`() async throws {
        try await TestService.run { service in
            let answer = try await service.get("/openapi.json")
            #expect(try answer.json["openapi"] as? String == "3.1.0")
            let paths = try #require(answer.json["paths"] as? [String: [String: Any]])
            let token = try await service.token(.admin)
            for (path, operations) in paths {
                let place = path.replacing(/\{\w+\}/, with: "1")
                for method in operations.keys {
                    let found =
                        method == "get"
                        ? try await service.get(place, token: token)
                        : try await service.post(place, Array("{}".utf8), token: token)
                    let code = found.status == 404 ? try found.json["code"] as? String : nil
                    #expect(code != "unknown-route", "\(method) \(path)")
                    #expect(code != nil || found.status != 404, "\(method) \(path)")
                    #expect(found.status != 500, "\(method) \(path)")
                    let responses = (operations[method] as? [String: Any])?["responses"]
                    #expect(
                        (responses as? [String: Any])?["\(found.status)"] != nil,
                        "\(method) \(path) answered \(found.status)"
                    )
                }
            }
        }
    }

    @Test func `the description is the one kept`() async throws {
        try await TestService.run { service in
            let answer = try await service.get("/openapi.json")
            let pretty = try JSONSerialization.data(
                withJSONObject: answer.json,
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            )
            let text = String(decoding: pretty, as: UTF8.self)
            try Golden.compare([("/openapi.json", text)], with: "openapi.txt")
        }
    }

    @Test func `the schemas match the documents`() async throws {
        try await TestService.run { service in
            let components = try await service.get("/openapi.json").json["components"]
            let all = try #require((components as? [String: Any])?["schemas"] as? [String: Any])
            let periods = try #require(all["PeriodsDocument"] as? [String: Any])
            let required = try #require(periods["required"] as? [String])
            #expect(Set(required).isSuperset(of: ["originalTransactionId", "periods", "active"]))
            let period = try #require(all["PeriodsDocumentPeriod"] as? [String: Any])
            let properties = try #require(period["properties"] as? [String: Any])
            #expect((properties["validFrom"] as? [String: Any])?["type"] as? String == "integer")
            #expect(!(try #require(period["required"] as? [String])).contains("commitment"))
            let explanation = try #require(all["ExplanationDocument"] as? [String: Any])
            let members = try #require(explanation["properties"] as? [String: [String: Any]])
            #expect((members["entitlement"]?["anyOf"] as? [Any])?.count == 2)
        }
    }
}
