import ArgumentParser
import CommandSupport
import Configuration
import Events
import Foundation
import Subledger
import SubledgerAppStore

/// The options that `poll` and `backfill` share.
struct PollOptions: ParsableArguments {
    @OptionGroup var apple: AppleOptions

    @Option(
        help: ArgumentHelp(
            "A JSON object with settings, each named as its flag: {\"keyId\": \"2X9R4HXF34\"}.",
            discussion: """
                Flags come first, then environment variables such as SUBLEDGER_POLL_KEY_ID, then \
                this file. The settings: \
                \(Setting.Command.poll.names.joined(separator: ", ")). bundleId and \
                environment are lists: ["com.example"] in the file, a,b in a variable.
                """,
            valueName: "file"
        )
    )
    var config: String?

    @Flag(help: "Print every setting and its origin, with secrets masked, and exit.")
    var printConfig = false

    @OptionGroup var trust: TrustOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
}

/// The configuration of `poll` and `backfill`, from all their settings.
struct PollPlan {
    /// The credentials and hosts for asking Apple.
    let apple: AppleAccess
    /// What is trusted.
    let trust: TrustOptions
    /// The location of the database.
    let database: DatabaseOptions
    /// The settings in force.
    let settings: CommandSettings

    /// Reads all settings.
    ///
    /// - Parameters:
    ///   - options: The flags.
    ///   - environment: The variables of the process.
    /// - Throws: `Failure` that names the wrong setting.
    init(_ options: PollOptions, _ environment: [String: String]) async throws {
        try await self.init(
            flags: options.apple.flags.merging(options.trust.pollFlags) { $1 },
            environment,
            file: options.config,
            trust: options.trust,
            database: options.database
        )
    }

    /// The same for a command that has these flags among others.
    init(
        flags: [Setting: ConfigContent],
        _ environment: [String: String],
        file: String?,
        trust: TrustOptions,
        database: DatabaseOptions
    ) async throws {
        var settings = try await CommandSettings(
            of: .poll,
            flags: flags,
            database: database,
            environment: environment,
            file: file
        )
        apple = try AppleAccess(&settings)
        var trust = trust
        trust.bundleId = try settings.texts(.bundleId, "bundle ids")
        trust.environments = try settings.texts(.environment, "environments: Production, Sandbox") {
            text in [.production, .sandbox].contains(TrustOptions.knownEnvironment(text))
        }
        self.trust = trust
        self.database = try settings.database(database)
        self.settings = settings
    }

    /// Runs a body with a poller, which is closed after it.
    ///
    /// - Parameters:
    ///   - pause: Milliseconds after an answer before any process asks about the same again; nil
    ///     for a pause by urgency.
    ///   - isQuiet: Whether only errors are printed.
    ///   - body: The work.
    /// - Returns: What the body returns.
    /// - Throws: `Failure` for a key that cannot be used, and what the body throws.
    func withPoller<Value>(
        pause: Int64?,
        isQuiet: Bool,
        _ body: (Poller) async throws -> Value
    ) async throws -> Value {
        let credentials = try apple.credentials(trust.bundleId)
        let ledger = try await database.openLedger(policy: try trust.policy(), isQuiet: isQuiet)
        DatabaseOptions.warnOfLoss(ledger.log, "poll", isQuiet: isQuiet)
        let client = AppStoreServerClient(credentials, hosts: apple.hosts)
        let options = Poller.Options(trust.environments, pause: pause)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(Poller(ledger, client, options: options)))
        } catch {
            result = .failure(error)
        }
        try await client.close()
        await ledger.close()
        return try result.get()
    }
}

extension Progress {
    /// Reports the progress of asking Apple.
    func report(_ progress: PollProgress) {
        switch progress {
        case .notifications(let count, let environment):
            report(count, "notification", note: " of \(environment.word)")
        case .waiting(let holder):
            note(
                "another process is doing the same work (\(holder.holder)); waiting until it is "
                    + "done, or its lease expires at \(holder.expiresAt)"
            )
        case .subscriptions(let done, of: let total):
            report(done, "subscription", note: " of \(total)")
        }
    }
}
