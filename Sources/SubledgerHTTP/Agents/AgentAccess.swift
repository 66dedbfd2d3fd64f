package import EventLog
internal import Events
internal import HTTPTypes
package import Subledger

/// What one agent may ask of a ledger, and how it is answered: nothing that it does changes the
/// ledger.
package struct AgentAccess: Sendable {
    let ledger: Ledger
    /// The tools that its roles open, in the order of the list.
    let tools: [AgentTool]
    /// The customers for whom sandbox purchases count in production.
    var sandbox = SandboxPolicy.never
    /// Stands in for ids of people; nil if they are shown.
    var personalIDs: PersonalIDs?
    /// Limits the time of an answer.
    var limit = AnswerLimit(seconds: 0)
    /// Our clock.
    var clock: @Sendable () -> Instant = { .systemClock() }
    /// Records a question, and whom it is about, before it is answered.
    var audit: @Sendable (String, String) async throws -> Void = { _, _ in }
    /// Logs why an answer failed.
    var logFailure: @Sendable (any Error) -> Void = { _ in }
    /// The most bytes of an answer's JSON.
    var answerByteCountMax = 256 << 10

    /// The roles that open tools.
    package static let roles: [TokenRole] = [.support, .analyst, .finance]

    /// An agent on this machine, which reads the ledger with the caller's own database login.
    ///
    /// - Parameters:
    ///   - ledger: The ledger.
    ///   - roles: The roles that decide on its tools.
    ///   - hasPersonalData: Whether answers show the ids of customers and accounts.
    ///   - logFailure: Logs why an answer failed.
    package init(
        local ledger: Ledger,
        roles: Set<TokenRole>,
        hasPersonalData: Bool,
        logFailure: @escaping @Sendable (any Error) -> Void
    ) {
        self.init(ledger, Questions.served + Questions.local, roles)
        personalIDs = hasPersonalData ? nil : PersonalIDs()
        self.logFailure = logFailure
    }

    init(_ ledger: Ledger, _ questions: [any Question.Type], _ roles: Set<TokenRole>) {
        self.ledger = ledger
        var tools: [AgentTool] = []
        if !roles.isDisjoint(with: [.support, .admin]) {
            tools.append(.search)
            for question in questions { tools.append(Self.tool(question)) }
        }
        if !roles.isDisjoint(with: [.analyst, .finance, .admin]) {
            let namesCustomers = !roles.isDisjoint(with: [.finance, .admin])
            let reports = Report.all.filter { namesCustomers || !$0.namesCustomers }
            tools += [.reports(reports), .report(reports)]
        }
        self.tools = tools
    }

    private static func tool<Asked: Question>(_ question: Asked.Type) -> AgentTool {
        AgentTool(question)
    }
}

extension AgentAccess {
    /// Answers a call.
    ///
    /// - Parameters:
    ///   - name: The tool.
    ///   - arguments: Its arguments.
    /// - Returns: The result; what is wrong with the question is a result, too.
    /// - Throws: `AgentFault` if the tool is unknown.
    func call(_ name: String, _ arguments: [String: JSONTree]) async throws(AgentFault) -> JSONTree
    {
        guard let tool = tools.first(where: { $0.name == name }) else {
            throw AgentFault(
                .invalidParameters,
                "Unknown tool \"\(name.prefix(64))\"; expected one of: "
                    + tools.map(\.name).joined(separator: ", ") + "."
            )
        }
        do {
            let arguments = try AgentArguments(arguments)
            let document = try await limit.run { [self] in
                try await finished(try await tool.answer(self, arguments), arguments)
            }
            let json = try document.json
            guard json.count <= answerByteCountMax else {
                throw Problem(tooLarge: json.count, of: tool, upTo: answerByteCountMax)
            }
            let text = JSONTree.text(String(decoding: json, as: UTF8.self))
            return [
                "content": [["type": "text", "text": text]], "structuredContent": document,
                "isError": false,
            ]
        } catch {
            return ["content": [["type": "text", "text": .text(words(error))]], "isError": true]
        }
    }

    private func words(_ error: any Error) -> String {
        let problem = Problem(error)
        if problem.status.kind == .serverError { logFailure(error) }
        var words = problem.detail
        switch error as? QuestionError {
        case let error? where error.code == .severalSubscriptions:
            words = error.message + "; ask about one of them by its originalTransactionId"
        case let error? where error.code == .ambiguousId && personalIDs != nil:
            // The message names customers.
            words = "The id is that of several; use another id of the purchase that you mean."
        default: break
        }
        if let ids = problem.subscriptions {
            words += " (" + ids.prefix(AgentArguments.limitDefault).joined(separator: ", ") + ")"
        }
        return personalIDs?.hidingAll(in: words) ?? words
    }

    // The document as it is sent: cut, without ids of people, and with what to cite.
    private func finished(
        _ answer: AgentAnswer,
        _ arguments: AgentArguments
    ) async throws -> JSONTree {
        var leftOut = answer.leftOut
        var document = answer.document.cut(to: try arguments.limit(), leftOut: &leftOut)
        var citation: JSONTree = [:]
        citation["knownAt"] = answer.knownAt.map { .text($0) }
        citation["answeredFor"] = answer.answeredFor.map { .text($0) }
        document["citation"] = citation
        if !leftOut.isEmpty {
            document["truncated"] = true
            document["leftOut"] = .object(leftOut.mapValues { .integer($0) })
        }
        guard let personalIDs else { return document }
        let asked = try arguments.query(.id)
        var ids = PersonalIDs.ids(in: answer.document, except: asked)
        if let subject = answer.subject { ids.formUnion(try await self.ids(of: subject)) }
        return personalIDs.hiding(ids, in: document)
    }

