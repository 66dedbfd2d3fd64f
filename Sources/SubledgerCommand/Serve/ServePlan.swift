import ArgumentParser
import CommandSupport
import Configuration
import Deliveries
import EventLog
import Events
import Logging
import Subledger
import SubledgerAppStore
import SubledgerHTTP

/// The configuration of `serve`, from all its settings.
struct ServePlan {
    /// The address and limits of the server.
    var server = LedgerServer.Options()
    /// Seconds that an append may take.
    let appendSeconds: Double
    /// The limits of one request.
    var limits = ServiceLimits()
    /// The proxies whose `X-Forwarded-For` names the client.
    let trustedProxies: [AddressRange]
    /// The files of the certificate; nil for HTTP.
    let tlsFiles: (certificate: String, key: String)?
    /// Whether the console is served.
    let hasConsole: Bool
    /// Days for which the ledger stores who asked about whom; 0 for not at all.
    let auditDays: Int
    /// What is trusted.
    let trust: TrustOptions
    /// The customers for whom sandbox purchases count.
    let sandbox: SandboxPolicy
    /// The files of the keys that sign entitlements; the first one signs.
    let signingKeys: [String]
    /// Where notifications are forwarded to.
    let forward: [Forwarding.Target]
    /// Seconds for which a signed answer is valid.
    let signedFor: Int64
    /// The credentials and hosts for asking Apple.
    let apple: AppleAccess
    /// When Apple is asked; nil for never.
    let polling: Polling.Options?
    /// How Apple's requests for consumption information are answered; nil for not at all.
    let consumption: ConsumptionPolicy?
    /// The location of the database.
    let database: DatabaseOptions
    /// The settings in force.
    let settings: CommandSettings
    private let isJournal: Bool
    private let logFormat: LineLogHandler.Format
    private let logLevel: Logger.Level

    /// Reads all settings.
    ///
    /// - Parameters:
    ///   - command: The flags.
    ///   - environment: The variables of the process.
    /// - Throws: `Failure` that names the wrong setting.
    init(_ command: ServeCommand, _ environment: [String: String]) async throws {
        var settings = try await CommandSettings(
            of: .serve,
            flags: command.flags,
            database: command.database,
            environment: environment,
            file: command.config
        )

        (server.host, server.port) = try settings.place()
        appendSeconds = try settings.seconds(.appendSeconds, 1...86_400, default: 10)
        limits.answerSecondsMax = try settings.seconds(
            .answerSeconds,
            0...86_400,
            default: limits.answerSecondsMax
        )
        trustedProxies = try settings.texts(.trustedProxy, "addresses, or ranges: 10.0.0.0/8") {
            AddressRange($0) != nil
        }.compactMap(AddressRange.init)
        server.drainSeconds = try settings.seconds(.drainSeconds, 0...3600, default: 0)
        server.follows = try settings.flag(.follow)
        hasConsole = try settings.flag(.console)
        logFormat = try settings.word(.logFormat, default: .text)
        logLevel = try settings.word(.logLevel, default: .info)
        tlsFiles = try ServePlan.tlsFiles(&settings)
        auditDays = try settings.number(.auditDays, "days", 0...36_500, default: 0)
        trust = try ServePlan.trust(&settings)
        sandbox = try ServePlan.sandbox(&settings)
        signingKeys = try settings.texts(.signingKey, "files")
        forward = try ServePlan.forward(&settings)
        signedFor = try settings.duration(.signedFor, default: "3d") / 1000
        guard signedFor >= 60 else {
            throw Failure(Exit.configuration, "signedFor is below 1m; expected 1m or more")
        }
        apple = try AppleAccess(&settings)
        polling = try ServePlan.polling(&settings)
        consumption = try settings.text(.answerConsumption, "the file of a policy")
            .map(ConsumptionPolicy.read)
        database = try settings.database(command.database)
        self.settings = settings
        isJournal = ServiceManager.isJournal(2, environment)
    }

    /// Who is trusted, by the settings.
    static func trust(
        _ settings: inout CommandSettings
    ) throws -> TrustOptions {
        let environments = "Production, Sandbox, Xcode or LocalTesting"
        var trust = TrustOptions()
        trust.rootCertificate = try settings.texts(.rootCertificate, "files")
        trust.bundleId = try settings.texts(.bundleId, "bundle ids")
        trust.appAppleId = try settings.value(
            .appAppleId,
            [.int],
            expecting: "the app's id in the App Store, a number from 1",
            default: nil
        ) { content in
            if case .int(let id) = content, id > 0 { .some(Int64(id)) } else { nil }
        }

        trust.environments = try settings.texts(.environment, "environments: " + environments) {
            TrustOptions.knownEnvironment($0) != nil
        }
        let assumed: String = try settings.value(
            .assumeEnvironment,
            [.string],
            expecting: environments,
            default: ""
        ) { content in
            if case .string(let text) = content, TrustOptions.knownEnvironment(text) != nil {
                text
            } else {
                nil
            }
        }
        trust.assumeEnvironment = assumed.isEmpty ? nil : assumed
        trust.sharedSecretFile = try settings.text(.sharedSecretFile, "a file")
        return trust
    }

