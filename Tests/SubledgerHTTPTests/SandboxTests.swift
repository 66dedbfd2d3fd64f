import EventLog
import Events
import Foundation
import HTTPTypes
import Postgres
import Subledger
import TestSupport
import Testing

/// App Review buys in the sandbox, and the app asks about production.
@Suite(.enabled { await TestServer.isAvailable })
struct SandboxTests {
    private static let now = Instant(milliseconds: 1_760_000_100_000)

    private static func purchase(_ environment: String, _ id: String, _ product: String) -> String {
        TestService.purchase(
            id,
            environment,
            product,
            at: Instant(milliseconds: now.milliseconds - 100_000)
        )
    }

    /// Anna and Ben bought `pro` in the sandbox, and Ben `basic` in production.
    private func withPurchases(
        _ policy: SandboxPolicy,
        _ body: @escaping @Sendable (TestService, _ token: String) async throws -> Void
    ) async throws {
        try await TestService.run(sandbox: policy, clock: { Self.now }) { service in
            let token = try await service.token(.ingest, .support)
            for (customer, purchases) in [
                ("anna", [Self.purchase("Sandbox", "1", "pro")]),
                (
                    "ben",
                    [
                        Self.purchase("Sandbox", "2", "pro"),
                        Self.purchase("Production", "3", "basic"),
                    ]
                ),
            ] {
                let answer = try await service.post(
                    "/v1/transactions",
                    json: ["signedTransactions": purchases, "customerId": customer],
                    token: token
                )
                #expect(answer.status == 200)
            }
            try await body(service, token)
        }
    }

    @Test func `without a policy no sandbox purchase counts`() async throws {
        try await withPurchases(.never) { service, token in
            let anna = try await service.get("/v1/customers/anna/access", token: token)
            #expect(anna.status == 200)
            #expect(try anna.json["access"] as? Bool == false)
            #expect(try anna.json["environment"] as? String == "Production")
            let elsewhere = try #require(try anna.json["elsewhere"] as? [String: Any])
            #expect(elsewhere["environment"] as? String == "Sandbox")
            #expect(elsewhere["access"] as? Bool == true)
            let nobody = try await service.get("/v1/customers/nobody/access", token: token)
            #expect(nobody.status == 404)
            #expect(try nobody.json["code"] as? String == "unknown-id")
            let ben = try await service.get("/v1/customers/ben/access?product=pro", token: token)
            #expect(try ben.json["access"] as? Bool == false)
            #expect(try ben.json["sandboxRule"] == nil)
        }
    }

    @Test
    func `for a named customer sandbox purchases count, and answer and explanation name the rule`()
        async throws
    {
        try await withPurchases(try SandboxPolicy(customers: ["anna"])) { service, token in
            let anna = try await service.get("/v1/customers/anna/access", token: token).json
            #expect(anna["access"] as? Bool == true)
            #expect(anna["environment"] as? String == "Sandbox")
            #expect((anna["sandboxRule"] as? [String: Any])?["customer"] as? String == "anna")
            let why = try await service.get("/v1/customers/anna/explain", token: token).json
            #expect((why["entitled"] as? [String: Any])?["access"] as? Bool == true)
            #expect((why["sandboxRule"] as? [String: Any])?["customer"] as? String == "anna")
            #expect((why["summary"] as? String)?.contains("sandbox policy") == true)
            let late = try await service.get(
                "/v1/customers/anna/access?at=2026-01-01",
                token: token
            )
            #expect(late.status == 200)
            #expect(try late.json["access"] as? Bool == false)
            let ben = try await service.get("/v1/customers/ben/access?product=pro", token: token)
            #expect(try ben.json["access"] as? Bool == false)
            let other = "/v1/customers/anna/access?environment=Xcode"
            #expect(try await service.get(other, token: token).status == 404)
        }
    }

    @Test
    func `within a window sandbox purchases count for all, except where production gives access`()
        async throws
    {
        let policy = try SandboxPolicy(
            customers: [],
            from: Instant(milliseconds: Self.now.milliseconds - 1000),
            to: Instant(milliseconds: Self.now.milliseconds + 1000)
        )
        try await withPurchases(policy) { service, token in
            let path = "/v1/customers/ben/access"
            let production = try await service.get(path, token: token).json
            #expect(production["environment"] as? String == "Production")
            #expect(production["sandboxRule"] == nil)
            let pro = try await service.get(path + "?product=pro", token: token).json
            #expect(pro["access"] as? Bool == true)
            let rule = try #require(pro["sandboxRule"] as? [String: Any])
            #expect(rule["customer"] == nil && rule["from"] != nil && rule["to"] != nil)
            let before = "\(path)?product=pro&at=\(Self.now.milliseconds - 1001)"
            let early = try await service.get(before, token: token).json
            #expect(early["access"] as? Bool == false)
            #expect(early["environment"] as? String == "Production")
        }
    }
}
