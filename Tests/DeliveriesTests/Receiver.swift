import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// A server that receives messages, and behaves as a test wants.
final class Receiver: Sendable {
    /// A request that arrived.
    struct Request: Sendable {
        let path: String
        let headers: [String: String]
        let body: [UInt8]

        /// The header `webhook-id`.
        var id: String { headers["webhook-id"] ?? "" }

        /// A member of the document of the effect.
        func member(_ name: String) -> String {
            let document = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            let data = document?["data"] as? [String: Any]
            return data?[name].map { "\($0)" } ?? ""
        }
    }

    /// What it answers to a request; nil if it does not answer at all.
    typealias Behaviour = @Sendable (Request, _ count: Int) async -> Int?

    private let requests = Mutex<[(request: Request, status: Int?)]>([])
    private let behaviour = Mutex<Behaviour>({ _, _ in 200 })
    private let port = Mutex(0)

    /// Its URL.
    var url: String { "http://127.0.0.1:\(port.withLock { $0 })/hook" }

    /// The requests that were accepted, in the order of their answers.
    var accepted: [Request] {
        requests.withLock { $0.filter { ($0.status ?? 0) == 200 }.map(\.request) }
    }

    /// All requests.
    var all: [Request] { requests.withLock { $0.map(\.request) } }

    /// Changes what it does.
    func behave(_ behaviour: @escaping Behaviour) {
        self.behaviour.withLock { $0 = behaviour }
    }

    /// Refuses every n-th message with 503 when it comes for the first time.
    func refuseOnce(every count: Int) {
        behave { [self] request, number in
            let isNew = !all.contains { $0.id == request.id }
            return isNew && number % count == count - 1 ? 503 : 200
        }
    }

    /// Runs a body while it receives.
    static func with(_ body: @Sendable (Receiver) async throws -> Void) async throws {
        let receiver = Receiver()
        let router = Router()
        router.post("**") { request, _ in
            let buffer = try await request.body.collect(upTo: 1 << 20)
            var headers: [String: String] = [:]
            for field in request.headers { headers[field.name.canonicalName] = field.value }
            let taken = Request(
                path: request.uri.path,
                headers: headers,
                body: Array(buffer.readableBytesView)
            )
            let count = receiver.requests.withLock { $0.count }
            let behaviour = receiver.behaviour.withLock { $0 }
            let status = await behaviour(taken, count)
            receiver.requests.withLock { $0.append((taken, status)) }
            guard let status else {
                try await Task.sleep(for: .seconds(3600))
                return Response(status: .ok)
            }
            var response = Response(status: HTTPResponse.Status(code: status))
            if (300..<400).contains(status) { response.headers[.location] = receiver.url }
            return response
        }
        var logger = Logger(label: "receiver")
        logger.logLevel = .critical
        let (started, start) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { start.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await application.run() }
            for await port in started {
                receiver.port.withLock { $0 = port }
                break
            }
            try await body(receiver)
            group.cancelAll()
        }
    }
}
