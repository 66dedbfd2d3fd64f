import Events
import Foundation
import HummingbirdTesting
import Subledger
import TestSupport
import Testing

@testable import SubledgerHTTP

/// The console in a real browser.
@Suite(
    .serialized,
    .enabled { await TestServer.isAvailable },
    .enabled(if: Acceptance.isRunning, "make acceptance runs it")
)
struct BrowserTests {
    /// The pictures of every page, for whoever looks at them.
    private static let pictures = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent(".build/acceptance/console")

    @Test func `a person signs in, searches, follows the links and signs out`() async throws {
        try await Self.run(lives: 12) { console, browser, host in
            try await browser.open(host + console.console.signInPath(for: console.token(.support)))
            try await eventually("the first page is open") {
                try await browser.text(of: "document.title").hasPrefix("Console")
            }
            let stream = try #require(try await console.ledger.log.streams(limit: 5).last)
            let id = stream.originalTransactionId
            try await browser.type("  \(id)\n", into: "input[name=id]")
            try await eventually("the page of the customer is open") {
                try await browser.text(of: "location.search").contains(id)
            }
            let heading = try await browser.text(of: "document.querySelector('h1').innerText")
            #expect(heading.hasPrefix(id))
            #expect(try await browser.pageCount() == 1, "in print")
            try await browser.click(".tables a[href^='/console/events/']")
            #expect(try await browser.text(of: "location.pathname").hasPrefix("/console/events/"))
            try await browser.click("form.out button")
            try await browser.open(host + "/console/customer?id=\(id)")
            let text = try await browser.text(of: "document.body.innerText")
            #expect(text.contains("Sign in to Subledger") && !text.contains(id))
            #expect(try await browser.complaints().filter { !$0.contains("401") } == [])
        }
    }

    @Test(arguments: [true, false])
    func `the verdicts on the page are those of explain at random points`(
        script: Bool
    )
        async throws
    {
        try await Self.run(lives: 60) { console, browser, host in
            try await browser.open(host + console.console.signInPath(for: console.token(.support)))
            try await browser.runsScripts(script)
            let seed = UInt64.random(in: 0...999_999)
            var generator = SeededGenerator(seed: seed)
            var asked = 0
            for stream in try await console.ledger.log.streams(limit: 200) where asked < 200 {
                let subject = SubjectID(stream.originalTransactionId, in: stream.environment)
                let periods = try await console.ledger.periods(of: subject).periods
                guard let first = periods.map(\.validFrom.milliseconds).min(),
                    let last = periods.map(\.validTo.milliseconds).max()
                else { continue }
                for _ in 0..<4 {
                    let at = Int64.random(in: first - 86_400_000...last, using: &generator)
                    asked += 1
                    try await browser.open(
                        "\(host)/console/customer?id=\(stream.originalTransactionId)"
                            + "&environment=\(stream.environment.word)&at=\(at)"
                    )
                    let answer = try await console.ledger.explain(
                        subject,
                        at: Instant(milliseconds: at)
                    )
                    let shown = try await browser.text(
                        of: "document.querySelector('main').outerHTML"
                    )
                    let wanted = [answer.entitled.access, answer.served.access]
                        .map { $0.map { $0 ? "yes" : "no" } ?? "unknown" }
                    let cards = shown.matches(of: /verdict-card (\w+)/).map { String($0.1) }
                    #expect(cards == wanted, "seed \(seed), \(subject.id) at \(at)")
                    let summary = "document.querySelector('.summary').textContent"
                    #expect(try await browser.text(of: summary) == answer.summary, "seed \(seed)")
                }
            }
            #expect(asked == 200)
            #expect(try await browser.complaints() == [])
        }
    }

