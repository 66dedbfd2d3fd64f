internal import EventLog
internal import Events
internal import HTTPTypes
internal import Hummingbird
internal import Subledger
internal import Synchronization

extension ConsoleRoutes {
    /// Adds the pages for operators.
    func addOperations(to router: some RouterMethods<some RequestContext>) {
        page(ConsoleAddress.operations, of: router, in: .operations) { call in
            .html(try await operations(call))
        }
        page(ConsoleAddress.refusals, by: .post, of: router, in: .operations) { call in
            .html(try await retryRefused(call))
        }
        page(ConsoleAddress.tables, of: router, in: .tables) { call in
            .html(try await tables(call))
        }
        page(ConsoleAddress.difference, of: router, in: .tables) { call in
            .html(try await tableDifference(call))
        }
        page(ConsoleAddress.promotion, of: router, in: .tables) { call in
            .html(try await promotionQuestion(call))
        }
        page(ConsoleAddress.promotion, by: .post, of: router, in: .tables) { call in
            .html(try await promote(call))
        }
    }

    /// The page of operations: whether everything is well, and what to do.
    func operations(_ call: Call) async throws -> HTML {
        let word = try FormFields(call.request.uri.query ?? "")["read"]
        let reading = try word.map { word in
            guard let reading = WholeLogReading(rawValue: word) else {
                let known = WholeLogReading.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(query: "read is \"\(word.prefix(64))\"; expected one of: \(known).")
            }
            return reading
        }
        try await routes.audit(call, "operations", about: word ?? "")
        let now = routes.clock()
        let checks = ServiceChecks(
            metrics: routes.metrics,
            isFollowing: routes.state.isFollowing.load(ordering: .relaxed),
            followFault: routes.state.followFault.withLock { $0 }
        )
        var page = OperationsPage()
        page.service = checks.all
        // A part that cannot be read hides no other.
        page.parts.append(
            await part("Notifications", "notifications", &page.service) {
                let traffic = try await traffic(now)
                return (traffic.check, OperationsPage.notifications(traffic))
            }
        )
        page.parts.append(
            await part("Refused payloads", "refusals", &page.service) {
                let counts = try await routes.ledger.log.rejectionCounts()
                return (ServiceChecks.refusals(counts), OperationsPage.refusals(counts))
            }
        )
        page.parts.append(OperationsPage.facts(checks.facts))
        page.database = await doctor.checks()
        page.parts.append(await wholeLog(reading, now))
        return framed("Operations", in: .operations, page.html)
    }

    private func part(
        _ title: String,
        _ name: String,
        _ checks: inout [DoctorCheck],
        _ read: () async throws -> (DoctorCheck, HTML)
    ) async -> HTML {
        do {
            let (check, html) = try await read()
            checks.append(check)
            return html
        } catch {
            let words = Problem(error).detail
            checks.append(.notChecked(name, words))
            return "<h2>\(title)</h2><p role=\"alert\">\(words)</p>"
        }
    }

    private func traffic(_ now: Instant) async throws -> NotificationTraffic {
        let log = routes.ledger.log
        return NotificationTraffic(
            try await log.notificationArrivals(since: NotificationTraffic.start(now: now)),
            firstCommit: try await log.firstCommittedAt(),
            now: now
        )
    }

    private func wholeLog(_ reading: WholeLogReading?, _ now: Instant) async -> HTML {
        var answer: [HTML] = []
        if let reading {
            let limit = AnswerLimit(seconds: routes.limits.answerSecondsMax / 3)
            do {
                let ledger = routes.ledger
                let blocks = try await limit.run { try await reading.sums(of: ledger, now: now) }
                answer = blocks.map { $0.html { ConsoleAddress.event($0) } }
            } catch {
                answer = ["<p role=\"alert\">\(Problem(error).detail)</p>"]
            }
            answer.append(
                """
                <p class="quiet"><code>subledger report \(reading.rawValue)</code> lists the \
                cases.</p>
                """
            )
        }
        let links = WholeLogReading.allCases.map { choice -> HTML in
            """
            <li><a href="\(ConsoleAddress.operations)?read=\(choice.rawValue)">\
            \(choice.question)</a></li>
            """
        }
        return """
            <h2 id="log">Checks that read the whole log</h2>
            <div role="status">\(answer)</div>
            <ul>\(links)</ul>
            """
    }
}
