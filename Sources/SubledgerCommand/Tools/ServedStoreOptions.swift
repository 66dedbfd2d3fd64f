import AppStoreSimulator
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Logging
import SimulatedStoreService
import SubledgerHTTP

/// `simulate --serve`: the behaviour of the store, and its simulated failures.
struct ServedStoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Serve the store over HTTP at this port instead of writing payloads; 0 for any.",
            valueName: "port"
        )
    )
    var serve: Int?

    @Option(help: "With --serve: send notifications to this URL.")
    var notify: String?

    @Option(help: "With --serve: the share of notifications that never arrive, 0 to 1.")
    var lose = 0.0

    @Option(
        name: .customLong("repeat"),
        help: "With --serve: the share of notifications that arrive twice, 0 to 1."
    )
    var repeated = 0.0

    @Option(help: "With --serve: the share of notifications that arrive up to two hours late.")
    var delay = 0.0

    @Option(help: "With --serve: the share of requests that get a retryable error.")
    var fail = 0.0

    @Option(
        help: ArgumentHelp(
            "With --serve: how much of Apple's rate limits the store allows. Default: 1.",
            valueName: "share"
        )
    )
    var rate = 1.0

    @Option(
        help: ArgumentHelp(
            "With --serve: the length of a month, 30s to 30d, as in Apple's sandbox: 5m.",
            discussion: """
                All else is shortened alike. Every subscription begins within the first month. \
                Without it the store has the months and dates of the simulated lives.
                """,
            valueName: "duration"
        ),
        transform: Clock.milliseconds
    )
    var month: Int64?

    @Option(
        help: ArgumentHelp(
            "With --month: how long ago the store opened. Default: now.",
            valueName: "duration"
        ),
        transform: Clock.milliseconds
    )
    var elapsed: Int64?

    @Option(
        help: ArgumentHelp(
            "With --serve: subscriptions of the sandbox, with ids of their own. Default: 0.",
            valueName: "count"
        )
    )
    var sandboxSubscriptions = 0

    private var areDefaults: Bool {
        notify == nil && lose == 0 && repeated == 0 && delay == 0 && fail == 0 && rate == 1
            && month == nil && elapsed == nil && sandboxSubscriptions == 0
    }

    func validate() throws {
        guard let serve else {
            guard areDefaults else {
                throw ValidationError(
                    "--notify, --lose, --repeat, --delay, --fail, --rate, --month, --elapsed and "
                        + "--sandbox-subscriptions need --serve PORT"
                )
            }
            return
        }

        guard (0...65_535).contains(serve) else {
            throw ValidationError("--serve must be a port from 0 to 65535")
        }
        for (name, share) in [
            ("lose", lose), ("repeat", repeated), ("delay", delay), ("fail", fail),
        ] where !(0...1).contains(share) {
            throw ValidationError("--\(name) must be a share from 0 to 1")
        }
        guard rate > 0, rate <= 1000 else {
            throw ValidationError("--rate must be above 0 and at most 1000")
        }
        if let month {
            let range = SimulatedPace.monthMillisecondsMin...SimulatedPace.calendarMonth
            guard range.contains(month) else {
                throw ValidationError("--month must be from 30s to 30d")
            }
        } else if elapsed != nil {
            throw ValidationError("--elapsed needs --month")
        }
        guard (0...ServedStoreOptions.subscriptionsMax).contains(sandboxSubscriptions) else {
            throw ValidationError(
                "--sandbox-subscriptions must be from 0 to \(ServedStoreOptions.subscriptionsMax)"
            )
        }
        if let notify {
            guard let url = URL(string: notify), ["http", "https"].contains(url.scheme ?? ""),
                url.host?.isEmpty == false
            else { throw ValidationError("--notify must be a URL: http://127.0.0.1:8080/…") }
        }
    }

    /// The most subscriptions of a store that is served, because all lives are held in memory.
    static let subscriptionsMax = 100_000

    /// Prints what a client of the store needs to know, and serves it until it is stopped.
    func run(port: Int, _ command: SimulateCommand) async throws {
        let folder = command.out
        var options = SimulatedStoreOptions(clock: { .systemClock() })
        (options.seed, options.extras) = (command.seed, command.chosenExtras)
        options.subscriptions = command.subscriptions
        options.sandboxSubscriptions = sandboxSubscriptions
        options.monthMilliseconds = month
        options.openedAt = elapsed.map { Instant.systemClock().advanced(by: -$0) }
        options.notificationURL = notify
        (options.lost, options.repeated, options.delayed) = (lose, repeated, delay)
        (options.failing, options.rateShare) = (fail, rate)
        options.sharedSecret = command.sharedSecret
        options.port = port

        let logger = Logger(label: "simulate") { _ in
            LineLogHandler(.text, level: .warning) { Terminal.write($0) }
        }
        let server = SimulatedStoreServer(options, logger: logger) { url in
            Terminal.write(ServedStoreOptions.words(url, folder: folder))
        }

        let writer = try SimulationWriter(folder: folder, isOneFileEach: false)
        try writer.write(root: server.rootDER)
        try writer.write(catalog: SimulatedCatalog.storekit)
        try writer.write(key: server.keyPEM)
        do {
            try await server.run()
        } catch let error as SimulatedStoreError {
            throw Failure(Exit.configuration, error.description)
        }
    }

    private static func words(_ url: String, folder: String) -> String {
        """
        simulate: listening at \(url), the sandbox at \(url)/sandbox
        simulate: ask it with subledger poll --api-url \(url) --key \(folder)/AuthKey.p8 \
        --key-id \(SimulatedStoreServer.keyId) --issuer-id \(SimulatedStoreServer.issuerId) \
        --bundle-id \(SimulatedStoreServer.bundleId) --root-certificate \(folder)/root.der
        """
    }
}
