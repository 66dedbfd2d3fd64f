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
        for (path, alone) in [("customers", false), ("subscriptions", true)] {
            ask("access", path, alone, of: router) { subject, call, knownAt in
                try await ledger.access(
                    of: subject,
                    at: try call.at() ?? clock(),
                    to: try call.scope(),
                    knownAt: knownAt
                )
            }
            ask("eligibility", path, alone, of: router) { subject, call, knownAt in
                try await ledger.eligibility(
                    of: subject,
                    at: try call.at() ?? clock(),
                    group: call.query("group"),
                    knownAt: knownAt
                )
            }
            ask("explain", path, alone, of: router) { subject, call, knownAt in
                try await ledger.explain(
                    subject,
                    at: try call.at() ?? clock(),
                    product: call.query("product"),
                    knownAt: knownAt
                )
            }
            ask("periods", path, alone, of: router) { subject, call, knownAt in
                try await ledger.periods(of: subject, at: try call.at(), knownAt: knownAt)
            }
            ask("history", path, alone, of: router) { subject, call, knownAt in
                try await ledger.history(of: subject, at: try call.at(), knownAt: knownAt)
            }
            ask("changes", path, alone, of: router) { subject, call, knownAt in
                try await ledger.changes(of: subject, at: try call.at(), knownAt: knownAt)
            }
            ask("refunds", path, alone, of: router) { subject, call, knownAt in
                try await ledger.refunds(of: subject, at: try call.at(), knownAt: knownAt)
            }
            ask("state", path, alone, of: router) { subject, call, knownAt in
                try await ledger.state(of: subject, at: try call.at(), knownAt: knownAt)
            }
        }
    }

    private func ask(
        _ question: String,
        _ path: String,
        _ alone: Bool,
        of router: some RouterMethods<some RequestContext>,
        _ answer: @escaping @Sendable (SubjectID, Call, KnownAt) async throws -> any Encodable
    ) {
        let name = alone ? "originalTransactionId" : "id"
        on(.get, "/v1/\(path)/:\(name)/\(question)", of: router, for: .support) { call in
            let subject = try call.subject(name, alone: alone)
            audit(call, question, about: subject.id)
            try await waitForPosition(of: call)
            return try Response.json(try await answer(subject, call, try call.knownAt()))
        }
    }

    /// Waits until the log holds what `minPosition` names, so that who has written reads it.
    private func waitForPosition(of call: Call) async throws {
        let wanted = try call.query(
            "minPosition",
            expecting: "an offset, or lane:offset pairs"
        ) { text -> [Int: Int64]? in
            if case .offsets(let offsets)? = KnownAt(text) { offsets } else { nil }
        }
        guard let wanted else { return }
        let end = ContinuousClock.now + .seconds(limits.positionSecondsMax)
        while true {
            let heads = try await ledger.log.heads()
            if wanted.allSatisfy({ heads[$0.key]?.offset ?? 0 >= $0.value }) { return }
            guard ContinuousClock.now < end else {
                var problem = Problem(
                    .serviceUnavailable,
                    "position-not-reached",
                    "The log does not hold that position after "
                        + "\(Int(limits.positionSecondsMax)) seconds. Is it of this ledger?"
                )
                problem.retryAfterSeconds = 1
                throw problem
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}

extension Call {
    /// Access to what: a product, a group, or anything.
    fileprivate func scope() throws -> AccessScope {
        switch (query("product"), query("group")) {
        case (nil, nil): return .anything
        case (let product?, nil): return .product(product)
        case (nil, let group?): return .group(.identified(group))
        case (_?, _?):
            throw Problem(.badRequest, "query", "product and group exclude each other.")
        }
    }
}
