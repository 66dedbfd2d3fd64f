import ArgumentParser
import CommandSupport
import Events
import Subledger

/// The customers for whom sandbox purchases count in production.
struct SandboxOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Count sandbox purchases of this customer in production; repeat for more.",
            discussion: """
                App Review buys in the sandbox. ID is the id that the app asks about: its own name \
                for the review account, or its appAccountToken. Sandbox purchases then count where \
                production gives no access, and the answer names the rule. Default: they never \
                count.
                """,
            valueName: "id"
        )
    )
    var sandboxCustomer: [String] = []

    @Option(
        help: ArgumentHelp(
            "Count sandbox purchases from this time on.",
            discussion: """
                Without --sandbox-customer, sandbox purchases of every customer count between \
                --sandbox-from and --sandbox-to, at most \(SandboxPolicy.openDaysMax) days. Accepts \
                \(AskedTime.forms).
                """,
            valueName: "time"
        )
    )
    var sandboxFrom: String?

    @Option(help: ArgumentHelp("Stop counting sandbox purchases at this time.", valueName: "time"))
    var sandboxTo: String?

    func validate() throws {
        for text in [sandboxFrom, sandboxTo].compactMap({ $0 }) { _ = try Clock.time(text) }
    }

    /// Whether no option was given.
    var areDefaults: Bool { sandboxCustomer.isEmpty && sandboxFrom == nil && sandboxTo == nil }

    /// The policy that these options make.
    ///
    /// - Parameter now: The instant for `today` and similar words.
    /// - Returns: The policy; one that counts no purchases if no option was given.
    /// - Throws: `PolicyError` for times that no policy may have.
    func policy(now: Instant) throws -> SandboxPolicy {
        guard !areDefaults else { return .never }
        func instant(_ text: String?) throws -> Instant? {
            try text.map { try Clock.time($0).instant(now: now, in: .utc) }
        }
        return try SandboxPolicy(
            customers: sandboxCustomer,
            from: try instant(sandboxFrom),
            to: try instant(sandboxTo)
        )
    }

    /// The same, with errors reported as those of a mistyped option.
    func chosen(now: Instant) throws -> SandboxPolicy {
        do {
            return try policy(now: now)
        } catch let error as PolicyError {
            throw ValidationError(error.message)
        }
    }
}
