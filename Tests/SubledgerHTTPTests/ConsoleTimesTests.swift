import EventLog
import Events
import Foundation
import HTTPTypes
import HummingbirdTesting
import Projections
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

/// The two lists of times of a customer's page, the page at each of them, and the page without an
/// event.
@Suite(.enabled { await TestServer.isAvailable })
struct ConsoleTimesTests {
    @Test func `the stops are the times of the periods, of the events and of the commits`()
        async throws
    {
        try await TestConsole.run { console in
            try await console.fill(8)
            let cookie = try await console.session(.support)
            var stopCount = 0
            for stream in try await console.subscriptions() {
                let page = try await console.customer(stream, cookie: cookie)
                var (changes, commits) = (Set<Int64>(), Set<Int64>())
                for own in try await console.streams(of: stream) {
                    let history = try await console.ledger.log.recordedHistory(of: own)
                    for period in try await console.periods(of: history)
                    where period.validFrom < period.validTo {
                        changes.formUnion([
                            period.validFrom.milliseconds, period.validTo.milliseconds,
                        ])
                    }
                    changes.formUnion(history.events.map(\.fact.effective.milliseconds))
                    commits.formUnion(history.instants.map(\.milliseconds))
                }
                #expect(page.stops("at") == changes.sorted(), "\(stream)")
                #expect(page.stops("known-at") == commits.sorted(), "\(stream)")
                stopCount += commits.count
            }
            #expect(stopCount > 20)
        }
    }

    @Test func `the marked stops are the last ones at the times of the page`() async throws {
        try await TestConsole.run { console in
            try await console.fill(4)
            let cookie = try await console.session(.support)
            let stream = try #require(try await console.subscriptions().first)
            let newest = try await console.customer(stream, cookie: cookie)
            let (changes, commits) = (newest.stops("at"), newest.stops("known-at"))
            #expect(newest.currentStop("known-at") == commits.last)
            for (at, known) in zip(changes.dropFirst(), commits.dropFirst()) {
                let page = try await console.customer(
                    stream,
                    "&at=\(at + 1)&known-at=\(known + 1)",
                    cookie: cookie
                )
                // What was recorded later is listed, too: it leads back to it.
                #expect(page.stops("at") == changes && page.stops("known-at") == commits)
                #expect(page.currentStop("at") == at)
                #expect(page.currentStop("known-at") == known)
            }
        }
    }

