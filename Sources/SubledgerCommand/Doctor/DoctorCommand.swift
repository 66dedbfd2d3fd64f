import ArgumentParser
import CommandSupport
import Configuration
import EmbeddedPostgres
import EventLog
import Foundation
import Postgres
import Subledger
import SubledgerAppStore

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything that the ledger needs, and print what to do.",
        discussion: """
            Checks the settings, the database server, the schema with its roles and triggers, \
            clocks, free disk space, the tables of projections, the newest checkpoint, root \
            certificates, the key for Apple, and whether the service receives notifications at \
            --url. It changes nothing. A check that fails hides no other.

            Reads the settings of `serve` and `poll`: their environment variables, and with \
            --config their files. Flags come first. The key of each is checked, and the root \
            certificates of `serve`.

            --ask-apple also asks Apple to send a test notification, and waits up to a minute for \
            what became of it: it proves the key, the URL in App Store Connect and the way from \
            Apple to the service. With --environment Sandbox it asks the sandbox.

            Exit 1 if something is wrong; warnings and what was not checked do not count.
            """
    )

    @Option(
        help: ArgumentHelp(
            "The public address of the service: https://HOST, or with the path.",
            discussion: "Default: where the settings of `serve` make it listen.",
            valueName: "url"
        )
    )
    var url: String?

    @Flag(help: "Ask Apple for a test notification.")
    var askApple = false

    @Option(help: ArgumentHelp("The private key: a .p8 file.", valueName: "file"))
    var key: String?

    @Option(help: "The id of the key, as App Store Connect shows it.")
    var keyId: String?

    @Option(help: "The id of the issuer, as App Store Connect shows it.")
    var issuerId: String?

    @Option(help: "With --ask-apple: ask this store instead of Apple.")
    var apiUrl: String?

    @Option(
        help: ArgumentHelp(
            "The JSON file with the settings of `serve` or `poll`; repeat for both.",
            valueName: "file"
        )
    )
    var config: [String] = []

    @OptionGroup var trust: TrustOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let plan = try await DoctorPlan(self, ProcessEnvironment.variables)
        var checks = [plan.settingsCheck]
        checks += try await databaseChecks(plan.database)
        let roots = trust.rootCertificate + plan.serviceRoots(besides: trust)
        checks += RootChecks(files: roots).run()
        checks += try await AppleChecks(plan: plan, asks: askApple).run()
        let report = DoctorReport(checks)
        try output.print(report, [report.table])
        if !output.json, !output.quiet { Terminal.write("doctor: \(report.summary)") }
        if !report.ok { throw Exit.no }
    }

    private func databaseChecks(_ database: DatabaseOptions) async throws -> [DoctorCheck] {
        let settings: ConnectionSettings
        do {
            settings = try await database.settings(isQuiet: output.quiet)
        } catch let error as EmbeddedServerError {
            return DatabaseChecks.unreachable(error.description)
        }
        let skew = try DatabaseOptions.logOptions().clockSkewSecondsMax
        return await DatabaseChecks(settings, clockSkewSecondsMax: skew).run()
    }

    /// The flags for settings that `serve` has, too; a key given by flag is checked as the key of
    /// `poll`.
    var serviceFlags: [Setting: ConfigContent] {
        var flags = trust.pollFlags
        flags[.apiUrl] = apiUrl.map(ConfigContent.string)
        return flags
    }

    /// The flags for the settings of `poll`.
    var pollFlags: [Setting: ConfigContent] {
        var flags = serviceFlags
        flags[.key] = key.map(ConfigContent.string)
        flags[.keyId] = keyId.map(ConfigContent.string)
        flags[.issuerId] = issuerId.map(ConfigContent.string)
        return flags
    }
}

extension DoctorPlan {
    /// Whether the settings of both commands can be read.
    var settingsCheck: DoctorCheck {
        var faults: [String] = []
        if case .failure(let failure) = poll { faults.append(failure.message) }
        if case .failure(let failure) = service { faults.append(failure.message) }
        guard faults.isEmpty else {
            return .wrong(
                "settings",
                faults.joined(separator: "; "),
                "correct it; `subledger serve --print-config` and `subledger poll --print-config` "
                    + "print each setting with its origin"
            )
        }
        return .ok("settings", "those of serve and poll can be read")
    }
}
