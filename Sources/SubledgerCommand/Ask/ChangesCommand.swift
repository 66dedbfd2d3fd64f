import CommandSupport
import ArgumentParser
import Events
import Projections
import Subledger

struct ChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Changes of product, billing plan or seats: requested, withdrawn and in effect.",
        discussion: """
            Computed from the log, not read from a table. The catalog (`subledger catalog`) \
            decides which change is an upgrade; without one, every change is a plan_change. \
            Changes for which Apple opened a new subscription are listed below the others: a new \
            start after a lapse, and a move into or out of a bundle.
            """
    )

    @OptionGroup var question: SubjectOptions

    @Option(
        help: Clock.help(
            "Only requests that were open at this instant, the change in effect by then, and "
                + "moves by then."
        ),
        transform: Clock.time
    )
    var at: AskedTime?

    @OptionGroup var knowledge: KnowledgeOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let clocks = knowledge.clocks(at: at)
        let answer = try await database.ask { ledger in
            try await ledger.changes(
                of: question.subject,
                at: clocks.at,
                knownAt: clocks.knownAt
            )
        }
        try output.print(answer, answer.text)
    }
}

extension ChangesDocument {
    /// The answer as text.
    fileprivate var text: [String] {
        let title = "\(originalTransactionId) · \(environment) · UTC"
        guard isKnown else { return [title, NothingKnown.words] }
        guard !changes.isEmpty else {
            let none = "no change of product, billing plan or seats was requested or made"
            return [title] + (moves.isEmpty ? [none] : moves.map(\.text))
        }
        var table = TextTable([
            "from", "to", "change", "timing", "state", "requested", "effective", "withdrawn",
            "because of",
        ])
        for row in changes {
            // Of an undated request only the earliest instants are known.
            let bound = row.isUndated ? "≥ " : ""
            table.add([
                ChangesDocument.plan(
                    row.fromProductId,
                    row.fromBillingPlanType,
                    row.fromSeatQuantity
                ),
                ChangesDocument.plan(row.toProductId, row.toBillingPlanType, row.toSeatQuantity),
                row.changeClass.rawValue, row.timing.rawValue, row.state.rawValue,
                row.requested.map { bound + $0.clock } ?? "–",
                row.effective?.clock ?? "–", row.withdrawn.map { bound + $0.clock } ?? "–",
                row.positions.marks,
            ])
        }
        return [title, table.text] + moves.map(\.text)
    }

    // The product, its billing plan and number of seats if Apple stated them.
    private static func plan(
        _ productId: String,
        _ billingPlanType: String?,
        _ seats: Int64?
    ) -> String {
        productId + (billingPlanType.map { " · \($0)" } ?? "")
            + (seats.map { " · " + counted($0, "seat") } ?? "")
    }
}

extension StreamChange {
    /// The move as a line.
    fileprivate var text: String {
        func part(_ id: String, _ productId: String, _ bundle: String?) -> String {
            "\(id) (\(productId)" + (bundle.map { " in the bundle \($0)" } ?? "") + ")"
        }
        return "\(effective.clock)  \(changeClass.rawValue) from the subscription "
            + part(fromOriginalTransactionId, fromProductId, fromBundleProductId)
            + ", which was \(previousStatus.description.replacing("_", with: " ")), to "
            + part(toOriginalTransactionId, toProductId, toBundleProductId)
            + ", because of \(positions.marks)"
    }
}
