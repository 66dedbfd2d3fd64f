import EventLog
import Events
import HTTPTypes
import Subledger
import TestSupport
import Testing

/// Who may ask.
@Suite(.enabled { await TestServer.isAvailable })
struct TokenTests {
    private let question = "/v1/customers/nobody/access"

    @Test func `nobody asks without a token that may`() async throws {
        try await TestService.run { service in
            let uploader = try await service.token(.ingest, named: "uploader")
            let helper = try await service.token(.support, named: "helper")
            let admin = try await service.token(.admin, named: "admin")
            #expect(try await service.get(question).status == 401)
            #expect(try await service.get(question).headers[.wwwAuthenticate] == "Bearer")
            #expect(try await service.get(question, token: "sl_helper_00").status == 401)
            #expect(try await service.get(question, token: helper + "0").status == 401)
            #expect(try await service.get(question, token: uploader).status == 403)
            #expect(try await service.get(question, token: helper).status == 404)
            #expect(try await service.get(question, token: admin).status == 404)
            let upload = ["signedTransactions": ["x"]]
            let path = "/v1/transactions"
            #expect(try await service.post(path, json: upload).status == 401)
            #expect(try await service.post(path, json: upload, token: helper).status == 403)
            #expect(try await service.post(path, json: upload, token: uploader).status == 400)
        }
    }

    @Test func `a revoked token is refused, and its name is not given again`() async throws {
        try await TestService.run { service in
            let token = try await service.token(.support)
            #expect(try await service.get(question, token: token).status == 404)
            #expect(try await service.ledger.log.tokens().first?.lastUsedAt != nil)
            #expect(try await service.ledger.log.revokeToken(named: "test"))
            #expect(try await service.get(question, token: token).status == 401)
            let other = AccessToken.random(named: "test")
            #expect(try await !service.ledger.log.add(other, [.support]))
            #expect(try await service.get(question, token: other.text).status == 401)
        }
    }

    @Test func `health needs no token`() async throws {
        try await TestService.run { service in
            for (path, status) in [
                ("/livez", 200), ("/readyz", 200), ("/openapi.json", 200), ("/metrics", 401),
                ("/v1/nowhere", 404),
            ] {
                let answer = try await service.get(path)
                #expect(answer.status == status, "\(path)")
            }
        }
    }

    @Test(arguments: ["", "a b", "a_b", "\u{e9}", String(repeating: "a", count: 65)])
    func `a name that does not fit into a header is no name`(name: String) {
        #expect(!AccessToken.isName(name))
    }

    @Test func `a token is read as it was made`() throws {
        let token = AccessToken.random(named: "a-b.c")
        #expect(AccessToken(token.text)?.name == "a-b.c")
        #expect(AccessToken(token.text)?.digest == token.digest)
        #expect(AccessToken("sl_") == nil && AccessToken("sl__x") == nil && AccessToken("") == nil)
    }
}
