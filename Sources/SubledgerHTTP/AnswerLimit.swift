internal import HTTPTypes
internal import NIOCore

/// Ends work on an answer when its time is over, or when its client is gone.
///
/// The work is cancelled, and so is its statement in the database: the limit frees the connection
/// that a question occupies.
struct AnswerLimit: Sendable {
    /// Seconds that the work may take; 0 for any number.
    let seconds: Double
    /// The client's connection; nil if it is not known.
    var channel: (any Channel)?

    /// Seconds after which to retry: the lock that held up the answer may be gone.
    private static let retrySeconds = 5

    private enum First<Value: Sendable>: Sendable {
        case answered(Value)
        case late
        case gone
        /// The end of the client will not be noticed.
        case unwatched
    }

    /// Runs work.
    ///
    /// - Throws: `Problem` if the work was ended; what the work throws.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: First<Value>.self) { group in
            group.addTask { .answered(try await work()) }
            if seconds > 0 {
                group.addTask {
                    try await Task.sleep(for: .seconds(seconds))
                    return .late
                }
            }
            if let channel {
                group.addTask { await AnswerLimit.watch(channel) }
            }
            defer { group.cancelAll() }
            while let first = try await group.next() {
                switch first {
                case .answered(let value): return value
                case .gone: throw Problem.clientGone
                case .late: throw Problem(answerOver: seconds, retryAfter: Self.retrySeconds)
                case .unwatched: continue
                }
            }
            throw CancellationError()
        }
    }

    // A program of its own may serve the routes without this handler.
    private static func watch<Value>(_ channel: any Channel) async -> First<Value> {
        do {
            let connection = try await channel.pipeline.handler(type: ClientConnection.self).get()
            await connection.end()
            return Task.isCancelled ? .unwatched : .gone
        } catch {
            return .unwatched
        }
    }
}

extension Problem {
    /// The client closed the connection before its answer; nobody reads this.
    static var clientGone: Problem {
        Problem(
            HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request"),
            "client-gone",
            "The client closed the connection before it was answered."
        )
    }

    fileprivate init(answerOver seconds: Double, retryAfter retrySeconds: Int) {
        self.init(
            .serviceUnavailable,
            "answer-timeout",
            "The answer took longer than \(seconds.formatted()) seconds, the limit of this service, "
                + "and was stopped, in the database too. A lock or another heavy question may have "
                + "held it up. Send the request again later."
        )
        retryAfterSeconds = retrySeconds
    }
}

extension Double {
    /// Without decimals if there are none.
    fileprivate func formatted() -> String {
        self == rounded() ? "\(Int64(self))" : "\(self)"
    }
}
