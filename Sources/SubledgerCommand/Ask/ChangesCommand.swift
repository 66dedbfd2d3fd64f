import ArgumentParser
import CommandSupport
import EventLog
import Events
import Projections
import Subledger

struct ChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Which product or billing plan a subscription moved to, and was to move to.",
        discussion: """
            Folded from the log at once; no table stands between. What an upgrade is says the \
            catalog (`subledger catalog`); without one a change is a plan_change.
            """
    )

    @OptionGroup var question: StreamOptions

    @Option(
        help: "Only wishes that were open at this instant, and the change in effect by then.",
        transform: Clock.instant
    )
    var at: Instant?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try await database.openLog()
        let document = try await document(from: log)
        await log.close()
        if output.json { try Terminal.print(json: document) } else { document.printTable() }
    }

    private func document(from log: EventLog) async throws -> ChangesDocument {
        let stream = try await question.stream(in: log)
        let catalogs = try await CatalogStore(log: log).history(
            knownAt: question.knownAt
        )
        let history = try await log.history(of: stream, knownAt: question.knownAt)
        try await ErasureMarks.tell(of: [stream], in: log)
        try await question.printSiblings(of: stream, in: log)
        let rows = PlanChanges(Timeline(history), catalogs).rows
        return ChangesDocument(stream, asked(rows), lanes: log.identity.lanes)
    }

    private func asked(_ rows: [PlanChange]) -> [PlanChange] {
        guard let at else { return rows }
        let latest = rows.compactMap(\.effective).filter { $0 <= at }.max()
        return rows.filter { row in
            let isOpen = row.requested.map { $0 <= at } ?? false
            let end = row.effective ?? row.withdrawn
            return (isOpen && end.map { at < $0 } ?? true)
                || (row.effective != nil && row.effective == latest)
        }
    }
}

/// The JSON of `changes`.
struct ChangesDocument: Encodable {
    let originalTransactionId: String
    let environment: String
    let changes: [Row]

    struct Row: Encodable {
        let fromProductId: String
        let toProductId: String
        let fromBillingPlanType: String?
        let toBillingPlanType: String?
        let state: String
        let timing: String
        let `class`: String
        let requested: Int64?
        let effective: Int64?
        let withdrawn: Int64?
        let sameDuration: Bool?
        let catalogVersion: Int?
        let offerType: Int64?
        let refundsPrevious: Bool
        let isUndated: Bool
        let estimatedRefundMilliunits: Int64?
        let estimatedRefundCurrency: String?
        let positions: [PositionValue]
    }

    init(_ stream: StreamID, _ rows: [PlanChange], lanes: LaneCount) {
        originalTransactionId = stream.originalTransactionId
        environment = stream.environment.word
        changes = rows.map { row in
            Row(
                fromProductId: row.fromProductId,
                toProductId: row.toProductId,
                fromBillingPlanType: row.fromBillingPlanType,
                toBillingPlanType: row.toBillingPlanType,
                state: row.state.rawValue,
                timing: row.timing.rawValue,
                class: row.changeClass.rawValue,
                requested: row.requested?.milliseconds,
                effective: row.effective?.milliseconds,
                withdrawn: row.withdrawn?.milliseconds,
                sameDuration: row.hasSameDuration,
                catalogVersion: row.catalogVersion,
                offerType: row.offerType,
                refundsPrevious: row.refundsPrevious,
                isUndated: row.isUndated,
                estimatedRefundMilliunits: row.estimatedRefundMilliunits,
                estimatedRefundCurrency: row.estimatedRefundCurrency,
                positions: row.positions.map { PositionValue($0, lanes: lanes) }
            )
        }
    }

    /// The same for people.
    fileprivate func printTable() {
        Terminal.print("\(originalTransactionId) · \(environment) · UTC")
        guard !changes.isEmpty else {
            Terminal.print("no change of product or billing plan was wished for or made")
            return
        }
        var table = TextTable([
            "from", "to", "what", "when", "became", "asked", "effective", "withdrawn",
            "because of",
        ])
        for row in changes {
            // Of a wish that nothing dates only the earliest instants are known.
            let bound = row.isUndated ? "≥ " : ""
            let instants = [
                (bound, row.requested), ("", row.effective), (bound, row.withdrawn),
            ].map { bound, instant in
                instant.map { bound + Instant(milliseconds: $0).clock } ?? "–"
            }
            table.add(
                [
                    ChangesDocument.plan(row.fromProductId, row.fromBillingPlanType),
                    ChangesDocument.plan(row.toProductId, row.toBillingPlanType), row.class,
                    row.timing, row.state,
                ] + instants + [row.positions.text]
            )
        }
        Terminal.print(table.text)
    }

    // The product, and how it is paid where Apple said so.
    private static func plan(_ productId: String, _ billingPlanType: String?) -> String {
        productId + (billingPlanType.map { " · \($0)" } ?? "")
    }
}
