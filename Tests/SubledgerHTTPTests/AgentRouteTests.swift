import EventLog
import Events
import Foundation
import HTTPTypes
import HummingbirdTesting
import Postgres
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

/// `POST /mcp`: agents over HTTP.
@Suite(.enabled { await TestServer.isAvailable })
struct AgentRouteTests {
    private static func body(_ method: String, _ parameters: String = "{}") -> [UInt8] {
        Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#.utf8)
    }

    private static func call(_ tool: String, _ arguments: String) -> [UInt8] {
        body("tools/call", #"{"name":"\#(tool)","arguments":\#(arguments)}"#)
    }

    @Test func `a token lists and calls the tools of its roles and no others`() async throws {
        var limits = ServiceLimits.unhurried
        limits.auditDays = 30
        try await TestService.run(limits: limits) { service in
            let payload = try #require(TestService.notifications(1).first)
            _ = try await service.post("/v1/appstore/notifications", payload)
            _ = try await service.ledger.projector.rebuild()
            let questions = Questions.served.map { $0.name }
            let tools: [TokenRole: [String]] = [
                .support: ["search"] + questions, .analyst: ["reports", "report"],
                .finance: ["reports", "report"],
                .admin: ["search"] + questions + ["reports", "report"],
            ]
            let stream = try #require(try await service.ledger.log.streams(limit: 1).first)
            let id = #"{"id":"\#(stream.originalTransactionId)"}"#
            for role in TokenRole.allCases {
                let token = try await service.token(role, named: role.rawValue)
                let list = try await service.post("/mcp", Self.body("tools/list"), token: token)
                guard let expected = tools[role] else {
                    #expect(list.status == 403)
                    continue
                }
                let result = try #require(try list.json["result"] as? [String: Any])
                let names = (result["tools"] as? [[String: Any]])?.map { $0["name"] as? String }
                #expect(names == expected)
                for (tool, arguments) in [
                    ("access", id), ("search", id), ("report", #"{"name":"active"}"#),
                    ("report", #"{"name":"payments"}"#), ("replay", id),
                ] {
                    let answer = try await service.post(
                        "/mcp",
                        Self.call(tool, arguments),
                        token: token
                    ).json
                    let code = (answer["error"] as? [String: Any])?["code"] as? Int
                    let isError = (answer["result"] as? [String: Any])?["isError"] as? Bool
                    #expect(code == (expected.contains(tool) ? nil : -32602), "\(role) \(tool)")
                    let isHidden = role == .analyst && arguments.contains("payments")
                    #expect(isError == (code == nil ? isHidden : nil), "\(role) \(tool)")
                }
            }
            let session = try await PostgresSession.connect(service.ledger.log.settings)
            let audits = try await session.query(
                "SELECT concat_ws(' ', token, question, subject) FROM operation.audit ORDER BY 1"
            ).map { try $0.text(0) }
            await session.close()
            let subject = stream.originalTransactionId
            #expect(
                audits == [
                    "admin access \(subject)", "admin customer \(subject)", "admin payments ",
                    "finance payments ", "support access \(subject)", "support customer \(subject)",
                ]
            )
        }
    }

    @Test func `an answer is the document of the route, with what to cite`() async throws {
        try await TestService.run { service in
            let payload = try #require(TestService.notifications(1).first)
            _ = try await service.post("/v1/appstore/notifications", payload)
            let token = try await service.token(.support)
            let stream = try #require(try await service.ledger.log.streams(limit: 1).first)
            let id = stream.originalTransactionId
            for question in ["periods", "state", "charges"] {
                let path = "/v1/customers/\(id)/\(question)"
                let route = try await service.get(path, token: token).json
                let call = Self.call(question, #"{"id":" \"\#(id)\" "}"#)
                let answer = try await service.post("/mcp", call, token: token).json
                let result = try #require(answer["result"] as? [String: Any])
                var document = try #require(result["structuredContent"] as? [String: Any])
                let citation = document.removeValue(forKey: "citation") as? [String: String]
                let head = try #require(try await service.ledger.log.heads()[0]).offset
                #expect(citation == ["knownAt": "\(head)", "answeredFor": id])
                #expect(NSDictionary(dictionary: document) == NSDictionary(dictionary: route))
            }
        }
    }

    @Test func `notifications get no answer, other methods, versions and sites are refused`()
        async throws
    {
        try await TestService.run { service in
            let token = try await service.token(.support)
            func status(
                _ body: String,
                _ name: String = "X-None",
                _ value: String = ""
            ) async throws -> Int {
                var headers = HTTPFields()
                headers[try #require(HTTPField.Name(name))] = value
                return try await service.send(.post, "/mcp", Array(body.utf8), token, headers)
                    .status
            }
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
            let note = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
            #expect(try await status(ping) == 200)
            #expect(try await status(note) == 202)
            #expect(try await status("[\(ping),\(note)]") == 200)
            #expect(try await status("[\(note)]") == 202)
            #expect(try await status("{") == 400)
            let version = "MCP-Protocol-Version"
            #expect(try await status(ping, version, "2025-06-18") == 200)
            #expect(try await status("[\(ping)]", version, "2025-06-18") == 400)
            #expect(try await status(ping, version, "1999-01-01") == 400)
            #expect(try await service.get("/mcp", token: token).status == 405)
            #expect(try await service.post("/mcp", Array(ping.utf8)).status == 401)
            let blank = [UInt8](repeating: 0x20, count: 1 << 21)
            #expect(try await service.post("/mcp", blank, token: token).status == 413)
            let port = try #require(service.client.port)
            for (origin, expected) in [
                ("http://localhost:\(port)", 200), ("http://evil.example", 403), ("null", 403),
                ("http://127.0.0.1:\(port)", 403), ("https://localhost.evil.example", 403),
            ] {
                #expect(try await status(ping, "Origin", origin) == expected, "\(origin)")
            }
        }
    }

    @Test func `an answer that is too long says how to narrow the question`() async throws {
        try await TestService.run { service in
            let payload = try #require(TestService.notifications(1).first)
            _ = try await service.post("/v1/appstore/notifications", payload)
            let stream = try #require(try await service.ledger.log.streams(limit: 1).first)
            var access = AgentAccess(service.ledger, Questions.served, [.support])
            let arguments: [String: JSONTree] = ["id": .text(stream.originalTransactionId)]
            #expect(try await access.call("history", arguments)["isError"] == false)
            access.answerByteCountMax = 1 << 10
            let answer = try await access.call("history", arguments)
            #expect(answer["isError"] == true && answer["structuredContent"] == nil)
            #expect("\(answer)".contains("these arguments: limit, alone, knownAt."))
        }
    }

    // A page whose name leads to this machine sends that name as the host, too.
    @Test func `a name that was made to lead here is refused, its owner's certificate is not`()
        async throws
    {
        try await TestService.run { service in
            let token = try await service.token(.support)
            let port = try #require(service.client.port)
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
            for (scheme, status) in [("http", 403), ("https", 200)] {
                let connection = try RawConnection(port: port)
                connection.write(
                    "POST /mcp HTTP/1.1\r\nHost: ledger.example:\(port)\r\n"
                        + "Origin: \(scheme)://ledger.example:\(port)\r\n"
                        + "Authorization: Bearer \(token)\r\nContent-Length: \(ping.utf8.count)\r\n"
                        + "\r\n\(ping)"
                )
                #expect(await connection.firstLine().hasPrefix("HTTP/1.1 \(status) "))
                connection.end()
            }
        }
    }
}
