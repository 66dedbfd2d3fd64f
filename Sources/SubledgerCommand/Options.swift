import AppStore
import ArgumentParser
import EventLog
import Events
import Foundation
import Postgres
import Subledger

/// Where the database is.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A libpq connection string or URI.",
            discussion: "Else DATABASE_URL, else PG* variables, else the private server."
        )
    )
    var databaseUrl: String?

    /// libpq's own variables; any of them set means that libpq decides where the server is.
    private static let libpqVariables = [
        "PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGSERVICEFILE",
    ]

    /// The private server of this folder.
    static var embedded: EmbeddedServer {
        let home = ProcessInfo.processInfo.environment["SUBLEDGER_HOME"] ?? ".subledger"
        return EmbeddedServer(home: URL(fileURLWithPath: home).path)
    }

    /// Refuses an empty value: it comes from a variable that was not set, and means no database.
    func validate() throws {
        guard databaseUrl?.isEmpty != true else {
            throw ValidationError(
                "--database-url is empty; leave it out for the database of the environment"
            )
        }
    }

    /// The settings to connect with; starts the private server where nothing else is configured.
    func settings() async throws -> ConnectionSettings {
        let environment = ProcessInfo.processInfo.environment
        if let url = databaseUrl ?? environment["DATABASE_URL"], !url.isEmpty {
            return ConnectionSettings(url, applicationName: "subledger")
        }
        if DatabaseOptions.libpqVariables.contains(where: { environment[$0] != nil }) {
            return ConnectionSettings("", applicationName: "subledger")
        }
        return try await DatabaseOptions.embedded.start()
    }

    /// How the log is opened, as the environment configures it.
    static func logOptions() throws -> EventLog.Options {
        let environment = ProcessInfo.processInfo.environment
        var options = EventLog.Options()
        if let text = environment[clockSkewVariable] {
            guard let seconds = Int64(text), seconds >= 0 else {
                throw ValidationError(
                    "\(clockSkewVariable) is '\(text)'; expected a number of seconds from 0"
                )
            }
            options.clockSkewSecondsMax = seconds
        }
        if let text = environment[appendVariable] {
            guard let seconds = Double(text), appendSeconds.contains(seconds) else {
                throw ValidationError(
                    "\(appendVariable) is '\(text)'; expected a number of seconds from 1 to 86400"
                )
            }
            options.appendSecondsMax = seconds
        }
        return options
    }

    private static let clockSkewVariable = "SUBLEDGER_CLOCK_SKEW_SECONDS_MAX"
    private static let appendVariable = "SUBLEDGER_APPEND_SECONDS_MAX"

    /// A healthy commit may take a second on a busy disk; nobody waits longer than a day.
    private static let appendSeconds = 1.0...86_400

    /// The log of the database.
    func openLog(_ options: EventLog.Options? = nil) async throws -> EventLog {
        let options = try options ?? DatabaseOptions.logOptions()
        return try await EventLog.open(try await settings(), options)
    }
}

/// How results are printed.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document.")
    var json = false

    @Flag(name: .shortAndLong, help: "No progress on stderr.")
    var quiet = false
}

/// Which stream a question is about, and as known when.
struct StreamOptions: ParsableArguments {
    @Argument(help: "Apple's originalTransactionId.")
    var originalTransactionId: String

    @Option(help: "Production, Sandbox, Xcode …; needed where the id is known in several.")
    var environment: String?

    @Option(
        help: Clock.knownAtHelp,
        transform: Clock.knownAt
    )
    var knownAt: KnownAt = .latest

    /// The stream; an error where there is none or more than one, or where `knownAt` names a
    /// position that this ledger does not have.
    func stream(in log: EventLog) async throws -> StreamID {
        try await StreamOptions.check(knownAt, of: originalTransactionId, in: log)
        return try await StreamOptions.stream(originalTransactionId, in: environment, of: log)
    }

    /// The stream of an id; an error where there is none, or more than one and none was chosen.
    static func stream(
        _ originalTransactionId: String,
        in environment: String?,
        of log: EventLog
    ) async throws -> StreamID {
        let found = try await log.environments(of: originalTransactionId)
        let chosen = environment.map(Environment.init)
        let matching = chosen.map { wanted in found.filter { $0 == wanted } } ?? found.preferred
        guard let first = matching.first else {
            let known = found.map(\.word).joined(separator: ", ")
            throw Failure(
                Exit.notFound,
                found.isEmpty
                    ? "no event has the originalTransactionId \(originalTransactionId); "
                        + "`subledger streams` lists those that are known"
                    : "\(originalTransactionId) is not known in \(chosen?.word ?? ""), but in "
                        + known
            )
        }
        guard matching.count == 1 else {
            let known = matching.map(\.word).joined(separator: ", ")
            throw Failure(
                .validationFailure,
                "\(originalTransactionId) is known in \(known): say which with --environment"
            )
        }
        return StreamID(environment: first, originalTransactionId: originalTransactionId)
    }
}