    @Test func `both sliders lead to the page of their stop, by the keyboard`() async throws {
        try await Self.run(lives: 12) { console, browser, host in
            let token = try await console.token(.support)
            try await browser.open(host + console.console.signInPath(for: token))
            let link = try await console.get(console.console.signInPath(for: token))
            let cookie = try #require(link.cookie)
            let stream = try #require(try await console.ledger.log.streams(limit: 5).last)
            let id = stream.originalTransactionId
            try await browser.open("\(host)/console/customer?id=\(id)&tz=Europe/Berlin")
            for name in ["at", "known-at", "at"] {
                let before = try await browser.text(of: "location.search")
                // Left: the stop before.
                try await browser.type("\u{E012}", into: ".slider:has(+ #\(name)) input")
                try await eventually("the page of the stop is shown") {
                    try await browser.text(of: "location.search") != before
                }
                let search = try await browser.text(of: "location.search")
                #expect(search.contains("\(name)=") && search.contains("tz=Europe"), "\(search)")
                let whole = try await console.get("/console/customer" + search, cookie: cookie)
                let shown = try await browser.text(of: "document.querySelector('main').outerHTML")
                let cards = [whole.text, shown].map {
                    $0.matches(of: /verdict-card (\w+)/).map { String($0.1) }
                }
                #expect(cards[0].count == 2 && cards[0] == cards[1], "\(search)")
                let now = "document.querySelector('.slider:has(+ #\(name)) input').ariaValueText"
                #expect(try await browser.text(of: now).contains(":"), "a time in words")
            }
            #expect(try await browser.complaints() == [])
        }
    }

    @Test func `every page is drawn in both sizes and schemes, without a complaint`()
        async throws
    {
        let folder = Self.pictures
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await Self.run(lives: 12) { console, browser, host in
            _ = try await console.ledger.projector.rebuild()
            let token = try await console.token(.support, .finance, .operator)
            try await browser.open(host + "/console")
            try await Self.draw(browser, "sign-in", folder)
            try await browser.open(host + console.console.signInPath(for: token))
            for (name, path) in try await Self.pages(of: console) {
                try await browser.open(host + path)
                try await Self.draw(browser, name, folder)
            }
            // Only that an unknown customer, and nobody who is not signed in, has a page.
            let complaints = try await browser.complaints()
            #expect(complaints.filter { !$0.contains(/status of 40[14]/) } == [])
        }
    }

    // In both sizes and schemes; nothing is wider than the window, or out of reach of a keyboard or
    // a screen reader.
    private static func draw(_ browser: Browser, _ name: String, _ folder: URL) async throws {
        let checker = try String(
            contentsOfFile: try #require(ProcessInfo.processInfo.environment["SUBLEDGER_AXE"]),
            encoding: .utf8
        )
        for width in [390, 1280] {
            try await browser.resize(width, 900)
            for dark in [false, true] {
                try await browser.prefers(dark: dark)
                let file = folder.appendingPathComponent(
                    "\(name)-\(width)-\(dark ? "dark" : "light").png"
                )
                try await browser.picture().write(to: file)
                #expect(try await browser.breaches(checker) == [], "\(file.lastPathComponent)")
            }
            let widest = try await browser.number(of: "document.documentElement.scrollWidth")
            #expect(widest <= Double(width), "\(name) at \(width) px")
        }
    }

    private static func pages(of console: TestConsole) async throws -> [String: String] {
        let stream = try #require(try await console.ledger.log.streams(limit: 5).last)
        return [
            "home": "/console", "event": "/console/events/1",
            "customer": "/console/customer?id=\(stream.originalTransactionId)",
            "without-event": "/console/events/1/without",
            "unknown": "/console/customer?id=nobody", "reports": "/console/reports",
            "report": "/console/reports/renewals?environment=\(stream.environment.word)",
            "operations": "/console/operations", "tables": "/console/tables",
        ]
    }

    private static func run(
        lives: Int,
        _ body: @escaping @Sendable (TestConsole, Browser, String) async throws -> Void
    ) async throws {
        try await TestConsole.run { console in
            try await console.fill(lives)
            let port = try #require(console.client.port)
            try await Browser.run { browser in
                try await body(console, browser, "http://127.0.0.1:\(port)")
            }
        }
    }
}
