import Foundation
import Hummingbird
import Subledger
import SubledgerHTTP

/// The server of an app that sells subscriptions.
@main
struct App {
    /// The folds whose tables the app reads: those of the package, and its own.
    static let projections: [any Projection] = .standard + [Trials()]

    static func main() async throws {
        try await Ledger.migrate(.environment)
        let ledger = try await Ledger.open(
            .environment,
            policy: VerificationPolicy(bundleIds: ["com.example.app"]),
            projections: projections
        )
        let port = ProcessInfo.processInfo.environment["PORT"].flatMap { Int($0) } ?? 8080
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await retrying { try await keepTables(of: ledger) } }
            let mail = RefundMail(ledger: ledger, send: printMail)
            group.addTask { try await retrying { try await mail.run() } }
            group.addTask { try await server(ledger, port: port).runService() }
            // The server ends when the process is asked to; then nothing is left to follow.
            try await group.next()
            group.cancelAll()
        }
        await ledger.close()
    }

    // The server goes on while the database, or what sends mail, is away.
    static func retrying(_ work: () async throws -> Void) async throws {
        while !Task.isCancelled {
            do { return try await work() } catch {
                print("\(error)")
                try await Task.sleep(for: .seconds(5))
            }
        }
    }

    /// Builds the tables that are missing or outdated, then keeps all of them up to date until the
    /// task is cancelled.
    static func keepTables(of ledger: Ledger) async throws {
        try await ledger.prepare()
        let process = ProcessInfo.processInfo
        let holder = "\(process.hostName) \(process.processIdentifier)"
        _ = try await ledger.projector.follow(Projector.FollowOptions(holder: holder))
    }

    // In place of a service that sends mail.
    @Sendable static func printMail(to customer: String, key: String) {
        print("To \(customer): your money is on its way. (\(key))")
    }

    static func server(_ ledger: Ledger, port: Int = 8080) -> some ApplicationProtocol {
        // This context gives the routes the client's address, for their limits.
        let router = Router(context: LedgerRequestContext.self)
        // Among them POST /v1/appstore/notifications, the URL for App Store Connect.
        LedgerRoutes(ledger).add(to: router)
        CustomerRoutes(ledger: ledger).add(to: router)
        return Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port))
        )
    }
}
