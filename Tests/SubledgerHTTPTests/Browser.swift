import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing

/// A browser that tests steer by WebDriver: Debian's chromium, without a window.
struct Browser: Sendable {
    private let client: TestClient
    private let session: String

    /// Starts the driver and a browser, and ends both.
    static func run(_ body: @escaping @Sendable (Browser) async throws -> Void) async throws {
        let driver = try Program(path: try #require(driverPath, "chromedriver is missing"))
            .start(["--port=0"])
        var port: Int?
        for await line in driver.lines {
            port = line.firstMatch(of: /started successfully on port (\d+)/).flatMap { Int($0.1) }
            if port != nil { break }
        }
        let result: Result<Void, any Error>
        do {
            let found = try #require(port, "chromedriver did not start")
            result = .success(try await run(at: found, body))
        } catch {
            result = .failure(error)
        }
        // It inherits that other signals are left to the service, and ignores them.
        driver.signal(SIGKILL)
        _ = await driver.ending()
        try result.get()
    }

    private static func run(
        at port: Int,
        _ body: @escaping @Sendable (Browser) async throws -> Void
    ) async throws {
        try await TestClient.withClient(port: port) { client in
            let capabilities: [String: Any] = [
                "browserName": "chrome",
                "goog:loggingPrefs": ["browser": "ALL"],
                "goog:chromeOptions": [
                    "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage"]
                ],
            ]
            let started = try await send(
                client,
                .post,
                "/session",
                ["capabilities": ["alwaysMatch": capabilities]]
            )
            let value = try #require(started as? [String: Any])
            let name = try #require(value["sessionId"] as? String)
            let browser = Browser(client: client, session: "/session/" + name)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(browser))
            } catch {
                result = .failure(error)
            }
            // A browser that stays would keep its connections, and with them the service.
            _ = try await send(client, .delete, browser.session, nil)
            try result.get()
        }
    }

    /// Where the driver is; nil if it is not installed.
    static let driverPath = ["/usr/bin/chromedriver", "/usr/lib/chromium/chromedriver"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Opens an address, and waits until the page is complete.
    func open(_ url: String) async throws {
        _ = try await post("/url", ["url": url])
    }

    /// The text that an expression has in the page.
    func text(of expression: String) async throws -> String {
        try #require(try await value(of: expression) as? String, "\(expression)")
    }

    /// The number that an expression has in the page.
    func number(of expression: String) async throws -> Double {
        try #require(try await value(of: expression) as? NSNumber, "\(expression)").doubleValue
    }

    private func value(of expression: String) async throws -> Any? {
        try await post("/execute/sync", ["script": "return \(expression)", "args": []])
    }

    /// Types into the element that a CSS selector names, which may send its form.
    func type(_ text: String, into selector: String) async throws {
        let place = try await element(selector)
        _ = try await post("/element/\(place)/value", ["text": text])
    }

    /// Clicks the element that a CSS selector names.
    func click(_ selector: String) async throws {
        _ = try await post("/element/\(try await element(selector))/click", [:])
    }

    /// Sets the size of the page, in CSS pixels.
    func resize(_ width: Int, _ height: Int) async throws {
        _ = try await devTools(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500]
        )
    }

    /// Lets the page believe that the reader prefers a dark or a light scheme.
    func prefers(dark: Bool) async throws {
        _ = try await devTools(
            "Emulation.setEmulatedMedia",
            [
                "media": "screen",
                "features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]],
            ]
        )
    }

    /// Whether scripts of pages run.
    func runsScripts(_ runs: Bool) async throws {
        _ = try await devTools("Emulation.setScriptExecutionDisabled", ["value": !runs])
    }

    /// What axe, whose text this is, finds in the page: the rule and the element of each breach.
    func breaches(_ checker: String) async throws -> [String] {
        // Not as a script of the page, which its policy refuses.
        _ = try await evaluate(checker)
        let found = try await evaluate(
            """
            axe.run(document, {resultTypes: ['violations']}).then(found => found.violations
                .flatMap(rule => rule.nodes.map(node => rule.id + ': ' + node.html.slice(0, 200))))
            """
        )
        return try #require(found as? [String])
    }

    private func evaluate(_ script: String) async throws -> Any? {
        let answer = try await devTools(
            "Runtime.evaluate",
            ["expression": script, "awaitPromise": true, "returnByValue": true]
        )
        let fields = answer as? [String: Any]
        #expect(fields?["exceptionDetails"] == nil, "\(answer ?? "")")
        return (fields?["result"] as? [String: Any])?["value"]
    }

    /// The number of pages that the page has in print.
    func pageCount() async throws -> Int {
        // A4, in inches.
        let found = try await devTools(
            "Page.printToPDF",
            ["paperWidth": 8.27, "paperHeight": 11.69]
        )
        let text = try #require((found as? [String: Any])?["data"] as? String)
        let document = try #require(Data(base64Encoded: text))
        return String(decoding: document, as: UTF8.self)
            .matches(of: /\/Type ?\/Page\b/).count
    }

    /// The whole page as a PNG.
    func picture() async throws -> Data {
        let found = try await devTools(
            "Page.captureScreenshot",
            ["captureBeyondViewport": true, "format": "png"]
        )
        let text = try #require((found as? [String: Any])?["data"] as? String)
        return try #require(Data(base64Encoded: text))
    }

    /// What the browser complained about since the last call: violations of the policy, above all.
    func complaints() async throws -> [String] {
        let entries = try await post("/se/log", ["type": "browser"]) as? [[String: Any]]
        return (entries ?? []).compactMap { $0["message"] as? String }
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await post("/element", ["using": "css selector", "value": selector])
        return try #require((found as? [String: String])?.values.first, "\(selector)")
    }

    private func devTools(_ command: String, _ parameters: [String: Any]) async throws -> Any? {
        try await post("/goog/cdp/execute", ["cmd": command, "params": parameters])
    }

    private func post(_ path: String, _ body: [String: Any]) async throws -> Any? {
        try await Self.send(client, .post, session + path, body)
    }

    private static func send(
        _ client: TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: [String: Any]?
    ) async throws -> Any? {
        let bytes = try body.map {
            ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: $0))
        }
        let answer = try await client.execute(
            TestClient.Request(
                path,
                method: method,
                headers: [.contentType: "application/json"],
                body: bytes
            )
        )
        let data = Data(Array(buffer: answer.body ?? ByteBuffer()))
        let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        #expect(
            answer.status == .ok,
            "\(path): \(String(decoding: data.prefix(500), as: UTF8.self))"
        )
        return document?["value"]
    }
}
