import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Projections
import Subledger

struct ShowCustomerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "The subscriptions of a customer, and whose each was when.",
        discussion: """
            ID is a customer's name, an app account token, an appTransactionId, a transaction id or \
            an original transaction id. Folded from the log at once; no table stands between. What \
            no link gives to anybody is joined by what Apple says: an app account token, an \
            appTransactionId, an app receipt, a migration, a transaction or a web order line item \
            that two subscriptions share. A link to somebody else wins for its subscription.
            """
    )

    @Argument(help: "A customer, an app account token, an appTransactionId or a transaction id.")
    var id: String

    @Option(help: "Production, Sandbox, Xcode …; needed where the id is known in several.")
    var environment: String?

    @Option(help: "Also say what was theirs at this instant.", transform: Clock.instant)
    var at: Instant?

    @Option(
        help: Clock.knownAtHelp,
        transform: Clock.knownAt
    )
    var knownAt: KnownAt = .latest

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !id.isEmpty else { throw ValidationError("the id is empty") }
    }

    func run() async throws {
        let ledger = try await Ledger.open(try await database.settings())
        let customer = try await find(in: ledger)
        await ledger.log.close()
        let document = CustomerDocument(customer, at: at, lanes: ledger.log.identity.lanes)
        if output.json {
            try Terminal.print(json: document)
        } else {
            CustomerDocument.printTables(customer, at: at, lanes: ledger.log.identity.lanes)
        }
    }

    private func find(in ledger: Ledger) async throws -> Customer {
        try await Clock.check(knownAt, in: ledger.log)
        let found = try await ledger.environments(ofCustomer: id)
        let chosen = environment.map(Environment.init)
        let matching = chosen.map { wanted in found.filter { $0 == wanted } } ?? found.preferred
        guard let first = matching.first else {
            let known = found.map(\.word).joined(separator: ", ")
            throw Failure(
                Exit.notFound,
                found.isEmpty
                    ? "no subscription has \(id) as its customer, app account token, "
                        + "appTransactionId or transaction; `subledger customers list` and `subledger streams` list "
                        + "those that are known"
                    : "\(id) is not known in \(chosen?.word ?? ""), but in \(known)"
            )
        }
        guard matching.count == 1 else {
            let known = matching.map(\.word).joined(separator: ", ")
            throw Failure(
                .validationFailure,
                "\(id) is known in \(known): say which with --environment"
            )
        }
        return try await ledger.customer(id, in: first, knownAt: knownAt)
    }
}
