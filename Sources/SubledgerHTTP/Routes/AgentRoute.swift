internal import EventLog
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Subledger

extension LedgerRoutes {
    /// `POST /mcp`: the Model Context Protocol over Streamable HTTP, without streams and sessions.
    func addAgents(to router: some RouterMethods<some RequestContext>) {
        let identify: Identification = { request, _ in
            try await caller(of: request, for: AgentAccess.roles)
        }
        on(.post, "/mcp", of: router, for: .support, identifiedBy: identify) { call in
            try call.check([])
            try call.checkOrigin()
            let hasBatches = try call.protocolVersion() == AgentProtocol.batched
            return try await withBody(of: call, upTo: AgentInput.byteCountMax) { bytes in
                let input: AgentInput
                do throws(AgentFault) {
                    input = try AgentInput(bytes, hasBatches: hasBatches)
                } catch {
                    return try .json(error.answer, status: .badRequest)
                }
                let answers = AgentAnswers(access: await agent(of: call))
                guard let answer = await answers.answer(input) else {
                    return Response(status: .accepted)
                }
                return try .json(answer)
            }
        }
    }

    // What the token of a request may ask.
    private func agent(of call: Call) async -> AgentAccess {
        let text = call.request.headers[.authorization]?.split(separator: " ").last ?? ""
        let token = AccessToken(String(text))
        var roles: Set<TokenRole> = []
        if let token { roles = await tokens.rolesAccepted(of: token) }
        var access = AgentAccess(ledger, Questions.served, roles)
        access.sandbox = sandbox
        access.limit = AnswerLimit(seconds: limits.answerSecondsMax)
        access.clock = clock
        access.audit = { question, subject in
            try await audit(call, question, about: subject)
        }
        access.logFailure = { error in
            guard !outages.takes(error) else { return }
            call.logger.error("tool failed", metadata: ["error": "\(error)"])
        }
        return access
    }
}

extension Call {
    /// The version of the protocol that the request names.
    ///
    /// - Throws: `Problem` 400 for one that is not supported.
    fileprivate func protocolVersion() throws -> String {
        guard let version = HTTPField.Name("MCP-Protocol-Version").flatMap({ request.headers[$0] })
        else { return AgentProtocol.batched }
        guard AgentProtocol.versions.contains(version) else {
            throw Problem(
                .badRequest,
                "protocol-version",
                "The header MCP-Protocol-Version is \"\(version.prefix(64))\"; expected "
                    + AgentProtocol.versions.joined(separator: ", ") + "."
            )
        }
        return version
    }

    /// Refuses a page of another site, also one whose name was made to lead to this service (DNS
    /// rebinding): it has a name of its own, and no certificate for it.
    fileprivate func checkOrigin() throws {
        guard let origin = request.headers[.origin] else { return }
        let url = URL(string: origin)
        let own = URL(string: "http://" + (request.head.authority ?? ""))?.host?.lowercased()
        guard let host = url?.host?.lowercased(), let own, host == own,
            url?.scheme == "https" || host.isLocalhostOrAddress
        else {
            throw Problem(
                .forbidden,
                "origin",
                "The header Origin names \"\(origin.prefix(64))\", which is not this service. Use "
                    + "a client that is not a page of another site."
            )
        }
    }
}

extension String {
    /// Whether no name server decides where this host leads.
    fileprivate var isLocalhostOrAddress: Bool {
        self == "localhost" || contains(":")
            || utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