    // Everything that ever named the customer, because sentences may contain it.
    private func ids(of subject: SubjectID) async throws -> Set<String> {
        do {
            return PersonalIDs.ids(in: try JSONTree(try await ledger.customer(subject)))
        } catch let error as QuestionError where error.code == .unknownId {
            return []
        }
    }
}

extension AgentAccess {
    /// Answers a question about a customer or a subscription.
    func answer<Asked: Question>(
        _ question: Asked.Type,
        _ arguments: AgentArguments
    ) async throws -> AgentAnswer {
        let asked = try arguments.input(
            of: question,
            about: try subject(arguments),
            and: [.id, .alone, .limit],
            now: clock(),
            sandbox: sandbox
        )
        return try await answer(Asked.name, asked, arguments) { asked in
            try JSONTree(try await Asked.answer(asked, from: ledger))
        }
    }

    /// Answers what an id means.
    func found(_ arguments: AgentArguments) async throws -> AgentAnswer {
        try arguments.check([.id, .at, .knownAt, .tz, .environment, .limit])
        let (now, zone) = (clock(), try arguments.zone())
        let asked = QuestionInput(
            try subject(arguments),
            now: now,
            at: try arguments.instant(.at, now: now, in: zone),
            knownAt: try arguments.knownAt(now: now, in: zone) ?? .latest
        )
        return try await answer("customer", asked, arguments) { asked in
            let subject = asked.subject
            return try JSONTree(
                try await ledger.customer(subject, at: asked.at, knownAt: asked.knownAt)
            )
        }
    }

    private func answer(
        _ name: String,
        _ asked: QuestionInput,
        _ arguments: AgentArguments,
        _ work: @Sendable (QuestionInput) async throws -> JSONTree
    ) async throws -> AgentAnswer {
        _ = try arguments.limit()
        try await audit(name, asked.subject.id)
        return try await QuestionZone.$shown.withValue(try arguments.zone()) {
            try await ledger.log.inOneSnapshot {
                var (asked, pasted) = (asked, asked.subject)
                asked.subject = try await ledger.recognised(pasted)
                var answer = AgentAnswer(document: try await work(asked))
                answer.knownAt = try await lasting(asked.knownAt)
                if asked.subject != pasted { answer.answeredFor = asked.subject.id }
                pasted = asked.subject
                // Some questions are about production unless an environment is named.
                pasted.environment =
                    answer.document["environment"]?.text.map(StoreEnvironment.inAnyCase)
                    ?? pasted.environment
                answer.subject = pasted
                return answer
            }
        }
    }

    private func subject(_ arguments: AgentArguments) throws -> SubjectID {
        let id = try arguments.required(.id)
        return SubjectID(
            personalIDs?.id(id) ?? id,
            in: try arguments.environment(),
            alone: try arguments.isAlone()
        )
    }

    // The bound of an answer, in words that mean the same when more is known.
    private func lasting(_ knownAt: KnownAt) async throws -> String {
        let log = ledger.log
        guard knownAt == .latest else { return log.text(try await log.wholeCommits(knownAt)) }
        let heads = try await log.heads()
        var newest: [CommitMark] = []
        for lane in heads.keys.sorted() {
            if let mark = try await log.newestCommit(lane: lane) { newest.append(mark) }
        }
        // A commit without events has no position: its time names it.
        if newest.contains(where: { $0.commit.count == 0 }),
            let last = newest.map(\.commit.committedAt).max()
        {
            return "\(last.milliseconds)"
        }
        let offsets = heads.mapValues(\.offset)
        return log.text(.offsets(offsets.isEmpty ? [0: 0] : offsets))
    }

    /// Answers a report.
    func report(_ arguments: AgentArguments, among reports: [Report]) async throws -> AgentAnswer {
        try arguments.check([.name, .limit] + ReportQuestion.parameters)
        let limit = try arguments.limit()
        let report = try reports.one(named: try arguments.required(.name))
        let question = try ReportQuestion(report, arguments, now: clock())
        if report.namesCustomers { try await audit(report.name, "") }
        let answer = try await ledger.reportAnswer(question)
        let (document, count) = (answer.document.first(limit), answer.document.rows.count)
        return AgentAnswer(
            document: try JSONTree(document),
            knownAt: answer.knownAt.map(ledger.log.text),
            leftOut: count > limit ? ["rows": Int64(count - limit)] : [:]
        )
    }
}

extension Problem {
    /// An answer is longer than a model should read.
    fileprivate init(tooLarge byteCount: Int, of tool: AgentTool, upTo byteCountMax: Int) {
        let words = tool.narrowing.joined(separator: ", ")
        self.init(
            .contentTooLarge,
            "answer-too-large",
            "The answer has \(byteCount >> 10) KiB, more than the \(byteCountMax >> 10) KiB that "
                + "a tool returns. Narrow the question with these arguments: \(words)."
        )
    }
}