    private static func tlsFiles(
        _ settings: inout CommandSettings
    ) throws -> (certificate: String, key: String)? {
        let certificate = try settings.text(.tlsCertificate, "a file")
        let key = try settings.text(.tlsKey, "a file")
        if let certificate, let key { return (certificate, key) }
        guard certificate == nil, key == nil else {
            throw Failure(
                Exit.configuration,
                "\(certificate == nil ? "tlsKey" : "tlsCertificate") is set without the other; "
                    + "TLS needs both tlsCertificate and tlsKey"
            )
        }
        return nil
    }

    private static func polling(
        _ settings: inout CommandSettings
    ) throws -> Polling.Options? {
        var options = Polling.Options()
        let isOn = try settings.flag(.poll)
        options.interval = try settings.duration(.pollInterval, default: "15m")
        guard options.interval >= 1000 else {
            throw Failure(Exit.configuration, "pollInterval is below 1s; expected 1s or more")
        }
        options.pause = try settings.duration(.pollPause, or: "urgency")
        options.within = try settings.duration(.pollWithin, default: "24h")
        return isOn ? options : nil
    }

    private static func forward(
        _ settings: inout CommandSettings
    ) throws -> [Forwarding.Target] {
        try settings.texts(.forward, "receivers: URL or Sandbox=URL").map { text in
            do throws(WebhookFault) {
                return try Forwarding.Target(text)
            } catch {
                throw Failure(Exit.configuration, "forward: \(error)")
            }
        }
    }

    private static func sandbox(
        _ settings: inout CommandSettings
    ) throws -> SandboxPolicy {
        var options = SandboxOptions()
        options.sandboxCustomer = try settings.texts(.sandboxCustomer, "customers' ids")
        options.sandboxFrom = try settings.time(.sandboxFrom)
        options.sandboxTo = try settings.time(.sandboxTo)
        do {
            return try options.policy(now: .systemClock())
        } catch let error as PolicyError {
            throw Failure(
                Exit.configuration,
                "sandboxCustomer, sandboxFrom or sandboxTo: \(error.message)"
            )
        }
    }

    /// Prints lines about the start of the service, in the format of its log.
    func announcer(_ logger: Logger) -> @Sendable (String) -> Void {
        switch logFormat {
        case .json: return { logger.notice("\($0)") }
        case .text:
            return { [isJournal] in Terminal.write((isJournal ? "<5>" : "") + "serve: \($0)") }
        }
    }

    /// Reports why the service ends, in the format of its log.
    func report(_ error: any Error, _ logger: Logger) -> ExitCode {
        guard logFormat == .json || isJournal else {
            return Failure.report(error, of: SubledgerCommand.self)
        }
        return Failure.$write.withValue({ logger.critical("\($0)") }) {
            Failure.report(error, of: SubledgerCommand.self)
        }
    }

    /// The logger of the service.
    func makeLogger() -> Logger {
        let (level, format, isJournal) = (logLevel, logFormat, isJournal)
        return Logger(label: "subledger") { label in
            var handler = LineLogHandler(format, label: label, level: level) { Terminal.write($0) }
            handler.hasPriority = isJournal
            return handler
        }
    }
}

extension ServeCommand {
    /// The flags that were typed.
    fileprivate var flags: [Setting: ConfigContent] {
        var flags = apple.flags.merging(trust.pollFlags) { $1 }
        flags[.host] = host.map(ConfigContent.string)
        flags[.port] = port.map(ConfigContent.int)
        flags[.appendSeconds] = appendSeconds.map(ConfigContent.double)
        flags[.answerSeconds] = answerSeconds.map(ConfigContent.double)
        if !trustedProxy.isEmpty { flags[.trustedProxy] = .stringArray(trustedProxy) }
        flags[.drainSeconds] = drainSeconds.map(ConfigContent.double)
        flags[.follow] = follow.map(ConfigContent.bool)
        flags[.console] = console.map(ConfigContent.bool)
        flags[.poll] = poll.map(ConfigContent.bool)
        flags[.pollInterval] = pollInterval.map(ConfigContent.string)
        flags[.pollPause] = pollPause.map(ConfigContent.string)
        flags[.pollWithin] = pollWithin.map(ConfigContent.string)
        flags[.answerConsumption] = answerConsumption.map(ConfigContent.string)
        if !signingKey.isEmpty { flags[.signingKey] = .stringArray(signingKey) }
        if !forward.isEmpty { flags[.forward] = .stringArray(forward) }
        flags[.signedFor] = signedFor.map(ConfigContent.string)
        flags[.auditDays] = auditDays.map(ConfigContent.int)
        flags[.logFormat] = logFormat.map(ConfigContent.string)
        flags[.logLevel] = logLevel.map(ConfigContent.string)
        flags[.tlsCertificate] = tlsCertificate.map(ConfigContent.string)
        flags[.tlsKey] = tlsKey.map(ConfigContent.string)
        if !trust.rootCertificate.isEmpty {
            flags[.rootCertificate] = .stringArray(trust.rootCertificate)
        }
        flags[.appAppleId] = trust.appAppleId.map { .int(Int($0)) }
        flags[.assumeEnvironment] = trust.assumeEnvironment.map(ConfigContent.string)
        flags[.sharedSecretFile] = trust.sharedSecretFile.map(ConfigContent.string)
        flags[.sandboxFrom] = sandbox.sandboxFrom.map(ConfigContent.string)
        flags[.sandboxTo] = sandbox.sandboxTo.map(ConfigContent.string)
        if !sandbox.sandboxCustomer.isEmpty {
            flags[.sandboxCustomer] = .stringArray(sandbox.sandboxCustomer)
        }
        return flags
    }
}
