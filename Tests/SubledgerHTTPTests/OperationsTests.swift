import AppStoreSimulator
import EventLog
import Events
import HTTPTypes
import Postgres
import Projector
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

/// The console's page of operations: what the library says, to operators only.
@Suite(.enabled { await TestServer.isAvailable })
struct OperationsTests {
    private static let pages = [
        "/console/operations", "/console/tables", "/console/tables/difference",
        "/console/tables/promotion",
    ]

    @Test func `operators see operations, and customers are left to support`() async throws {
        try await TestConsole.run { console in
            try await console.fill(2)
            _ = try await console.ledger.projector.rebuild()
            _ = try await console.ledger.projector.compare(then: .wait)
            let support = try await console.session(.support, named: "support")
            let cookie = try await console.session(.operator, named: "operator")
            let streams = try await console.ledger.log.streams(limit: 100)
            for path in Self.pages {
                #expect(try await console.get(path).status == 401, "\(path)")
                let refused = try await console.get(path, cookie: support)
                #expect(refused.status == 403, "\(path)")
                #expect(refused.text.contains("does not have the role operator"), "\(path)")
                let page = try await console.get(path, cookie: cookie)
                #expect(page.status == 200, "\(path): \(page.text.prefix(2000))")
                for stream in streams {
                    #expect(!page.text.contains(stream.originalTransactionId), "\(path)")
                }
            }
            #expect(try await console.get("/console", cookie: cookie).status == 403)
        }
    }

    @Test func `an operator's token signs in, and leads to operations`() async throws {
        try await TestConsole.run { console in
            for (role, address) in [
                (TokenRole.operator, "/console/operations"), (.admin, "/console"),
            ] {
                let token = try await console.token(role, named: role.rawValue)
                let answer = try await console.send(
                    .post,
                    "/console/sign-in",
                    body: "token=\(token.text)"
                )
                let cookie = try #require(answer.cookie)
                #expect(answer.text.contains("href=\"\(address)\""))
                #expect(try await console.get(address, cookie: cookie).status == 200)
            }
        }
    }

    @Test func `the findings are those of doctor, in the same words`() async throws {
        try await TestConsole.run { console in
            try await console.fill(2)
            let cookie = try await console.session(.operator)
            let ledger = console.ledger
            // Clocks and the disk change between two looks.
            let changing = ["clock", "disk"]
            for isHidden in [false, true] {
                if isHidden {
                    try await ledger.log.settings.meddle(
                        "ALTER TABLE ledger.event DISABLE TRIGGER append_only_statement"
                    )
                }
                let page = try await console.get("/console/operations", cookie: cookie)
                let checks = await DatabaseChecks(of: ledger).run()
                #expect(checks.count == 12)
                for check in checks {
                    let name: HTML = "<th scope=\"row\">\(check.check)</th>"
                    #expect(page.text.contains(name.text), "\(check)")
                    guard !changing.contains(check.check) else { continue }
                    let words: HTML = "\(check.message)"
                    #expect(page.text.contains(words.text), "\(check)")
                }
                #expect((checks.first { $0.check == "objects" }?.result == .wrong) == isHidden)
                let isWrong = checks.contains { $0.result == .wrong }
                #expect(page.text.contains("Something is wrong") == isWrong)
            }
        }
    }