    @Test func `the page at each commit is what explain answers with that knowledge`()
        async throws
    {
        try await TestConsole.run { console in
            try await console.fill(6)
            let cookie = try await console.session(.support)
            var verdicts: Set<String> = []
            for stream in try await console.subscriptions().prefix(3) {
                let subject = SubjectID(stream.originalTransactionId, in: stream.environment)
                let history = try await console.ledger.log.recordedHistory(of: stream)
                let periods = try await console.ledger.periods(of: subject).periods
                guard let period = periods.last else { continue }
                let at = Instant(milliseconds: period.validTo.milliseconds - 1000)
                let page = try await console.customer(
                    stream,
                    "&at=\(at.milliseconds)",
                    cookie: cookie
                )
                for address in page.addresses("known-at") {
                    let known = Instant(milliseconds: try #require(address.time("known-at")))
                    let shown = try await console.get(address, cookie: cookie)
                    let answer = try await console.ledger.explain(
                        subject,
                        at: at,
                        knownAt: .time(known)
                    )
                    #expect(shown.verdicts == answer.verdicts, "\(address)")
                    #expect(shown.text.contains(HTML("\(answer.summary)").text), "\(address)")
                    verdicts.formUnion(shown.verdicts)
                    // The same knowledge by position, where the commit recorded events.
                    guard history.events.contains(where: { $0.recordedAt == known }),
                        let commit = try await console.ledger.log.newestCommit(
                            lane: 0,
                            knownAt: .time(known)
                        )
                    else { continue }
                    let positioned = try await console.ledger.explain(
                        subject,
                        at: at,
                        knownAt: .offsets([0: commit.offset])
                    )
                    #expect(shown.verdicts == positioned.verdicts, "\(address)")
                }
            }
            #expect(verdicts.isSuperset(of: ["yes", "no"]))
        }
    }

    @Test func `without an event, the answer is that of a fold without it`() async throws {
        try await TestConsole.run { console in
            try await console.fill(8)
            let cookie = try await console.session(.support)
            var (decisive, others) = (0, 0)
            for stream in try await console.subscriptions()
            where try await console.streams(of: stream).count == 1 {
                let history = try await console.ledger.log.recordedHistory(of: stream)
                guard let period = ActivePeriods(Timeline(history.latest)).active.first else {
                    continue
                }
                let at = Instant(milliseconds: period.upperBound.milliseconds - 1000)
                for event in history.events
                where [.transaction, .renewal, .notification].contains(event.fact.kind) {
                    let rest = Timeline(history.latest.without(event.position))
                    let hasAccess = ActivePeriods(rest).active.contains { $0.contains(at) }
                    let page = try await console.get(
                        "/console/events/\(event.position)/without?at=\(at.milliseconds)",
                        cookie: cookie
                    )
                    #expect(page.verdicts == ["yes", hasAccess ? "yes" : "no"])
                    let words = hasAccess ? "would be the same" : "would be the opposite: no access"
                    #expect(page.text.contains(words), "\(event.position)")
                    if hasAccess { others += 1 } else { decisive += 1 }
                }
            }
            #expect(decisive > 0 && others > 0)
        }
    }

    @Test func `an event that was not recorded yet, and a link, cannot be missing`() async throws {
        try await TestConsole.run { console in
            try await console.fill(1)
            let cookie = try await console.session(.support)
            let stream = try #require(try await console.subscriptions().first)
            let history = try await console.ledger.log.recordedHistory(of: stream)
            let last = try #require(history.events.last)
            let page = try await console.get(
                "/console/events/\(last.position)/without?known-at=1",
                cookie: cookie
            )
            let notThere = "is not among what this answer was calculated from"
            #expect(last.position.offset > 1 && page.text.contains(notThere))
            let outcome = try await console.ledger.add(
                CustomerLink(
                    stream: stream,
                    customer: "anna",
                    statedBy: "test",
                    reason: "",
                    statedAt: console.clock.now
                ),
                receivedAt: console.clock.now
            )
            guard case .appended(let positions) = outcome, let link = positions.last else {
                Issue.record("\(outcome)")
                return
            }
            for (position, isOffered) in [(last.position, true), (link, false)] {
                let address = "/console/events/\(position)"
                let event = try await console.get(address, cookie: cookie)
                #expect(event.text.contains("\(address)/without") == isOffered)
                let page = try await console.get("\(address)/without", cookie: cookie)
                #expect(page.status == (isOffered ? 200 : 400))
            }
        }
    }

    @Test func `the script is served as a file of its own`() async throws {
        try await TestConsole.run { console in
            let answer = try await console.get("/console/console.js")
            #expect(answer.status == 200)
            #expect(answer.headers[.contentType] == "text/javascript; charset=utf-8")
            #expect(answer.text.contains("new DOMParser()"))
        }
    }

    @Test func `a page that waits learns of new events, up to a number of pages`() async throws {
        var limits = ServiceLimits()
        limits.liveStreamsMax = 1
        // Longer than this test: only the end of the browser ends the stream.
        limits.liveSecondsMax = 3600
        try await TestConsole.run(limits: limits) { console in
            try await console.fill(1)
            let cookie = try await console.session(.support)
            func head() async throws -> Int64? { try await console.ledger.log.heads()[0]?.offset }
            let connection = try RawConnection(port: try #require(console.client.port))
            connection.write(
                "GET /console/live HTTP/1.1\r\nHost: localhost\r\n"
                    + "Cookie: \(cookie)\r\n\r\n"
            )
            #expect(await connection.nextEnd() == (try await head()))
            #expect(try await console.send(.head, "/console/live", cookie: cookie).status == 503)
            try await console.fill(2)
            let newest = try await head()
            // Ends in between may have been sent while the ledger was filled.
            var seen = await connection.nextEnd()
            while seen != nil, seen != newest { seen = await connection.nextEnd() }
            #expect(seen == newest)
            connection.end()
            // The number goes down once the service has noticed that the browser is gone.
            try await eventually("the place is free again") {
                try await console.send(.head, "/console/live", cookie: cookie).status == 200
            }
            #expect(try await console.send(.head, "/console/live").status == 401)
        }
    }
}

extension TestConsole {
    /// The subscriptions with periods; a one-time purchase has none.
    fileprivate func subscriptions() async throws -> [StreamID] {
        var found: [StreamID] = []
        for summary in try await ledger.log.streams(limit: 100) {
            let stream = StreamID(
                environment: summary.environment,
                originalTransactionId: summary.originalTransactionId
            )
            let history = try await ledger.log.history(of: stream)
            if !ActivePeriods(Timeline(history)).rows.isEmpty { found.append(stream) }
        }
        return found
    }

    /// The periods of a subscription; none for a one-time purchase.
    fileprivate func periods(of history: RecordedHistory) async throws -> [ActivePeriod] {
        guard !Timeline(history.latest).purchases.isEmpty else { return [] }
        let (id, environment) = (history.stream.originalTransactionId, history.stream.environment)
        return try await ledger.periods(of: SubjectID(id, in: environment, alone: true)).periods
    }

    /// All streams of the customer of a subscription.
    fileprivate func streams(of stream: StreamID) async throws -> Set<StreamID> {
        let customer = try await ledger.customer(
            SubjectID(stream.originalTransactionId, in: stream.environment)
        )
        let ids = customer.streams.map(\.originalTransactionId)
        return Set(
            (ids + [stream.originalTransactionId]).map {
                StreamID(environment: stream.environment, originalTransactionId: $0)
            }
        )
    }

    /// The page of a subscription's customer, with further fields of its address.
    fileprivate func customer(
        _ stream: StreamID,
        _ fields: String = "",
        cookie: String
    ) async throws -> TestService.Answer {
        let page = try await get(
            "/console/customer?id=\(stream.originalTransactionId)"
                + "&environment=\(stream.environment.word)\(fields)",
            cookie: cookie
        )
        #expect(page.status == 200, "\(page.text.prefix(2000))")
        return page
    }
}

extension TestService.Answer {
    /// The words of the verdicts, in their order.
    fileprivate var verdicts: [String] {
        text.matches(of: /verdict-card (\w+)/).map { String($0.1) }
    }

    /// The addresses in one of the lists of times.
    fileprivate func addresses(_ name: String) -> [String] {
        list(name).matches(of: /<li><a href="([^"]*)"/).map {
            String($0.1).replacing("&amp;", with: "&")
        }
    }

