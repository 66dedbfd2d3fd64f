internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Projections
internal import Subledger

extension LedgerRoutes {
    /// `GET /v1/customers/{id}/…` and `GET /v1/subscriptions/{originalTransactionId}/…`: the
    /// questions of the command line, with the same documents.
    func addQuestions(to router: some RouterMethods<some RequestContext>) {
        for subjects in Question.Subjects.allCases {
            for question in Question.allCases {
                let path = "/v1/\(subjects.rawValue)/:\(subjects.idName)/\(question.rawValue)"
                on(.get, path, of: router, for: .support) { call in
                    try call.check(question.parameters)
                    let subject = SubjectID(
                        try call.parameter(subjects.idName),
                        in: try call.environment(),
                        alone: subjects == .subscriptions
                    )
                    try await audit(call, question.rawValue, about: subject.id)
                    let clocks = try call.clocks(now: clock())
                    try await waitForPosition(of: call)
                    return try await ledger.log.onOneConnection {
                        try Response.json(try await answer(question, subject, clocks, call))
                    }
                }
            }
        }
    }

    private func answer(
        _ question: Question,
        _ subject: SubjectID,
        _ clocks: Clocks,
        _ call: Call
    ) async throws -> any Encodable {
        let (at, knownAt) = (clocks.at, clocks.knownAt)
        switch question {
        case .access:
            return try await ledger.access(
                of: subject,
                at: clocks.instant,
                to: try call.scope(),
                knownAt: knownAt,
                sandbox: sandbox
            )
        case .eligibility:
            return try await ledger.eligibility(
                of: subject,
                at: clocks.instant,
                group: try call.query(.group),
                products: try call.queries(.product),
                knownAt: knownAt
            )
        case .explain:
            return try await ledger.explain(
                subject,
                at: clocks.instant,
                product: try call.query(.product),
                knownAt: knownAt,
                sandbox: sandbox
            )
        case .periods:
            return try await ledger.periods(of: subject, at: at, knownAt: knownAt)
                as PeriodsDocument
        case .history:
            return try await ledger.history(
                of: subject,
                at: at,
                trust: try call.trust(),
                knownAt: knownAt
            )
        case .changes: return try await ledger.changes(of: subject, at: at, knownAt: knownAt)
        case .refunds: return try await ledger.refunds(of: subject, at: at, knownAt: knownAt)
        case .state: return try await ledger.state(of: subject, at: at, knownAt: knownAt)
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
                .badRequest,
                "query",
                "minPosition is \"\(try call.query(.minPosition)?.prefix(64) ?? "")\"; expected "
                    + "positions of this ledger, which has \(laneCount) "
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

extension Call {
    /// The access that is asked about: to a product, a group, or anything.
    fileprivate func scope() throws -> AccessScope {
        switch (try query(.product), try query(.group)) {
        case (nil, nil): return .anything
        case (let product?, nil): return .product(product)
        case (nil, let group?): return .group(.identified(group))
        case (_?, _?):
            throw Problem(
                .badRequest,
                "query",
                "product and group cannot be combined: a product belongs to one group."
            )
        }
    }

    /// The trusts of the payloads to use; empty for all.
    fileprivate func trust() throws -> Set<Verification.Trust> {
        Set(
            try queries(.trust).map { word in
                guard let trust = Verification.Trust(rawValue: word) else {
                    throw Problem(
                        .badRequest,
                        "query",
                        "trust is \"\(word.prefix(64))\"; expected "
                            + Verification.Trust.allCases.map(\.rawValue)
                            .joined(separator: ", ") + "."
                    )
                }
                return trust
            }
        )
    }
}
