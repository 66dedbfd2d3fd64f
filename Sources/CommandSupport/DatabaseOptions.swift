package import AppStore
package import ArgumentParser
package import EventLog
import Foundation
package import Postgres
package import Subledger

/// The location of the database.
package struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A libpq connection string or URI.",
            discussion: "Default: DATABASE_URL, else PG* variables, else the private server."
        )
    )
    package var databaseUrl: String?

    /// Creates options for the parser to fill.
    package init() {}

    /// Refuses an empty value, which comes from an unset variable and names no database.
    package func validate() throws {
        guard databaseUrl?.isEmpty != true else {
            throw ValidationError(
                "--database-url is empty; leave it out to use the database from the environment"
            )
        }
    }

    /// The location of the database.
    package var location: Ledger.Database { databaseUrl.map(Ledger.Database.url) ?? .environment }

    /// The settings to connect with; starts the private server if nothing else is configured, and
    /// reports on stderr that it is used.
    ///
    /// - Parameters:
    ///   - createIfAbsent: Whether a missing private server is created.
    ///   - isQuiet: Whether nothing is printed.
    /// - Returns: The settings.
    /// - Throws: `EmbeddedServerError`.
    package func settings(
        createIfAbsent: Bool = false,
        isQuiet: Bool = false
    ) async throws -> ConnectionSettings {
        var settings = try await location.settings(createIfAbsent: createIfAbsent)
        if databaseUrl != nil { settings.source = "--database-url" }
        if !isQuiet, let home = location.privateHome {
            Terminal.write("database: the private server in \(home)")
        }
        return settings
    }

    /// The options for opening the log, as the environment configures them.
    package static func logOptions() throws -> EventLog.Options {
        let environment = ProcessEnvironment.variables
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
        if let folder = environment[evidenceVariable], !folder.isEmpty {
            options.evidenceFolder = folder
        }
        return options
    }

    private static let evidenceVariable = "SUBLEDGER_EVIDENCE_FOLDER"
    private static let clockSkewVariable = "SUBLEDGER_CLOCK_SKEW_SECONDS_MAX"
    private static let appendVariable = "SUBLEDGER_APPEND_SECONDS_MAX"

    /// From one second, which a healthy commit may take on a busy disk, to one day.
    private static let appendSeconds = 1.0...86_400

    /// The ledger of the database.
    package func openLedger(
        policy: VerificationPolicy = VerificationPolicy(),
        isQuiet: Bool = false
    ) async throws -> Ledger {
        try await Ledger.open(
            try await settings(isQuiet: isQuiet),
            policy: policy,
            options: try DatabaseOptions.logOptions()
        )
    }

    /// Warns on stderr that what `command` acknowledges may be lost, unless it is quiet.
    package static func warnOfLoss(_ log: EventLog, _ command: String, isQuiet: Bool) {
        guard !isQuiet, let fault = log.durabilityFault else { return }
        Terminal.write("\(command): warning: \(fault)")
    }

    /// The log of the database.
    package func openLog(_ options: EventLog.Options? = nil) async throws -> EventLog {
        let options = try options ?? DatabaseOptions.logOptions()
        return try await EventLog.open(try await settings(), options)
    }
}
