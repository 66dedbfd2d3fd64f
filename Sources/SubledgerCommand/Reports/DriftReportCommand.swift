import CommandSupport
import ArgumentParser
import Subledger

struct DriftReportCommand: LogReportCommand, KnowledgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "drift",
        abstract: "Compare Subledger's states with the statuses and renewal info that Apple "
            + "signed.",
        discussion: """
            Each status in a version 2 notification, and each signed renewal info, is compared \
            with the fold of everything that was signed by then. A signed status "revoked" is also \
            listed if Apple afterwards signed a later revocation date, because the last date \
            counts. Exit 3 if any differ.
            """
    )

    /// The most disagreements that can be requested, which are held in memory.
    static let limitMax = 100_000

    @Option(help: "Maximum number of rows, from 1 to \(limitMax); the counts include all rows.")
    var limit = 100

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        try Self.check("--limit", limit, max: DriftReportCommand.limitMax)
    }

    func run() async throws {
        let clocks = knowledge.clocks()
        let answer = try await report {
            try await $0.drift(limit: limit, knownAt: clocks.knownAt)
        } print: {
            try output.print($0, $0.text)
        }
        guard answer.checked == answer.agreeing else { throw Exit.mismatch }
    }
}
