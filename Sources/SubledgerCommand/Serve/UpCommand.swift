import AppStoreSimulator
import ArgumentParser
import CommandSupport
import EmbeddedPostgres
import EventLog
import Events
import Foundation
import Logging
import Postgres
import Subledger
import SubledgerHTTP

struct UpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Start a ledger with its service and its console, and print a link to it.",
        discussion: """
            Everything on this machine, without an account: a private PostgreSQL server, the \
            schema, the service of `serve`, the tables kept up to date, and the console in your \
            browser. It listens on the loopback address only. The link on stdout signs in once, \
            within an hour; a token of `subledger tokens create` signs in at any time.

            The data is in $SUBLEDGER_HOME, or in .subledger/; other commands in the same folder \
            work with the same ledger. DATABASE_URL is not used. PostgreSQL does not run as root: \
            started by root, it runs as the user postgres or nobody.

            --demo fills a separate database, which is created again each time, from a synthetic \
            App Store: the past at once, and the last months while you look, a day in two \
            seconds, with payloads that arrive late or not at all.

            Ctrl-C stops the service, and PostgreSQL if this command started it and no other \
            program uses it. The data stays.
            """
    )

    @Flag(help: "Fill a separate ledger from a synthetic App Store while you look.")
    var demo = false

    @Option(help: "The port to listen on; 0 for any free port.")
    var port = 8080

    @Option(help: "With --demo: number of subscriptions.")
    var subscriptions = 120

    @Option(help: "With --demo: the seed; the same seed gives the same store.")
    var seed: UInt64 = 1

    @OptionGroup var trust: TrustOptions

    /// The roles that the parts of the console need.
    private static let roles: Set<TokenRole> = [.support, .finance, .operator]

    /// How long the ledger keeps who looked at whom; the demo has no real customers.
    private static let auditDays = 30

    /// Enough for the browsers of one machine, and for what Apple sends.
    private static let connectionsMax = 1_000

    private static let demoDatabaseName = "subledger_up_demo"

    /// Enough for years of a demo, and few enough to hold all payloads in memory.
    private static let subscriptionsMax = 10_000

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port must be a port from 0 to 65535")
        }
        guard (1...UpCommand.subscriptionsMax).contains(subscriptions) else {
            throw ValidationError(
                "--subscriptions must be from 1 to \(UpCommand.subscriptionsMax)"
            )
        }
    }

    func run() async throws {
        // Until the service listens to signals, one ends the start and stops what was started.
        Interrupt.heed()
        let port = port
        try await UpCommand.result {
            try await LedgerServer.checkAddress(host: LedgerServer.Options().host, port: port)
        }.get()
        let server = Ledger.Database.embeddedServer
        var wasRunning = false
        if case .running = try await server.status() { wasRunning = true }
        var settings = try await server.start()
        settings.applicationName = "subledger up \(ProcessInfo.processInfo.processIdentifier)"
        let folder = try await server.dataFolder() ?? ""
        Terminal.write("up: PostgreSQL runs with its data in \(folder)")
        if Ledger.Database.environment.privateHome == nil {
            Terminal.write("up: the database that the environment names is not used")
        }
        let used = settings
        let result = await UpCommand.result { try await serve(used) }
        let isUsed = try await PrivateServer.isUsedByOthers(used)
        if isUsed || wasRunning {
            let why = isUsed ? "another program uses it" : "it ran before this command"
            Terminal.write(
                "up: PostgreSQL goes on, because \(why); `subledger database stop` stops it"
            )
        } else {
            try await server.stop()
        }
        try result.get()
        let next = "the next `up --demo` creates its store again"
        Terminal.write("up: stopped; " + (demo ? next : "the data stays in \(folder)"))
    }

    private func serve(_ settings: ConnectionSettings) async throws {
        let logger = Logger(label: "subledger") { _ in
            LineLogHandler(.text, level: .notice) { Terminal.write($0) }
        }
        Allocator.boundFreeMemory()
        let clock = DemoClock()
        let simulator = AppStoreSimulator(seed: seed)
        if demo { Terminal.write("up: filling the store; its link follows") }
        let ledger = try await open(settings, simulator, clock)
        // Its text never leaves this process, and its name appears in the audit.
        let token = AccessToken.random(named: "up-\(UUID().uuidString.lowercased())")
        _ = try await ledger.log.add(token, UpCommand.roles)

        var limits = ServiceLimits()
        if !demo { limits.auditDays = UpCommand.auditDays }
        limits.connectionsMax = UpCommand.connectionsMax
        limits.connectionsMax = OpenFiles.room(for: limits.connectionsMax) {
            Terminal.write("up: \($0)")
        }
        let isDemo = demo
        let now: @Sendable () -> Instant = { isDemo ? clock.now : .systemClock() }
        let routes = LedgerRoutes(ledger, limits: limits, logger: logger, clock: now)
        let console = ConsoleRoutes(routes, note: demo ? UpCommand.note : nil)
        var options = LedgerServer.Options()
        (options.port, options.follows, options.console) = (port, true, console)
        if demo {
            let deliveries = DemoDeliveries(
                of: simulator,
                subscriptions: subscriptions,
                clock: clock
            )
            clock.set(deliveries.start)
            // Before the tables are built, so that they use it.
            try await DemoLedger.importCatalog(into: ledger, at: deliveries.start)
            options.others = [
                DemoStream(routes: routes, deliveries: deliveries, logger: logger)
            ]
        }
        let service = LedgerServer(routes, options: options, logger: logger) { url in
            Terminal.write("up: listening at \(url); Ctrl-C stops it")
            Terminal.write("up: open this link in a browser; it signs in once, within an hour:")
            Terminal.print(url + console.signInPath(for: token))
            if demo {
                let address = ledger.log.settings.fullConnectionString
                Terminal.write(
                    "up: other commands reach this store with --database-url \"\(address)\""
                )
            }
        }
        let result = await UpCommand.result {
            if !Interrupt.isRequested { try await service.run() }
        }
        _ = try await ledger.log.revokeToken(named: token.name)
        await ledger.close()
        try result.get()
    }

    // What follows has to be done in any case.
    private static func result(
        of work: () async throws -> Void
    ) async -> Result<Void, any Error> {
        do {
            return .success(try await work())
        } catch let error as ListeningError {
            return .failure(Failure(Exit.configuration, error.description))
        } catch {
            return .failure(error)
        }
    }

    private static let note =
        "A simulated App Store. Its time passes at a day in two seconds until it reaches the "
        + "present; nothing here was bought by anyone."

    private func open(
        _ settings: ConnectionSettings,
        _ simulator: AppStoreSimulator,
        _ clock: DemoClock
    ) async throws -> Ledger {
        guard demo else {
            _ = try await Migrator.migrate(settings)
            return try await Ledger.open(
                settings,
                policy: try trust.policy(),
                options: try DatabaseOptions.logOptions()
            )
        }
        let isUsed = try await PostgresSession.using(settings) { session in
            let others = "SELECT FROM pg_stat_activity WHERE datname = $1 LIMIT 1"
            return try await !session.query(others, [.text(UpCommand.demoDatabaseName)]).isEmpty
        }
        guard !isUsed else {
            throw Failure(
                Exit.configuration,
                "another `up --demo` uses the database \(UpCommand.demoDatabaseName); stop it first, "
                    + "or set SUBLEDGER_HOME to another folder"
            )
        }
        let scratch = ScratchDatabase(server: settings, name: UpCommand.demoDatabaseName)
        try await scratch.make()
        return try await DemoLedger.open(scratch.settings, simulator, clock)
    }
}