extension StreamOptions {
    /// Refuses a position that the lane of a subscription does not have.
    static func check(
        _ knownAt: KnownAt,
        of originalTransactionId: String,
        in log: EventLog
    ) async throws {
        guard case .offsets(let offsets) = knownAt else { return }
        let lane = log.identity.lanes.lane(of: originalTransactionId)
        try await PositionVector(offsets).check(
            "--known-at",
            naming: [lane],
            because: ", which holds \(originalTransactionId)",
            in: log
        )
    }
}

/// Reads the two clocks of a question.
enum Clock {
    /// What `--known-at` means in every question.
    static let knownAtHelp = ArgumentHelp(
        "Use only what the log knew then: an offset, lane:offset pairs, or an instant.",
        discussion: """
            A position inside a commit counts to the commit's end: nothing was ever answered from \
            a part of one.
            """
    )

    static func knownAt(_ text: String) throws -> KnownAt {
        guard let value = KnownAt(text) else {
            throw ValidationError(
                "'\(text)' is neither an offset (1391877), nor lane:offset pairs (0:17,1:4), nor "
                    + "an instant (2026-03-03T09:00:00Z)"
            )
        }
        return value
    }

    static func instant(_ text: String) throws -> Instant {
        guard let value = Instant(text) else {
            throw ValidationError(
                "'\(text)' is no instant; expected 2026-03-03T09:00:00Z, or 2026-03-03 for "
                    + "midnight UTC"
            )
        }
        return value
    }
}

/// Who is trusted and what is accepted.
struct TrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trust this root certificate too (DER or PEM); repeat for more.",
            discussion: "Apple's roots are built in.",
            valueName: "file"
        )
    )
    var rootCertificate: [String] = []

    @Option(help: "Accept only this app's payloads; repeat for more. Default: any app.")
    var bundleId: [String] = []

    @Option(help: "Require this App Store app id in production notifications.")
    var appAppleId: Int64?

    @Option(
        name: .customLong("environment"),
        help: "Accept this environment; repeat for more. Default: Production and Sandbox."
    )
    var environments: [String] = []

    @Option(help: "Take payloads that name no environment (all before 2022-02-24) as made in this.")
    var assumeEnvironment: String?

    @Option(
        help: ArgumentHelp(
            "File with the app's shared secret, which proves version 1 notifications.",
            discussion: "Else the environment variable SUBLEDGER_SHARED_SECRET is used, if set.",
            valueName: "file"
        )
    )
    var sharedSecretFile: String?

    func validate() throws {
        for word in environments + [assumeEnvironment].compactMap({ $0 }) {
            _ = try TrustOptions.environment(word)
        }
    }

    /// The policy these options make.
    func policy() throws -> VerificationPolicy {
        var policy = VerificationPolicy()
        policy.roots += try TrustOptions.roots(in: rootCertificate)
        policy.sharedSecret = try sharedSecret()
        policy.bundleIds = Set(bundleId)
        policy.appAppleId = appAppleId
        policy.assumedEnvironment = try assumeEnvironment.map(TrustOptions.environment)
        if !environments.isEmpty {
            policy.environments = Set(try environments.map(TrustOptions.environment))
        }
        return policy
    }

    /// The certificates in these files.
    static func roots(in paths: [String]) throws -> [RootCertificate] {
        var roots: [RootCertificate] = []
        for path in paths {
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw Failure(
                    Exit.inputMissing,
                    "the root certificate \(path) cannot be read"
                )
            }
            do throws(Rejection) {
                roots += try RootCertificate.read([UInt8](bytes))
            } catch {
                throw Failure(Exit.configuration, "\(path): \(error.message)")
            }
        }
        return roots
    }

    // Apple's words, however they are capitalised.
    static func environment(_ word: String) throws -> Environment {
        let known: [Environment] = [.production, .sandbox, .xcode, .localTesting]
        guard let found = known.first(where: { $0.word.lowercased() == word.lowercased() }) else {
            throw ValidationError(
                "'\(word)' is no environment; expected "
                    + known.map(\.word).joined(separator: ", ")
            )
        }
        return found
    }

    private func sharedSecret() throws -> String? {
        guard let path = sharedSecretFile else {
            let secret = ProcessInfo.processInfo.environment["SUBLEDGER_SHARED_SECRET"] ?? ""
            return secret.isEmpty ? nil : secret
        }
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Failure(Exit.inputMissing, "the shared secret's file \(path) cannot be read")
        }
        let secret = String(decoding: bytes, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else {
            throw Failure(Exit.configuration, "\(path) holds no shared secret: the file is empty")
        }
        return secret
    }
}