    /// The times in it.
    fileprivate func stops(_ name: String) -> [Int64] {
        addresses(name).compactMap { $0.time(name) }
    }

    /// The time that is marked in it.
    fileprivate func currentStop(_ name: String) -> Int64? {
        list(name).firstMatch(of: /<li><a href="([^"]*)" aria-current/).flatMap {
            String($0.1).replacing("&amp;", with: "&").time(name)
        }
    }

    private func list(_ name: String) -> Substring {
        let parts = text.split(separator: "<details id=\"\(name)\">", maxSplits: 1)
        return parts.count == 2
            ? parts[1].prefix(
                upTo: parts[1].firstRange(of: "</details>")?
                    .lowerBound ?? parts[1].startIndex
            ) : ""
    }
}

extension String {
    /// The milliseconds in a field of an address.
    fileprivate func time(_ name: String) -> Int64? {
        split(whereSeparator: { "?&".contains($0) }).first { $0.hasPrefix("\(name)=") }
            .flatMap { Int64($0.dropFirst(name.count + 1)) }
    }
}

extension ExplanationDocument {
    /// Both verdicts as the page writes them.
    fileprivate var verdicts: [String] {
        [entitled.access, served.access].map { access in
            access.map { $0 ? "yes" : "no" } ?? "unknown"
        }
    }
}

extension RawConnection {
    /// The end of the log in the next event of a stream; nil if the connection ends before.
    fileprivate func nextEnd() async -> Int64? {
        while true {
            let line = await firstLine()
            guard !line.isEmpty else { return nil }
            if let found = line.firstMatch(of: /data: (\d+)/) { return Int64(found.1) }
        }
    }
}
