internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Projections
internal import Subledger

/// The subjects of questions.
private enum Subjects: String, CaseIterable {
    /// All subscriptions and purchases of a customer.
    case customers
    /// A single subscription.
    case subscriptions

    /// The name of the path parameter with the id.
    var idName: String {
        switch self {
        case .customers: "id"
        case .subscriptions: "originalTransactionId"
        }
    }
}

extension LedgerRoutes {
    /// `GET /v1/customers/{id}/…` and `GET /v1/subscriptions/{originalTransactionId}/…`: the
    /// questions of the command line, with the same answers.
    func addQuestions(to router: some RouterMethods<some RequestContext>) {
        for subjects in Subjects.allCases {
            for question in Questions.served { add(question, about: subjects, to: router) }
        }
    }

    private func add<Asked: Question>(
        _: Asked.Type,
        about subjects: Subjects,
        to router: some RouterMethods<some RequestContext>
    ) {
        let path = "/v1/\(subjects.rawValue)/:\(subjects.idName)/\(Asked.name)"
        on(.get, path, of: router, for: .support) { call in
            let subject = try call.subject(subjects.idName, alone: subjects == .subscriptions)
            let (now, zone) = (clock(), try call.zone())
            let asked = try call.input(
                of: Asked.self,
                about: subject,
                and: [.minPosition],
                now: now,
                sandbox: sandbox
            )
            try await audit(call, Asked.name, about: subject.id)
            try await waitForPosition(of: call)
            return try await QuestionZone.$shown.withValue(zone) {
                try await ledger.log.onOneConnection {
                    let answer = try await Asked.answer(asked, from: ledger)
                    guard let document = answer as? EntitlementsDocument else {
                        return try Response.json(answer)
                    }
                    return try response(of: document, to: call, at: now)
                }
            }
        }
    }

    /// Waits until the log includes the position in `minPosition`, so a client can read its own
    /// writes.
    private func waitForPosition(of call: Call) async throws {
        let wanted = try call.query(
            .minPosition,
            expecting: "an offset, or lane:offset pairs"
        ) { text -> [Int: Int64]? in
            if case .offsets(let offsets)? = KnownAt(text) { offsets } else { nil }
        }
        guard let wanted else { return }

        let laneCount = ledger.log.identity.lanes.value
        guard wanted.allSatisfy({ $0.value >= 0 && (0..<laneCount).contains($0.key) }) else {
            throw Problem(
                query: "minPosition is \"\(try call.query(.minPosition)?.prefix(64) ?? "")\"; "
                    + "expected positions of this ledger, which has \(laneCount) "
                    + (laneCount == 1 ? "lane" : "lanes") + ", counted from 0."
            )
        }

        let end = ContinuousClock.now + .seconds(limits.positionSecondsMax)
        while true {
            let heads = try await ledger.log.heads()
            if wanted.allSatisfy({ heads[$0.key]?.offset ?? 0 >= $0.value }) { return }
            guard ContinuousClock.now < end else {
                var problem = Problem(
                    .serviceUnavailable,
                    "position-not-reached",
                    "The log did not reach the position \(try call.query(.minPosition) ?? "") "
                        + "within \(Int(limits.positionSecondsMax)) seconds. Check that it is a "
                        + "position of this ledger."
                )
                problem.retryAfterSeconds = 1
                throw problem
            }
            try await Task.sleep(for: LedgerRoutes.positionInterval)
        }
    }

    /// The interval at which the log is checked for a position.
    private static let positionInterval = Duration.milliseconds(50)
}
