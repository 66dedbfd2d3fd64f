import ArgumentParser
import CommandSupport
import EventLog
import Events
import Subledger
import SubledgerAppStore

// All requests of the ledger.
extension ConsumptionCommand {
    /// Answers what is due, or prints what it would send.
    func answer(by path: String) async throws {
        let plan = try await PollPlan(change.poll, ProcessEnvironment.variables)
        if change.poll.printConfig { return Terminal.print(plan.settings.table) }
        let policy = try ConsumptionPolicy.read(path)
        let isQuiet = change.poll.output.quiet
        Interrupt.heed()
        try await plan.withPoller(pause: nil, isQuiet: isQuiet) { poller in
            let bundleId = plan.trust.bundleId.first ?? ""
            let answerer = ConsumptionAnswerer(poller, policy, bundleId: bundleId)
            if follow {
                await answerAsTheyArrive(answerer)
            } else if change.execute {
                try await answerOnce(answerer)
            } else {
                try await printProposals(answerer, poller)
            }
        }
    }

    private func answerOnce(_ answerer: ConsumptionAnswerer) async throws {
        guard let round = try await answerer.round() else {
            throw Failure(
                Exit.tryAgain,
                "another process answers the requests of this app; nothing was sent"
            )
        }
        round.notes.forEach { Terminal.write("apple consumption: \($0)") }
        try change.poll.output.print(round, [round.text])
        if round.hasFailures { throw Exit.tryAgain }
    }

    private func answerAsTheyArrive(_ answerer: ConsumptionAnswerer) async {
        let json = change.poll.output.json
        let answering = Task {
            await answerer.follow { result in
                switch result {
                case .success(let round):
                    round.notes.forEach { Terminal.write("apple consumption: \($0)") }
                    do {
                        if json {
                            try Terminal.print(json: round)
                        } else {
                            Terminal.print(round.text)
                        }
                    } catch {
                        Terminal.write("apple consumption: \(error)")
                    }
                case .failure(let error):
                    Terminal.write("apple consumption: \(error); retrying")
                }
            }
        }
        let watching = Task {
            while !Interrupt.isRequested { try await Task.sleep(for: .milliseconds(100)) }
            answering.cancel()
        }
        await answering.value
        watching.cancel()
    }

    private func printProposals(
        _ answerer: ConsumptionAnswerer,
        _ poller: Poller
    ) async throws {
        let all = try await ConsumptionAnswerer.requests(
            in: poller.log,
            limit: Self.listedMax,
            at: .systemClock()
        )
        var documents: [AppleChangeDocument] = []
        for request in all where request.outcome.isWaiting {
            guard let information = try await answerer.proposal(for: request) else { continue }
            documents.append(
                AppleChangeDocument(
                    executed: false,
                    request: AppleRequestDocument(
                        .sendConsumption(request.transactionId, body: information.body)
                    )
                )
            )
        }
        try change.poll.output.print(documents, documents.map(\.request.text))
        guard !change.poll.output.json else { return }
        Terminal.write(
            "apple consumption: \(counted(documents.count, "answer")) if the customers consent; "
                + "nothing was sent; add --execute to send them"
        )
    }

    /// Prints requests with their answers.
    func printRequests() async throws {
        if try await change.poll.printsConfig() { return }
        let log = try await change.poll.database.openLog(EventLog.Options())
        let result: Result<[ConsumptionRequest], any Error>
        do {
            result = .success(
                try await ConsumptionAnswerer.requests(
                    in: log,
                    limit: Self.listedMax,
                    at: .systemClock()
                )
            )
        } catch {
            result = .failure(error)
        }
        await log.close()
        let documents = try result.get().prefix(Self.listedMax).map(ConsumptionRequestDocument.init)
        var table = TextTable([
            "request", "environment", "transaction", "requested", "due", "outcome", "decided",
            "note",
        ])
        for document in documents { table.add(document.cells) }
        try change.poll.output.print(
            documents,
            [documents.isEmpty ? "no requests for consumption information" : table.text]
        )
    }

    private static let listedMax = 1000
}

extension ConsumptionPolicy {
    /// The policy in a file.
    static func read(_ path: String) throws -> ConsumptionPolicy {
        let bytes = try WholeFile.bytes(of: path, "the policy", upTo: byteCountMax)
        guard bytes.count <= byteCountMax else {
            throw Failure(
                Exit.configuration,
                "\(path) has more than \(byteCountMax >> 20) MiB; expected a policy"
            )
        }
        do throws(ConsumptionPolicyError) {
            return try ConsumptionPolicy(json: bytes)
        } catch {
            throw Failure(Exit.configuration, "\(path): \(error)")
        }
    }
}

extension ConsumptionRound {
    /// The round as text.
    var text: String {
        guard !outcomes.isEmpty else { return "no request waits for an answer" }
        return outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }
}

/// A request with its answer.
private struct ConsumptionRequestDocument: Encodable {
    let position: Position
    let environment: StoreEnvironment
    let bundleId: String
    let originalTransactionId: String
    let transactionId: String
    let requestedAt: Instant
    let dueAt: Instant
    let outcome: ConsumptionRequest.Outcome
    let attempts: Int
    let decidedAt: Instant?
    let retryAt: Instant?
    let errorCode: Int64?
    let note: String
    let body: String?

    init(_ request: ConsumptionRequest) {
        position = request.position
        environment = request.stream.environment
        bundleId = request.bundleId
        originalTransactionId = request.stream.originalTransactionId
        transactionId = request.transactionId
        (requestedAt, dueAt) = (request.requestedAt, request.dueAt)
        (outcome, attempts, note) = (request.outcome, request.attempts, request.note)
        (decidedAt, retryAt) = (request.decidedAt, request.retryAt)
        (errorCode, body) = (request.errorCode, request.body)
    }

    var cells: [String] {
        [
            "#\(position)", environment.word, transactionId, requestedAt.clock, dueAt.clock,
            outcome.rawValue, decidedAt?.clock ?? "–",
            [note, body ?? ""].filter { !$0.isEmpty }.joined(separator: " "),
        ]
    }
}