    @Test func `notifications are counted by type and hour, against the days before`()
        async throws
    {
        try await TestConsole.run(usesLogClock: true) { console in
            try await console.fill(12)
            let ledger = console.ledger
            let cookie = try await console.session(.operator)
            let arrived = try await Self.arrived(in: ledger)
            let first = try #require(arrived.first).hour
            // A time at which both sides of the comparison have notifications.
            let current = try #require(
                arrived.map(\.hour).first { hour in
                    hour - first > 400
                        && arrived.contains { (24..<360).contains(hour - $0.hour) }
                },
                "the sample has no notifications to compare"
            )
            let now = Instant(milliseconds: current * 3_600_000 + 1)
            let last = arrived.filter { (0..<24).contains(current - $0.hour) }
            let before = arrived.filter { (24..<360).contains(current - $0.hour) }
            let traffic = try await Self.traffic(of: ledger, now)
            #expect(traffic.all.count == last.count && traffic.days == 14)
            #expect(traffic.all.usual == Double(before.count) / 14)
            for type in Set((last + before).map(\.type)) {
                let line = try #require(traffic.types.first { $0.name == type })
                #expect(line.count == last.count { $0.type == type }, "\(type)")
                #expect(line.usual == Double(before.count { $0.type == type }) / 14, "\(type)")
            }
            for (back, line) in traffic.hours.enumerated() {
                #expect(line.count == last.count { current - $0.hour == Int64(back) }, "\(back)")
                let same = before.count { (current - $0.hour - Int64(back)) % 24 == 0 }
                #expect(line.usual == Double(same) / 14, "\(back)")
            }

            let shown = try await Self.traffic(of: ledger, console.clock.now)
            let page = try await console.get("/console/operations", cookie: cookie).text
            let words: HTML = "\(shown.check.message)"
            #expect(page.contains(words.text))
            for line in shown.types {
                let row: HTML = """
                    <th scope="row">\(line.name)</th><td class="number">\(Int(line.count))</td>
                    """
                #expect(page.contains(row.text))
            }
        }
    }

    /// The hour and the type of each notification, read event by event.
    private static func arrived(in ledger: Ledger) async throws -> [(hour: Int64, type: String)] {
        var arrived: [(hour: Int64, type: String)] = []
        let head = try #require(try await ledger.log.heads()[0]).offset
        for offset in stride(from: Int64(1), through: head, by: 1) {
            let position = Position(lane: .only, offset: offset)
            let event = try #require(try await ledger.log.event(at: position)).event
            guard event.fact.kind == .notification else { continue }
            let type = event.fact.content.text(.notificationType) ?? ""
            arrived.append((event.recordedAt.milliseconds / 3_600_000, type))
        }
        return arrived
    }

    private static func traffic(
        of ledger: Ledger,
        _ now: Instant
    ) async throws -> NotificationTraffic {
        NotificationTraffic(
            try await ledger.log.notificationArrivals(since: NotificationTraffic.start(now: now)),
            firstCommit: try await ledger.log.firstCommittedAt(),
            now: now
        )
    }

    @Test func `a sudden silence is a warning, and a small ledger is not`() {
        let now = Instant(milliseconds: 1_750_000_000_000)
        let hour = now.milliseconds / 3_600_000
        func check(_ each: Int64, today: Int64) -> DoctorCheck {
            let before = (24..<(15 * 24)).map { back in
                NotificationArrivals.Count(hour: hour - back, type: "DID_RENEW", count: each)
            }
            let last = NotificationArrivals.Count(hour: hour, type: "DID_RENEW", count: today)
            return NotificationTraffic(
                NotificationArrivals(
                    counts: before + [last],
                    since: NotificationTraffic.start(now: now)
                ),
                firstCommit: Instant(milliseconds: 0),
                now: now
            ).check
        }
        #expect(check(10, today: 47).result == .warning)
        #expect(check(10, today: 47).message.contains("47 notifications"))
        #expect(check(10, today: 47).message.contains("14 days before is 240"))
        #expect(check(10, today: 48).result == .ok)
        #expect(check(0, today: 0).result == .ok)
    }

    @Test func `a refusal appears with its reason, until it is accepted`() async throws {
        try await TestConsole.run { console in
            let log = console.ledger.log
            let cookie = try await console.session(.operator)
            let payload = Array("{\"id\":\"customer-17\"}".utf8)
            let now = Instant(milliseconds: 1_750_000_000_000)
            for (number, reason) in ["bundle-id-mismatch", "unproven"].enumerated() {
                let original = RejectedPayload.Original(payload + [UInt8(number)])
                try await log.record([
                    RejectedPayload(
                        original,
                        body: payload,
                        reason: reason,
                        message: "of customer-17",
                        source: "test",
                        location: "",
                        standing: number == 0 ? .proven : .unproven,
                        receivedAt: now
                    )
                ])
            }
            let page = try await console.get("/console/operations", cookie: cookie).text
            #expect(page.contains("1 × bundle-id-mismatch"))
            #expect(!page.contains("1 × unproven"), "what strangers send is no warning")
            #expect(page.contains("name=\"reason\" value=\"bundle-id-mismatch\""))
            #expect(page.contains("--bundle-id ID for each app that is yours"))
            #expect(page.contains("<th scope=\"row\">unproven</th>"))
            #expect(!page.contains("customer-17"))

            try await log.markTaken([Digest.of(payload + [0])], at: now)
            let later = try await console.get("/console/operations", cookie: cookie).text
            #expect(!later.contains("1 × bundle-id-mismatch"))
            #expect(later.contains("no refused payload that was proven is open"))
            let counts = try await log.rejectionCounts()
            #expect(counts.map(\.reason) == ["unproven", "bundle-id-mismatch"])
            #expect(counts.map(\.open) == [1, 0] && counts.map(\.taken) == [0, 1])
        }
    }

    @Test func `a button tries refused payloads again, and says what became of them`()
        async throws
    {
        try await TestConsole.run { console in
            let log = console.ledger.log
            let support = try await console.session(.support, named: "support")
            let cookie = try await console.session(.operator, named: "operator")
            let signed = try #require(Array(TestService.simulator.sampleHistory(count: 1)).first)
            let strange = Array("{\"id\":\"customer-17\"}".utf8)
            for payload in [signed.payload, strange] {
                try await log.record([
                    RejectedPayload(
                        RejectedPayload.Original(payload),
                        body: payload,
                        reason: "bundle-id-mismatch",
                        message: "of customer-17",
                        source: "webhook",
                        location: "",
                        standing: .proven,
                        receivedAt: Instant(milliseconds: 1_750_000_000_000)
                    )
                ])
            }
            let path = "/console/operations/refusals"
            let form = "reason=bundle-id-mismatch"
            func send(
                _ cookie: String?,
                from site: String = "same-origin"
            ) async throws -> TestService.Answer {
                try await console.send(
                    .post,
                    path,
                    cookie: cookie,
                    body: form,
                    headers: ["Sec-Fetch-Site": site]
                )
            }
            #expect(try await send(nil).status == 401)
            #expect(try await send(support).status == 403)
            #expect(try await send(cookie, from: "cross-site").status == 403)
            #expect(try await log.heads()[0] == nil, "nothing was tried")

            let answer = try await send(cookie)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.text.contains("2 payloads tried again"))
            #expect(answer.text.contains("1 accepted, with"))
            #expect(answer.text.contains("1 refused again, which stay open"))
            #expect(!answer.text.contains("customer-17"))
            #expect(try await log.heads()[0] != nil)
            let counts = try await log.rejectionCounts()
            #expect(counts.reduce(0) { $0 + $1.taken } == 1)
            // What is left is open under the reason for which it was refused now.
            let again = try await send(cookie)
            #expect(again.status == 409, "\(again.text)")
        }
    }

    @Test func `the poller and late payloads are shown as they were counted`() async throws {
        try await TestConsole.run { console in
            let cookie = try await console.session(.operator)
            let first = try await console.get("/console/operations", cookie: cookie).text
            #expect(first.contains("this process has not asked Apple since its start"))
            var round = AskedRound(reason: "poll")
            round.answers = 3
            round.newEvents = 2
            round.left = 5
            console.console.routes.count(round)
            round.fail("rateLimited")
            console.console.routes.count(round)
            console.console.routes.metrics.countWrong(denied: 120, granted: 60)
            let page = try await console.get("/console/operations", cookie: cookie).text
            #expect(page.contains("2 rounds since the start, 6 answers, 4 new events"))
            #expect(page.contains("5 subscriptions left for the next round"))
            #expect(page.contains("not answered: 1 × rateLimited"))
            #expect(page.contains("access wrongly denied for 2 m, granted for 1 m"))
        }
    }

    @Test func `the sums over the whole log are those of the reports, without customers`()
        async throws
    {
        try await TestConsole.run { console in
            try await console.fill(8)
            let cookie = try await console.session(.operator)
            let ids = try await console.ledger.log.streams(limit: 100).map(\.originalTransactionId)
            for reading in WholeLogReading.allCases {
                let path = "/console/operations?read=\(reading.rawValue)"
                let page = try await console.get(path, cookie: cookie)
                #expect(page.status == 200, "\(path)")
                for id in ids { #expect(!page.text.contains(id), "\(path)") }
            }
            let drift = try await console.ledger.drift(limit: 1)
            let page = try await console.get("/console/operations?read=drift", cookie: cookie).text
            #expect(page.contains("\(drift.agreeing) of \(drift.checked) of Apple"))
            let unknown = try await console.get("/console/operations?read=all", cookie: cookie)
            #expect(unknown.status == 400)
        }
    }
}
