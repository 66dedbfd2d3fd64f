internal import Foundation
internal import Subledger

/// A message of an agent: a request, or a notification if it has no id (JSON-RPC 2.0).
struct AgentMessage: Sendable {
    /// Its id, which its answer repeats; nil for a notification.
    let id: JSONTree?
    /// What is asked.
    let method: String
    /// The parameters; absent ones count as none.
    let parameters: [String: JSONTree]
}

/// Why a message was not answered with a result, as defined by JSON-RPC 2.0.
struct AgentFault: Error {
    /// The codes that JSON-RPC defines.
    enum Code: Int64 {
        case malformed = -32700
        case invalidRequest = -32600
        case unknownMethod = -32601
        case invalidParameters = -32602
    }

    /// Its code.
    let code: Code
    /// What happened, and what to do.
    let message: String
    /// The id of the message; nil if it is not known.
    var id: JSONTree?

    init(_ code: Code, _ message: String, _ id: JSONTree? = nil) {
        self.code = code
        self.message = message
        self.id = id
    }

    /// The answer to the message.
    var answer: JSONTree {
        [
            "jsonrpc": "2.0", "id": id ?? .null,
            "error": ["code": .integer(code.rawValue), "message": .text(message)],
        ]
    }
}

/// What came in one line, or in one body.
enum AgentInput {
    /// One message.
    case message(AgentMessage)
    /// Several, each of which may be faulty.
    case batch([Result<AgentMessage, AgentFault>])
    /// An answer to a question that this program never asks.
    case answer

    /// The most bytes of a message, or of a batch: questions have a few hundred.
    static let byteCountMax = 1 << 16
    /// The most messages in a batch, which are answered one after the other.
    private static let batchMax = 16
    /// The most lists and objects around a value: no question has more than five, and each costs
    /// the parser more than the one around it.
    private static let nestingMax = 32

    /// Parses a line or a body.
    ///
    /// - Parameters:
    ///   - bytes: The JSON.
    ///   - hasBatches: Whether the version of the protocol has batches.
    /// - Throws: `AgentFault`.
    init(_ bytes: [UInt8], hasBatches: Bool) throws(AgentFault) {
        let tree: JSONTree
        guard Self.nesting(of: bytes) <= Self.nestingMax else {
            throw AgentFault(
                .malformed,
                "The message is nested too deeply: a value may be in \(Self.nestingMax) lists and "
                    + "objects."
            )
        }
        do {
            tree = try JSONTree(json: bytes)
        } catch {
            throw AgentFault(.malformed, "The message is not JSON.")
        }
        guard case .list(let messages) = tree else {
            self = try Self.message(tree).map(Self.message) ?? .answer
            return
        }
        guard hasBatches else {
            throw AgentFault(
                .invalidRequest,
                "Only protocol version 2025-03-26 has batches; send each message on its own."
            )
        }
        guard (1...Self.batchMax).contains(messages.count) else {
            throw AgentFault(
                .invalidRequest,
                "The batch has \(messages.count) messages; expected 1 to \(Self.batchMax)."
            )
        }
        var batch: [Result<AgentMessage, AgentFault>] = []
        for message in messages {
            do throws(AgentFault) {
                if let message = try Self.message(message) { batch.append(.success(message)) }
            } catch {
                batch.append(.failure(error))
            }
        }
        self = .batch(batch)
    }

    private static func nesting(of json: [UInt8]) -> Int {
        var (depth, deepest, isText, isEscaped) = (0, 0, false, false)
        for byte in json {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isText: isEscaped = true
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: "[") where !isText, UInt8(ascii: "{") where !isText:
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]") where !isText, UInt8(ascii: "}") where !isText: depth -= 1
            default: break
            }
        }
        return deepest
    }

    // Nil for an answer.
    private static func message(_ tree: JSONTree) throws(AgentFault) -> AgentMessage? {
        guard let members = tree.members, members["jsonrpc"] == "2.0" else {
            throw AgentFault(.invalidRequest, "The message is not a JSON-RPC 2.0 object.")
        }
        let id = members["id"]
        switch id {
        case nil, .text, .integer: break
        default: throw AgentFault(.invalidRequest, "The id is neither text nor a whole number.")
        }
        guard let method = members["method"] else {
            guard members["result"] == nil, members["error"] == nil else { return nil }
            throw AgentFault(.invalidRequest, "The message has no method.", id)
        }
        guard let method = method.text else {
            throw AgentFault(.invalidRequest, "The method is not text.", id)
        }
        guard let parameters = (members["params"] ?? [:]).members else {
            throw AgentFault(.invalidParameters, "The member params is not an object.", id)
        }
        return AgentMessage(id: id, method: method, parameters: parameters)
    }
}

/// The versions of the Model Context Protocol, newest first.
enum AgentProtocol {
    static let versions = ["2025-06-18", "2025-03-26", "2024-11-05"]
    /// The only one with batches, and the one of a request over HTTP that names none.
    static let batched = "2025-03-26"

    /// The version of a conversation with an agent that asked for one.
    static func version(_ asked: String) -> String {
        versions.first { $0 == asked } ?? versions[0]
    }

    /// What an agent reads before it asks.
    static let instructions = """
        Answers are computed from an append-only log of App Store transactions and notifications. \
        They cite it: positions name events, and citation.knownAt is the point of the log up to \
        which it was used. Ask again with that knownAt for the same answer at any later time. \
        Times in JSON are milliseconds since 1970, UTC; amounts are milliunits of the currency. \
        Most tools take any id of a customer or a purchase; the tool search finds what an id means.
        """
}
