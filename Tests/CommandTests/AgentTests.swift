import EventLog
import Foundation
import Subledger
import TestSupport
import Testing

/// `subledger mcp`: messages in, answers out.
@Suite(.enabled { await TestServer.isAvailable })
struct AgentTests {
    /// One answer of the program.
    private struct Answer {
        let object: [String: Any]

        var id: Int? { object["id"] as? Int }
        var result: [String: Any] { object["result"] as? [String: Any] ?? [:] }
        var code: Int? { (object["error"] as? [String: Any])?["code"] as? Int }
        var words: String { (object["error"] as? [String: Any])?["message"] as? String ?? text }
        var isError: Bool? { result["isError"] as? Bool }

        var text: String {
            let content = result["content"] as? [[String: Any]]
            return content?.first?["text"] as? String ?? ""
        }

        var document: [String: Any] { result["structuredContent"] as? [String: Any] ?? [:] }
    }

    private static let start = start("2025-06-18")

    private static func start(_ version: String) -> String {
        #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"\#(version)"}}"#
    }

    private static func call(_ id: Int, _ tool: String, _ arguments: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":"#
            + #"{"name":"\#(tool)","arguments":\#(arguments)}}"#
    }

    /// Sends lines to the program, and closes its stdin.
    private static func talk(
        _ command: Command,
        _ lines: [String],
        options: [String] = []
    ) async throws -> [Answer] {
        let folder = try TestFolder()
        let input = try folder.write("input", lines.joined(separator: "\n").utf8)
        let ending = try await command.runProcess(["mcp"] + options, inputFile: input)
        #expect(ending.code == 0, "\(ending.errors)")
        return try ending.output.split(separator: "\n").map { line in
            let answer = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return Answer(object: answer as? [String: Any] ?? [:])
        }
    }

