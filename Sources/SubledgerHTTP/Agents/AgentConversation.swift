internal import Subledger

/// Answers the messages of one agent.
struct AgentAnswers: Sendable {
    let access: AgentAccess

    /// The answer to a message; nil if it is a notification, which has none.
    func answer(_ message: AgentMessage) async -> JSONTree? {
        guard let id = message.id else { return nil }
        do throws(AgentFault) {
            return ["jsonrpc": "2.0", "id": id, "result": try await result(of: message)]
        } catch {
            return AgentFault(error.code, error.message, id).answer
        }
    }

    /// The answer to what came in one line or body; nil if it needs none.
    func answer(_ input: AgentInput) async -> JSONTree? {
        switch input {
        case .message(let message): return await answer(message)
        case .batch(let batch):
            let answers = await answers(batch)
            return answers.isEmpty ? nil : .list(answers)
        case .answer: return nil
        }
    }

    // One after the other.
    private func answers(
        _ batch: [Result<AgentMessage, AgentFault>]
    ) async -> [JSONTree] {
        var answers: [JSONTree] = []
        for message in batch {
            switch message {
            case .success(let message) where message.method == "initialize":
                let words = "Send initialize alone, not in a batch."
                answers.append(AgentFault(.invalidRequest, words, message.id).answer)
            case .success(let message):
                if let answer = await answer(message) { answers.append(answer) }
            case .failure(let fault): answers.append(fault.answer)
            }
        }
        return answers
    }

    private func result(of message: AgentMessage) async throws(AgentFault) -> JSONTree {
        switch message.method {
        case "initialize":
            guard let asked = message.parameters["protocolVersion"]?.text else {
                throw AgentFault(.invalidParameters, "The parameter protocolVersion is not text.")
            }
            return [
                "protocolVersion": .text(AgentProtocol.version(asked)),
                "capabilities": ["tools": [:]],
                "serverInfo": ["name": "subledger", "version": .text(Ledger.version)],
                "instructions": .text(AgentProtocol.instructions),
            ]
        case "ping": return [:]
        case "tools/list": return ["tools": .list(access.tools.map(\.listed))]
        case "tools/call":
            guard let name = message.parameters["name"]?.text else {
                throw AgentFault(.invalidParameters, "The parameter name is not text.")
            }
            guard let arguments = (message.parameters["arguments"] ?? [:]).members else {
                throw AgentFault(.invalidParameters, "The parameter arguments is not an object.")
            }
            return try await access.call(name, arguments)
        default:
            throw AgentFault(
                .unknownMethod,
                "Unknown method \"\(message.method.prefix(64))\"; expected initialize, ping, "
                    + "tools/list or tools/call."
            )
        }
    }
}

/// A conversation with one agent by lines: several calls may be in progress, and each is answered
/// once it is finished.
package actor AgentConversation {
    private let answers: AgentAnswers
    private let write: @Sendable ([UInt8]) -> Void
    private var version: String?
    private var calls: [JSONTree: Task<Void, Never>] = [:]

    /// The most calls in progress: each may use a connection to the database.
    private static let callsMax = 4

    /// The most bytes of a line.
    package static var lineByteCountMax: Int { AgentInput.byteCountMax }

    /// Starts a conversation.
    ///
    /// - Parameters:
    ///   - access: What the agent may ask.
    ///   - write: Receives each answer as JSON, without a line break.
    package init(_ access: AgentAccess, write: @escaping @Sendable ([UInt8]) -> Void) {
        answers = AgentAnswers(access: access)
        self.write = write
    }

    /// Takes a line of the agent; waits if too many calls are in progress.
    ///
    /// - Parameter line: The line; nil for one of more than `lineByteCountMax` bytes.
    package func take(_ line: [UInt8]?) async {
        guard let line else {
            let words = "The message has more than \(Self.lineByteCountMax) bytes."
            return put(AgentFault(.invalidRequest, words).answer)
        }
        // Blank lines are no messages.
        guard !line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) else { return }
        do throws(AgentFault) {
            let hasBatches = version == AgentProtocol.batched
            switch try AgentInput(line, hasBatches: hasBatches) {
            case .message(let message): await take(message)
            case let other:
                if let answer = await answers.answer(other) { put(answer) }
            }
        } catch {
            put(error.answer)
        }
    }

    /// Waits for the calls in progress.
    package func finish() async {
        while let call = calls.values.first { await call.value }
    }

    private func take(_ message: AgentMessage) async {
        guard let id = message.id else {
            if message.method == "notifications/cancelled",
                let id = message.parameters["requestId"]
            {
                calls[id]?.cancel()
            }
            return
        }
        guard version != nil || !message.method.hasPrefix("tools/") else {
            let words = "Send initialize before \(message.method.prefix(64))."
            return put(AgentFault(.invalidRequest, words, id).answer)
        }
        guard message.method == "tools/call" else {
            if let answer = await answers.answer(message) {
                version = answer["result"]?["protocolVersion"]?.text ?? version
                put(answer)
            }
            return
        }
        guard calls[id] == nil else {
            let words = "A call with the same id is in progress."
            return put(AgentFault(.invalidRequest, words, id).answer)
        }
        while calls.count >= Self.callsMax, let call = calls.values.first { await call.value }
        calls[id] = Task {
            let answer = await answers.answer(message)
            calls[id] = nil
            // Whoever cancelled a call does not expect its answer.
            if let answer, !Task.isCancelled { put(answer) }
        }
    }

    private func put(_ answer: JSONTree) {
        do {
            write(try answer.json)
        } catch {
            preconditionFailure("an answer cannot be encoded: \(error)")
        }
    }
}
