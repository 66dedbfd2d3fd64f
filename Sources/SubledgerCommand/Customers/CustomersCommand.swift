import AppStore
import ArgumentParser
import CommandSupport
import EventLog
import Events
import Foundation
import Subledger

struct CustomersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers",
        abstract: "Link subscriptions to customers, and show who had which subscription when.",
        discussion: """
            A link is a statement by the operator, recorded as an event like Apple's; it holds \
            until an unlink. If another customer claims the subscription meanwhile, it does not \
            move: the claim is contested, and `customers claims --contested` lists it. For \
            subscriptions without a link, Apple's ids decide: those with the same app account \
            token, appTransactionId or app receipt belong to one customer. If an Apple account \
            joins two app account tokens, they count as one customer until a link overrules it.
            """,
        subcommands: [
            LinkCustomerCommand.self, UnlinkCustomerCommand.self, ImportCustomersCommand.self,
            ListCustomersCommand.self, ShowCustomerCommand.self, CustomerClaimsCommand.self,
            ExportCustomerCommand.self,
        ]
    )
}

/// The options of every statement by the operator.
struct StatementOptions: ParsableArguments {
    @Argument(help: "The app's own name for the customer.")
    var customer: String

    @Argument(help: "Apple's originalTransactionId.")
    var originalTransactionId: String

    @Option(
        help: "Production, Sandbox, Xcode …; required if the id is known in several.",
        transform: SubjectOptions.environment
    )
    var environment: StoreEnvironment?

    @Option(help: "The reason; kept with the statement.")
    var reason = ""

    @Option(help: "Who makes the statement. Default: the user of this machine.")
    var by: String?

    @Option(
        help: ArgumentHelp(
            "When it takes effect; may be in the past.",
            discussion: """
                Default for link: from the first purchase on, if no customer had the subscription \
                before; otherwise now. Default for unlink: now. Accepts \(AskedTime.forms).
                """,
            valueName: "time"
        ),
        transform: Clock.time
    )
    var at: AskedTime?

    @OptionGroup var zone: ZoneOption

    func validate() throws {
        let limits = [
            ("CUSTOMER", customer, 1...CustomerLink.customerByteCountMax),
            ("--by", by ?? "x", 1...CustomerLink.statedByByteCountMax),
            ("--reason", reason, 0...CustomerLink.reasonByteCountMax),
        ]
        for (name, text, bytes) in limits {
            guard bytes.contains(text.utf8.count) else {
                throw ValidationError(
                    "\(name) must have \(bytes.lowerBound) to \(bytes.upperBound) bytes, not "
                        + "\(text.utf8.count)"
                )
            }
        }
    }

    /// Makes the statement in a ledger; returns the outcome.
    func record(
        isLink: Bool,
        isTransfer: Bool = false,
        in database: DatabaseOptions
    ) async throws -> StatementDocument {
        let ledger = try await database.openLedger()
        let document = try await record(isLink: isLink, isTransfer: isTransfer, in: ledger)
        await ledger.close()
        return document
    }

    private func stream(in ledger: Ledger) async throws -> StreamID {
        do {
            return try await ledger.stream(
                of: SubjectID(originalTransactionId, in: environment, alone: true)
            )
        } catch let error as QuestionError where error.code == .unknownId {
            do {
                _ = try await ledger.stream(of: SubjectID(customer, in: environment, alone: true))
            } catch is QuestionError {
                throw error
            }
            throw Failure(
                Exit.notFound,
                "no subscription has the id \(originalTransactionId), but one has the id "
                    + "\(customer): name the customer first, then the id"
            )
        }
    }

