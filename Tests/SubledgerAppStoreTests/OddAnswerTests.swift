import Events
import Foundation
import Hummingbird
import NIOCore
@testable import SubledgerAppStore
import Synchronization
import Testing

/// Answers that no App Store should give: each ends in a clear error, in bounded time and memory.
@Suite struct OddAnswerTests {
    private func error(
        _ question: ServerRequest = .transactionHistory("1"),
        _ limits: ServerLimits = .brisk,
        _ answer: @escaping @Sendable (Int, Request) async throws -> Response
    ) async throws -> (error: ServerError, pages: Int) {
        let pages = OddServer.Counter()
        let thrown = OddServer.Kept<ServerError>()
        try await OddServer.run(answer) { url, _ in
            try await AppStoreServerClient.with(try anyCredentials(), url: url, limits) { client in
                thrown.keep(
                    try await serverError {
                        _ = try await client.forEachPage(of: question, in: .production) { _ in
                            _ = pages.next()
                        }
                    }
                )
            }
        }
        return (try #require(thrown.value), pages.value)
    }

    @Test(arguments: [
        "", "[", "[]", "null", #"{"signedTransactions":["#, #"{"signedTransactions":{}}"#,
        #"{"signedTransactions":[1],"revision":"a","hasMore":false}"#,
        #"{"signedTransactions":[],"revision":7,"hasMore":false}"#,
        #"{"signedTransactions":[],"revision":"a","hasMore":"yes"}"#,
        #"{"signedTransactions":[],"hasMore":true}"#, #"{"hasMore":false}"#,
        "<html>Service Unavailable</html>",
    ])
    func `what is cut off or of other types is not taken`(_ text: String) async throws {
        let (error, pages) = try await error { _, _ in OddServer.json(text) }
        #expect(error.code == .answerUnreadable && pages == 0)
        #expect(error.message.contains("/inApps/v2/history/1"))
    }

    @Test func `pages that go round in a circle end`() async throws {
        let (error, pages) = try await error { number, _ in
            OddServer.json(
                #"{"signedTransactions":[],"revision":"\#(number % 3)","hasMore":true}"#
            )
        }
        #expect(error.code == .answerUnreadable && pages == 4)
        #expect(error.message.contains("circle"))
    }

    @Test func `pages without an end are left after the most there can be`() async throws {
        var limits = ServerLimits.brisk
        limits.pagesMax = 7
        let (error, pages) = try await error(.transactionHistory("1"), limits) { number, _ in
            OddServer.json(#"{"signedTransactions":[],"revision":"\#(number)","hasMore":true}"#)
        }
        #expect(error.code == .answerTooLarge && pages == 7)
    }

    @Test func `a body without an end is not read to its end`() async throws {
        let (error, _) = try await error { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    let piece = ByteBuffer(repeating: UInt8(ascii: " "), count: 1 << 16)
                    for _ in 0..<100_000 { try await writer.write(piece) }
                    try await writer.finish(nil)
                }
            )
        }
        #expect(error.code == .answerTooLarge)
    }

    @Test func `an answer that drips is not waited for, however steadily it does`() async throws {
        var limits = ServerLimits.brisk
        (limits.attemptsMax, limits.answerSecondsMax) = (1, 2)
        // It would take ten seconds.
        let (error, _) = try await error(.transactionHistory("1"), limits) { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    for _ in 0..<100 {
                        try await writer.write(ByteBuffer(string: " "))
                        try await Task.sleep(for: .milliseconds(100))
                    }
                    try await writer.finish(nil)
                }
            )
        }
        #expect(error.code == .timedOut)
    }

    @Test func `silence in the middle of an answer is not waited for`() async throws {
        var limits = ServerLimits.brisk
        (limits.attemptsMax, limits.silenceSecondsMax, limits.answerSecondsMax) = (2, 0.2, 30)
        let (error, _) = try await error(.transactionHistory("1"), limits) { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    try await writer.write(ByteBuffer(string: "{"))
                    try await Task.sleep(for: .seconds(3))
                    try await writer.finish(nil)
                }
            )
        }
        #expect(error.code == .timedOut)
    }

    @Test func `a redirect takes no token elsewhere`() async throws {
        let (error, _) = try await error { number, _ in
            #expect(number == 1)
            return OddServer.json(
                "",
                status: .found,
                headers: [.location: "/elsewhere"]
            )
        }
        #expect(error.code == .refused)
    }

    @Test func `nobody listening is no answer, after all attempts`() async throws {
        try await AppStoreServerClient.with(try anyCredentials(), url: "http://127.0.0.1:9") {
            client in
            let error = try await serverError {
                _ = try await client.answer(to: .transaction("1"), in: .production)
            }
            #expect([.unavailable, .timedOut].contains(error.code) && error.isRetryable)
        }
    }
}

extension OddServer {
    /// A value that another task sets.
    final class Kept<Value: Sendable>: Sendable {
        private let kept = Mutex<Value?>(nil)

        var value: Value? { kept.withLock { $0 } }

        func keep(_ value: Value) { kept.withLock { $0 = value } }
    }
}
