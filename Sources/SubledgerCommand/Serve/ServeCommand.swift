public import ArgumentParser
import CommandSupport
import EventLog
import Foundation
import HTTPService
import Hummingbird
public import Logging
import NIOCore
import Postgres
import Projector
import ServiceLifecycle
import Subledger

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Receive what Apple sends, and answer the app, over HTTP.",
        discussion: """
            Takes Apple's notifications at /v1/appstore/notifications, transactions and receipts of \
            the app's clients at /v1/transactions and /v1/receipts, and answers questions at \
            /v1/customers/ID/… and /v1/subscriptions/ID/… with the documents that --json prints. \
            /openapi.json describes them all. A notification is answered with 200 when it is \
            durable.

            All but notifications and /livez, /readyz, /openapi.json need a token: \
            `subledger tokens create NAME --role ROLE`.

            SIGTERM or SIGINT ends it gracefully: /readyz turns 503, requests that are under way are \
            finished, new ones are not accepted.
            """
    )

    @Option(help: "The address to listen at; 0.0.0.0 or :: for all.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen at.")
    var port = 8080

    @Flag(help: "Also keep the tables of projections up to date, as `subledger follow` does.")
    var follow = false

    @Option(help: "How log lines are written on stderr: text or json.")
    var logFormat: LogFormat = .text

    @Option(help: "The least level that is logged: trace, debug, info, notice, warning, error.")
    var logLevel: Logger.Level = .info

    @OptionGroup var trust: TrustOptions
    @OptionGroup var database: DatabaseOptions

    enum LogFormat: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port is \(port); expected 0 to 65535, 0 for any that is free")
        }
    }

    func run() async throws {
        let settings = try await database.settings()
        let ledger = try await Ledger.open(
            settings,
            policy: try trust.policy(),
            options: try DatabaseOptions.logOptions()
        )
        let logger = makeLogger()
        let routes = LedgerRoutes(ledger)
        let router = Router()
        routes.add(to: router)
        var application = Application(
            router: router,
            server: LedgerServer.http(limits: routes.limits),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                serverName: "subledger"
            ),
            onServerRunning: { channel in
                guard let address = channel.localAddress else { return }
                Terminal.write("serve: listening at \(address.url)")
            },
            logger: logger
        )
        application.addServices(DrainService(routes: routes))
        if follow {
            application.addServices(FollowService(ledger: ledger, settings: settings, logger))
        }
        do {
            try await application.runService()
        } catch {
            await ledger.close()
            throw error
        }
        await ledger.close()
    }

    private func makeLogger() -> Logger {
        let (level, format) = (logLevel, logFormat)
        return Logger(label: "subledger") { label in
            switch format {
            case .json: JSONLogHandler(label: label, level: level) { Terminal.write($0) }
            case .text: TextLogHandler(level: level) { Terminal.write($0) }
            }
        }
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

extension SocketAddress {
    fileprivate var url: String {
        switch self {
        case .v6: "http://[\(ipAddress ?? "")]:\(port ?? 0)"
        default: "http://\(ipAddress ?? ""):\(port ?? 0)"
        }
    }
}

/// Says that no requests should come any more, as soon as the program is asked to stop.
private struct DrainService: Service {
    let routes: LedgerRoutes

    func run() async throws {
        try await gracefulShutdown()
        routes.drain()
    }
}

/// Brings every commit into the tables, until the program is asked to stop.
private struct FollowService: Service {
    private let ledger: Ledger
    private let settings: ConnectionSettings
    private let logger: Logger

    init(ledger: Ledger, settings: ConnectionSettings, _ logger: Logger) {
        self.ledger = ledger
        self.settings = settings
        self.logger = logger
    }

    func run() async throws {
        let holder =
            "\(ProcessInfo.processInfo.hostName) \(ProcessInfo.processInfo.processIdentifier) "
            + UUID().uuidString
        var options = Projector.FollowOptions(holder: holder)
        let isStopped = ManagedStop()
        options.isStopped = { isStopped.isRequested }
        options.notice = { [logger] in logger.warning("\($0)") }
        let projector = ledger.projector
        try await withGracefulShutdownHandler {
            do throws(ProjectorError) {
                _ = try await projector.follow(options)
            } catch  where error.code == .nothingLive {
                logger.notice("there are no tables yet; they are made now")
                _ = try await projector.rebuild()
                _ = try await projector.follow(options)
            }
        } onGracefulShutdown: {
            isStopped.request()
        }
    }
}