    private func record(
        isLink: Bool,
        isTransfer: Bool,
        in ledger: Ledger
    ) async throws -> StatementDocument {
        let stream = try await stream(in: ledger)
        let now = Instant.systemClock()
        let (author, instant) = (by ?? NSUserName(), zone.instant(at, "--at", now: now))
        let (link, outcome): (CustomerLink, LinkOutcome)
        if isLink {
            (link, outcome) = try await ledger.link(
                stream,
                to: customer,
                reason: reason,
                by: author,
                from: instant,
                isTransfer: isTransfer,
                now: now
            )
        } else {
            link = CustomerLink(
                stream: stream,
                customer: nil,
                statedBy: author,
                reason: reason,
                statedAt: instant ?? now
            )
            outcome = try await ledger.add(link, unlinking: customer, receivedAt: now)
        }
        guard let document = StatementDocument(link, customer: customer, outcome)
        else {
            throw outcome.refusal(of: link, customer)
                ?? Failure(Exit.internalError, "the statement was neither accepted nor refused")
        }
        return document
    }
}

struct LinkCustomerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "State that a subscription belongs to a customer.",
        discussion: """
            If another customer has the subscription, the link is refused with exit 65, unless \
            --transfer ends the other link at the same instant. Repeating a link changes nothing. \
            Without --at, a link holds from the first purchase on if no customer had the \
            subscription before, otherwise from now on. Exit 4 if the subscription has no event.
            """
    )

    @OptionGroup var statement: StatementOptions

    @Flag(help: "Move the subscription from the customer who has it.")
    var transfer = false

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await statement.record(
            isLink: true,
            isTransfer: transfer,
            in: database
        )
        try output.print(document, [document.text])
    }
}

struct UnlinkCustomerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink",
        abstract: "State that a subscription no longer belongs to a customer.",
        discussion: "Exit 4 if the customer does not have the subscription at that instant."
    )

    @OptionGroup var statement: StatementOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let document = try await statement.record(isLink: false, in: database)
        try output.print(document, [document.text])
    }
}

extension LinkOutcome {
    /// Why a statement was refused; nil if it was accepted.
    fileprivate func refusal(of link: CustomerLink, _ customer: String) -> Failure? {
        let id = link.stream.originalTransactionId
        switch self {
        case .appended, .duplicate: return nil
        case .erased(let position):
            return Failure(
                Exit.badInput,
                "event \(position.mark) erased everything stated about \(id) before "
                    + "it; nothing was appended. Use a later --at"
            )
        case .nameIsId(let other):
            return Failure(
                Exit.badInput,
                "\(customer) is also the id of the subscription \(other.originalTransactionId), "
                    + "which is not linked to this customer, so the name would be ambiguous; "
                    + "nothing "
                    + "was appended. If that subscription belongs to the customer, link it first; "
                    + "otherwise use another name"
            )
        case .unknownStream:
            return Failure(
                Exit.notFound,
                "\(id) has no event from Apple in \(link.stream.environment); ingest its payloads "
                    + "first"
            )
        case .notLinked:
            return Failure(
                Exit.notFound,
                "no link gives \(id) to \(customer) at \(link.statedAt); see `subledger customers "
                    + "show \(id)`"
            )
        case .held(let hold):
            let fact =
                "\(id) \(hold.until == nil ? "belongs" : "belonged") to customer "
                + "\(hold.customer) \(hold.since.sinceWords)"
                + (hold.until.map { " until \($0)" } ?? "")
                + " (event \(hold.position.mark)); nothing was appended. "
            return Failure(
                Exit.badInput,
                hold.since < link.statedAt
                    ? fact + "To move it, use --transfer, which ends that link first"
                    : fact
                        + "A link cannot begin before that of another customer: use an --at after "
                        + (hold.until.map { "\($0)" } ?? "\(hold.since), with --transfer")
            )
        }
    }
}

extension StatementDocument {
    fileprivate var text: String {
        let what = statement == "link" ? "linked to" : "unlinked from"
        let state = outcome == "duplicate" ? "known already" : "appended"
        return "\(originalTransactionId) · \(environment) · \(what) \(customer) "
            + "\(statedAt.startWords): \(state), \(positions.marks)"
    }
}