    /// Messages, each with the code of its error, and a part of the sentence.
    private static let faults: [(String, Int, String)] = [
        ("{", -32700, "is not JSON"),
        (String(repeating: "[", count: 33), -32700, "nested too deeply"),
        (String(repeating: #"["[\"","#, count: 32), -32700, "is not JSON"),
        (#""text""#, -32600, "not a JSON-RPC 2.0 object"),
        (#"{"id":1,"method":"ping"}"#, -32600, "not a JSON-RPC 2.0 object"),
        (#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#, -32600, "The id is neither"),
        (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, "The id is neither"),
        (#"{"jsonrpc":"2.0","id":1}"#, -32600, "no method"),
        (#"{"jsonrpc":"2.0","id":1,"method":{}}"#, -32600, "method is not text"),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32602, "params is not"),
        (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601, "expected initialize"),
        (
            #"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600,
            "Only protocol version 2025-03-26"
        ),
        ("\"" + String(repeating: "a", count: 1 << 16) + "\"", -32600, "more than 65536 bytes"),
    ]

    /// The same for calls, which are answered once they are finished; their ids are 1, 2 and 3.
    private static let callFaults: [(String, Int, String)] = [
        (#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602, "name is not text"),
        (call(2, "state", "1"), -32602, "arguments is not an object"),
        (call(3, "payments", "{}"), -32602, "Unknown tool \"payments\"; expected one of: search,"),
    ]

    @Test func `faults of the protocol are answered with the codes of JSON-RPC`() async throws {
        try await withLedger { command, _ in
            let answers = try await Self.talk(command, [Self.start] + Self.faults.map(\.0))
            let calls = try await Self.talk(command, [Self.start] + Self.callFaults.map(\.0))
                .sorted { $0.id ?? 0 < $1.id ?? 0 }
            try #require(answers.count == Self.faults.count + 1 && calls.count == 4)
            let found = answers.dropFirst() + calls.dropFirst()
            for (answer, fault) in zip(found, Self.faults + Self.callFaults) {
                let line = fault.0.prefix(100)
                #expect(answer.code == fault.1 && answer.words.contains(fault.2), "\(line)")
            }
            let early = try await Self.talk(
                command,
                [
                    Self.call(1, "state", #"{"id":"1"}"#),
                    #"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
                    #"{"jsonrpc":"2.0","method":"unknown"}"#, #"{"jsonrpc":"2.0","result":1}"#, "",
                    Self.start("1999-01-01"),
                ]
            )
            #expect(early.map(\.code) == [-32600, nil, nil])
            #expect(early.last?.result["protocolVersion"] as? String == "2025-06-18")
        }
    }

    @Test func `the version with batches answers them together`() async throws {
        try await withLedger { command, _ in
            let ping = #"{"jsonrpc":"2.0","id":7,"method":"ping"}"#
            let batch = "[\(ping),\(Self.start),{},{\"jsonrpc\":\"2.0\",\"method\":\"x\"},\(ping)]"
            let folder = try TestFolder()
            let lines = [Self.start("2025-03-26"), batch, "[]", "[" + ping]
            let input = try folder.write("input", lines.joined(separator: "\n").utf8)
            let ending = try await command.runProcess(["mcp"], inputFile: input)
            let answers = try ending.output.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8))
            }
            try #require(answers.count == 4)
            let together = try #require(answers[1] as? [[String: Any]]).map(Answer.init)
            #expect(together.map(\.code) == [nil, -32600, -32600, nil])
            #expect(together.map(\.id) == [7, 0, nil, 7])
            // The last line was not finished when stdin was closed.
            let last = answers[2...].compactMap { $0 as? [String: Any] }.map(Answer.init)
            #expect(last.map(\.code) == [-32600, -32700])
        }
    }

    @Test func `what is wrong with a question is a result, and says what to do next`() async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command in
            let cases = [
                (#"{"id":"nobody"}"#, "no subscription has nobody"),
                (#"{}"#, "argument id is missing"), (#"{"id":""}"#, "id is empty"),
                (#"{"id":"a\u0000b"}"#, "id is empty, or not"), (#"{"id":{}}"#, "not of the type"),
                (#"{"id":"1","when":"now"}"#, "no parameter \"when\"; expected at, knownAt, tz,"),
                (#"{"id":"1","at":"someday"}"#, "at is \"someday\"; expected 2026-03-03T"),
                (#"{"id":"1","at":["a","b"]}"#, "at has 2 values"),
                (#"{"id":"1","limit":0}"#, "limit is \"0\"; expected a whole number from 1"),
                (#"{"id":"1","knownAt":99999999}"#, "no subscription has 1"),
            ]
            let calls = cases.enumerated().map { Self.call($0.offset, "periods", $0.element.0) }
            let answers = try await Self.talk(
                command,
                [Self.start] + calls + [
                    Self.call(90, "report", #"{"name":"payments"}"#),
                    Self.call(91, "report", #"{"name":"active","by":"colour"}"#),
                ]
            ).dropFirst().sorted { $0.id ?? 0 < $1.id ?? 0 }
            let parts = cases.map(\.1) + ["Unknown report \"payments\"", "by is \"colour\""]
            try #require(answers.count == parts.count)
            for (answer, part) in zip(answers, parts) {
                #expect(answer.isError == true && answer.text.contains(part), "\(answer.text)")
            }
        }
    }

    @Test func `a role has its own tools`() async throws {
        try await withLedger { command, _ in
            let list = #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
            func tools(_ options: String...) async throws -> [String] {
                let answers = try await Self.talk(command, [Self.start, list], options: options)
                let tools = answers.last?.result["tools"] as? [[String: Any]] ?? []
                return tools.compactMap { $0["name"] as? String }
            }
            let questions = (Questions.served + Questions.local).map { $0.name }
            let reports = ["reports", "report"]
            let usual = try await tools()
            #expect(usual == ["search"] + questions + reports)
            let support = try await tools("--role", "support")
            #expect(support == ["search"] + questions)
            let analyst = try await tools("--role", "analyst")
            #expect(analyst == reports)
        }
    }

    @Test func `ids of people are replaced unless they are asked for, and can be asked with`()
        async throws
    {
        try await withSimulatedLedger(rebuilt: true) { command in
            let streams = try await command.json([StreamSummary].self, "streams")
            let id = try #require(streams.first { $0.environment == .production })
                .originalTransactionId
            let link = ["customers", "link", "Ann B", id, "--by", "Ops Zed"]
            try await command.expect(0, link + ["--reason", "mail of Q7"])
            let shown = try await command.json(CustomerDocument.self, "customers", "show", id)
            let token = try #require(shown.streams.first?.tokens.first?.appAccountToken)
            let tools = ["search"] + (Questions.served + Questions.local).map { $0.name }
            let calls = ["Ann B", token.uppercased(), id].flatMap { asked in
                tools.map { Self.call(1, $0, #"{"id":"\#(asked)"}"#) }
            }.enumerated().map { $1.replacing(#""id":1,"#, with: #""id":\#($0 + 1),"#) }
            let roles = ["--role", "admin"]
            let payments = Self.call(900, "report", #"{"name":"payments"}"#)
            let unknown = Self.call(901, "state", #"{"id":"personal-id-1","at":"never"}"#)
            let lines = [Self.start] + calls + [payments, unknown]
            let open = try await Self.talk(command, lines, options: roles + ["--personal-data"])
            let hidden = try await Self.talk(command, lines, options: roles)
            let secrets = ["Ann B", token, token.uppercased(), "Ops Zed", "mail of Q7"]
            func texts(_ answers: [Answer]) -> String { answers.map(\.text).joined() }
            for secret in secrets {
                #expect(!texts(hidden).contains(secret), "\(secret)")
                #expect(secret == token.uppercased() || texts(open).contains(secret), "\(secret)")
            }
            func errors(_ answers: [Answer]) -> Set<Int?> {
                Set(answers.filter { $0.isError == true }.map(\.id))
            }
            #expect(errors(hidden) == errors(open) && errors(open).count == 1)
            let found = try #require(hidden.first { $0.id == 1 }).document
            let name = try #require(found["customer"] as? String)
            #expect(name.hasPrefix("personal-id-"))
            // A batch is answered in its order.
            let batch = ["Ann B", "personal-id-1", "personal-id-2"].enumerated().map {
                Self.call($0, "search", #"{"id":"\#($1)"}"#)
            }
            let folder = try TestFolder()
            let input = try folder.write(
                "input",
                (Self.start("2025-03-26") + "\n[" + batch.joined(separator: ",") + "]").utf8
            )
            let again = try await command.runProcess(["mcp"], inputFile: input).output
            #expect(again.components(separatedBy: #""isError":false"#).count == 4)
            #expect(!again.contains("Ann B") && again.contains(#""id":"personal-id-1""#))
        }
    }

    @Test func `a long list is cut, and says what was left out`() async throws {
        try await withSimulatedLedger(rebuilt: true) { command in
            let streams = try await command.json([StreamSummary].self, "streams")
            let id = try #require(streams.max { $0.events < $1.events }).originalTransactionId
            let all = try await command.json(HistoryDocument.self, "history", id)
            let answers = try await Self.talk(
                command,
                [
                    Self.start, Self.call(1, "history", #"{"id":\#(id),"limit":2}"#),
                    Self.call(2, "report", #"{"name":"renewals","limit":1}"#),
                ]
            ).sorted { $0.id ?? 0 < $1.id ?? 0 }
            let history = answers[1].document
            let events = try #require(history["events"] as? [[String: Any]])
            #expect(events.count == 2 && history["truncated"] as? Bool == true)
            let leftOut = try #require(history["leftOut"] as? [String: Int])
            #expect(leftOut["events"] == all.events.count - 2)
            let last = try #require(events.last?["position"] as? Int)
            #expect(Int64(last) == all.events.last?.position.offset)
            let report = answers[2].document
            #expect((report["rows"] as? [Any])?.count == 1)
            #expect((report["leftOut"] as? [String: Int])?["rows"] ?? 0 > 0)
        }
    }
}
