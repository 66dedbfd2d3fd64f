import ArgumentParser
import CommandSupport
import Deliveries
import EventLog
import Events
import Foundation
import Logging
import Projector
import Subledger
import SubledgerHTTP

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve HTTP: receive what Apple sends, and answer your app.",
        discussion: """
            Receives Apple's notifications at /v1/appstore/notifications, transactions and \
            receipts of the app's clients at /v1/transactions and /v1/receipts, and answers \
            questions at /v1/customers/ID/… and /v1/subscriptions/ID/… with the documents that \
            --json prints. /openapi.json describes all routes. A notification is answered with 200 \
            only once it is durable.

            All routes except notifications, /livez, /readyz, /openapi.json and \
            /.well-known/jwks.json need a token: `subledger tokens create NAME --role ROLE`.

            --poll also asks Apple, as `subledger poll` does: at the start for what was missed \
            while no service ran, then every --poll-interval; and POST /v1/customers/ID/refresh \
            asks about one customer at once.

            If the database does not answer at the start, the service waits for it, and logs why once \
            a minute.

            If systemd passes a socket (a unit subledger.socket), the service listens at it instead of \
            --host and --port, and a restart loses no request: those that arrive in between wait in \
            the socket.

            SIGTERM or SIGINT stops the service gracefully: /readyz answers 503, requests in \
            progress are finished, and new ones are not accepted. SIGHUP reads the certificate and \
            the tokens again, unless the service was started in a terminal.
            """
    )

    @Option(help: "The address to listen on; 0.0.0.0 or :: for all. Default: 127.0.0.1.")
    var host: String?

    @Option(help: "The port to listen on; 0 for any free port. Default: 8080.")
    var port: Int?

    @Flag(
        inversion: .prefixedNo,
        help: "Also keep the tables of projections up to date, as `subledger follow` does."
    )
    var follow: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Also serve the console at /console, for browsers.",
            discussion: """
                Sign in with a token of `subledger tokens create`. With --tls-certificate or \
                --trusted-proxy, browsers send the session's cookie over HTTPS only.
                """
        )
    )
    var console: Bool?

    @Flag(inversion: .prefixedNo, help: "Also ask Apple, as `subledger poll` does.")
    var poll: Bool?

    @Option(
        help: ArgumentHelp(
            "Time from one round of questions to the next. Default: 15m.",
            valueName: "duration"
        )
    )
    var pollInterval: String?

    @Option(
        help: ArgumentHelp(
            "Skip what Apple answered about more recently. Default: by urgency, as `poll` does.",
            valueName: "duration"
        )
    )
    var pollPause: String?

    @Option(
        help: ArgumentHelp(
            "Ask about subscriptions that end within this time. Default: 24h.",
            valueName: "duration"
        )
    )
    var pollWithin: String?

    @Option(
        help: ArgumentHelp(
            "Also answer Apple's consumption requests, by this policy. Default: never.",
            discussion: "As `subledger apple consumption --auto --execute --follow` does.",
            valueName: "file"
        )
    )
    var answerConsumption: String?

    @OptionGroup var apple: AppleOptions

    @Option(
        help: ArgumentHelp(
            "Answer 503 if the database takes longer than this to commit. Default: 10.",
            valueName: "seconds"
        )
    )
    var appendSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "Answer 503 to a question that takes longer than this; 0 for no limit. Default: 15.",
            valueName: "seconds"
        )
    )
    var answerSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "When stopped, continue to serve this long while /readyz answers 503. Default: 0.",
            valueName: "seconds"
        )
    )
    var drainSeconds: Double?

    @Option(
        help: ArgumentHelp(
            "A proxy whose X-Forwarded-For names the client; repeat for more. Default: none.",
            discussion: "An address, or a range such as 10.0.0.0/8.",
            valueName: "address"
        )
    )
    var trustedProxy: [String] = []

    @Option(
        help: ArgumentHelp(
            "Store in the ledger for this long who asked about whom. Default: 0, only in the log.",
            valueName: "days"
        )
    )
    var auditDays: Int?

    @Option(help: "The format of log lines on stderr: text or json. Default: text.")
    var logFormat: String?

    @Option(
        help: ArgumentHelp(
            "The lowest level to log. Default: info.",
            discussion: "trace, debug, info, notice, warning, error or critical."
        )
    )
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "Serve HTTPS with this certificate chain (PEM), which is reloaded when it changes.",
            valueName: "file"
        )
    )
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The private key of the certificate (PEM).", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "Sign entitlements with this P-256 key (PEM) for clients that accept application/jwt.",
            discussion: """
                Repeat it for keys that signed before: /.well-known/jwks.json lists all of them, and \
                the first one signs.
                """,
            valueName: "file"
        )
    )
    var signingKey: [String] = []

    @Option(help: SigningKeys.lifetimeHelp)
    var signedFor: String?

    @Option(
        help: ArgumentHelp(
            "Forward what Apple sends, byte for byte, to this URL; repeat for more.",
            discussion: """
                Sandbox=URL forwards only notifications of the sandbox, com.example.app=URL those of \
                one app, com.example.app,Sandbox=URL both. What a receiver does not accept is \
                sent again for three days, then given up. Apple's answer does not wait for the \
                receivers.
                """,
            valueName: "receiver"
        )
    )
    var forward: [String] = []

    @Option(
        help: ArgumentHelp(
            "A JSON file with settings, each named like its flag: {\"logFormat\": \"json\"}.",
            discussion: """
                Flags come first, then environment variables such as SUBLEDGER_SERVE_LOG_FORMAT, \
                then this file. The settings: \
                \(Setting.Command.serve.names.joined(separator: ", ")). \
                rootCertificate, bundleId, environment, trustedProxy, sandboxCustomer, signingKey \
                and forward are lists: ["com.example"] in the file, a,b in a variable.
                """,
            valueName: "file"
        )
    )
    var config: String?

    @Flag(help: "Print every setting and its origin, with secrets masked, and exit.")
    var printConfig = false

    @Flag(help: "Print Prometheus alert rules for the service's metrics, and exit.")
    var printAlerts = false

    @Flag(help: "Print a Grafana dashboard (JSON) for the same metrics, and exit.")
    var printDashboard = false

    @Flag(help: "Print a unit for systemd, which lets the service do only what it needs, and exit.")
    var printUnit = false

    @Option(help: "Print an example configuration of a proxy, nginx or caddy, and exit.")
    var printProxy: Proxy?

    @OptionGroup var trust: TrustOptions
    @OptionGroup var sandbox: SandboxOptions
    @OptionGroup var database: DatabaseOptions

    /// A proxy with an example of its configuration.
    enum Proxy: String, CaseIterable, ExpressibleByArgument {
        case nginx, caddy

        /// The example, with the port of the service.
        func text(port: Int) -> String {
            let example =
                switch self {
                case .nginx: embeddedFile("nginx.conf")
                case .caddy: embeddedFile("Caddyfile")
                }
            return String(decoding: example, as: UTF8.self)
                .replacing("127.0.0.1:8080", with: "127.0.0.1:\(port)")
        }
    }

    func run() async throws {
        if printExample() { return }
        let plan = try await ServePlan(self, ProcessEnvironment.variables)
        if let printProxy {
            Terminal.put(printProxy.text(port: plan.server.port))
            return
        }
        if printConfig {
            Terminal.print(plan.settings.table)
            return
        }
        Allocator.boundFreeMemory()
        let logger = plan.makeLogger()
        do {
            try await serve(plan, logger)
        } catch {
            throw plan.report(error, logger)
        }
    }

    private func serve(_ plan: ServePlan, _ logger: Logger) async throws {
        let credentials = try plan.credentials()
        let signer = try SigningKeys.signer(plan.signingKeys, seconds: plan.signedFor)
        var options = plan.server
        options.tls = try tls(of: plan, logger)
        options.socket = try ServiceManager.listeningSocket(ProcessEnvironment.variables)
        let manager = ServiceManager(ProcessEnvironment.variables)
        manager?.notify(["STATUS=waits for the database"])
        let policy = try plan.trust.policy()
        let ledger = try await plan.open(policy, logger)
        let asking = try await plan.asking(ledger, credentials)
        let announce = plan.announcer(logger)
        for line in try await plan.introduction(ledger, trusting: policy) { announce(line) }
        var limits = plan.limits
        limits.connectionsMax = OpenFiles.room(for: limits.connectionsMax, announce)
        limits.auditDays = plan.auditDays
        let forwarding = plan.forwarding(of: ledger, logger)
        let alerts = AlertWatch(ledger, hasTables: options.follows) { error in
            logger.warning("alerts could not be checked", metadata: ["error": "\(error)"])
        }
        let routes = LedgerRoutes(
            ledger,
            limits: limits,
            sandbox: plan.sandbox,
            signer: signer,
            trustedProxies: plan.trustedProxies,
            logger: logger
        )
        .refreshing(by: asking.map { CustomerRefresh($0.poller, $0.client) })
        .forwarding(by: forwarding.map(\.taking))
        let hasConsole = plan.hasConsole
        if hasConsole {
            let isSecure = options.tls != nil || !plan.trustedProxies.isEmpty
            options.console = ConsoleRoutes(routes, isSecure: isSecure)
        }
        options.others = plan.services(
            of: ledger,
            asking.map { Polling(asking: $0, routes: routes, alerts: alerts, logger: logger) },
            credentials,
            Delivering(
                ledger,
                forwarding: forwarding,
                alerts: alerts,
                routes: routes,
                logger: logger
            ),
            logger
        )
        options.others.append(
            Supervised(manager: manager, routes: routes, tls: options.tls, logger: logger)
        )
        options.onStopping = { manager?.notify(["STOPPING=1", "STATUS=finishes requests"]) }

        let server = LedgerServer(routes, options: options, logger: logger) { url in
            announce("listening at \(url)")
            manager?.notify(["READY=1", "STATUS=listening at \(url)"])
            if hasConsole { announce("the console is at \(url)/console") }
        }
        try await run(server, ledger)
    }

    private func run(_ server: LedgerServer, _ ledger: Ledger) async throws {
        do {
            try await server.run()
        } catch let error as ListeningError {
            await ledger.close()
            throw Failure(Exit.configuration, error.description)
        } catch {
            await ledger.close()
            throw error
        }
        await ledger.close()
    }

    private func tls(of plan: ServePlan, _ logger: Logger) throws -> TLSFiles? {
        guard let files = plan.tlsFiles else { return nil }
        do throws(TLSFilesError) {
            return try TLSFiles(certificate: files.certificate, key: files.key, logger: logger)
        } catch {
            throw Failure(Exit.configuration, error.description)
        }
    }

    // True if one was requested.
    private func printExample() -> Bool {
        if printAlerts {
            Terminal.put(bytes: embeddedFile("alerts.yml"))
        } else if printDashboard {
            Terminal.put(bytes: embeddedFile("dashboard.json"))
        } else if printUnit {
            Terminal.put(bytes: embeddedFile("subledger.service"))
        } else {
            return false
        }
        return true
    }
}
