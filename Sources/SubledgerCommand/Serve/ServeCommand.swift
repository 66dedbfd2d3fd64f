public import ArgumentParser
import CommandSupport
import EventLog
import Foundation
import HTTPService
public import Logging
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

            SIGTERM or SIGINT ends it gracefully: /readyz turns 503, requests under way are \
            finished, new ones are not accepted.
            """
    )

    @Option(help: "The address to listen at; 0.0.0.0 or :: for all.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen at.")
    var port = 8080

    @Flag(help: "Also keep the tables of projections up to date, as `subledger follow` does.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "Answer 503 if the database takes longer than this to commit. Default: 10.",
            valueName: "seconds"
        )
    )
    var appendSeconds = 10.0

    @Option(
        help: ArgumentHelp(
            "When stopped, go on serving for so long while /readyz answers 503. Default: 0.",
            valueName: "seconds"
        )
    )
    var drainSeconds = 0.0

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
        guard (1...86_400).contains(appendSeconds) else {
            throw ValidationError("--append-seconds is \(appendSeconds); expected 1 to 86400")
        }
        guard (0...3600).contains(drainSeconds) else {
            throw ValidationError("--drain-seconds is \(drainSeconds); expected 0 to 3600")
        }
    }

    func run() async throws {
        var logOptions = try DatabaseOptions.logOptions()
        logOptions.appendSecondsMax = appendSeconds
        let ledger = try await Ledger.open(
            try await database.settings(),
            policy: try trust.policy(),
            options: logOptions
        )
        var options = LedgerServer.Options()
        options.host = host
        options.port = port
        options.drainSeconds = drainSeconds
        options.follows = follow
        let server = LedgerServer(
            LedgerRoutes(ledger),
            options: options,
            logger: makeLogger()
        ) { url in
            Terminal.write("serve: listening at \(url)")
        }
        do {
            try await server.run()
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
