import ArgumentParser
import CommandSupport
import Events
import Subledger
import SubledgerAppStore

/// The options of an extension: days, reason and request id.
struct ExtensionOptions: ParsableArguments {
    @Option(help: "Days to add, 1 to 90.")
    var days: Int

    @Option(
        help: ArgumentHelp(
            "The reason: undeclared, customer-satisfaction, other or outage.",
            valueName: "reason"
        )
    )
    var reason: Reason

    @OptionGroup var requestID: RequestIDOption

    enum Reason: String, CaseIterable, ExpressibleByArgument {
        case undeclared, other, outage
        case customerSatisfaction = "customer-satisfaction"

        fileprivate var code: RenewalExtension.Reason {
            switch self {
            case .undeclared: .undeclared
            case .customerSatisfaction: .customerSatisfaction
            case .other: .other
            case .outage: .serviceIssueOrOutage
            }
        }
    }

    /// The extension that these options describe.
    func wanted() throws -> RenewalExtension {
        let wanted = RenewalExtension(
            days: days,
            reason: reason.code,
            requestIdentifier: requestID.id
        )
        guard let wanted else {
            throw ValidationError(
                "expected --days from 1 to \(RenewalExtension.daysMax), and a --request-id of at "
                    + "most \(RenewalExtension.requestIdentifierByteCountMax) letters, digits, -, "
                    + "., _ and ~"
            )
        }
        return wanted
    }
}

struct ExtendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Extend the renewal date of one subscription.",
        discussion: """
            Prints the request, and checks that Apple knows the subscription. With --execute, \
            sends the request. Apple extends a subscription at most twice a year, and refuses to \
            extend one that is not active.
            """
    )

    @Argument(help: "The original transaction id of the subscription.")
    var id: String

    @OptionGroup var `extension`: ExtensionOptions
    @OptionGroup var change: AppleChangeOptions

    func validate() throws { _ = try `extension`.wanted() }

    func run() async throws {
        if try await change.poll.printsConfig() { return }
        let wanted = try `extension`.wanted()
        let result = try await change.poll.withClient { client, environment in
            guard change.execute else {
                _ = try await client.answer(to: .subscriptionStatuses(id), in: environment)
                return nil as RenewalExtensionResult?
            }
            return try await client.extendRenewalDate(of: id, by: wanted, in: environment)
        }
        try change.print(
            AppleChangeDocument(
                executed: change.execute,
                request: AppleRequestDocument(.extendRenewalDate(id, wanted)),
                result: result
            ),
            "extend",
            sent: result.map { result in
                result.success
                    ? "\(id) now ends at \(result.effectiveDate.map { "\($0)" } ?? "?")"
                    : "Apple did not extend \(id)"
            },
            found: "Apple knows \(id)"
        )
        if let result, !result.success { throw Exit.no }
    }
}

struct ExtendAllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend-all",
        abstract: "Extend the renewal dates of all active subscribers of a product.",
        discussion: """
            Prints the request, or its status if a request with this --request-id was sent \
            before. With --execute, sends the request, unless it was sent before. Apple takes \
            hours or days; `subledger apple extension-status` prints the status.
            """
    )

    @Argument(help: "The product id.")
    var productId: String

    @Option(
        help: ArgumentHelp(
            "Only this storefront, such as USA; repeat for more. Default: all.",
            valueName: "country"
        )
    )
    var storefront: [String] = []

    @OptionGroup var `extension`: ExtensionOptions
    @OptionGroup var change: AppleChangeOptions

    func validate() throws {
        _ = try `extension`.wanted()
        for code in storefront
        where code.utf8.count != 3 || !code.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) {
            throw ValidationError(
                "'\(code)' is not a storefront; expected three capital letters, such as USA"
            )
        }
    }

    func run() async throws {
        if try await change.poll.printsConfig() { return }
        let wanted = try `extension`.wanted()
        let request = AppleRequestDocument(
            .extendRenewalDates(productId: productId, storefronts: storefront, wanted)
        )

        let (identifier, status) = try await change.poll.withClient { client, environment in
            let status = try await client.extensionStatus(
                ofProduct: productId,
                wanted.requestIdentifier,
                in: environment
            )
            guard change.execute, status == nil else { return (wanted.requestIdentifier, status) }
            let identifier = try await client.extendRenewalDates(
                ofProduct: productId,
                storefronts: storefront,
                by: wanted,
                in: environment
            )
            return (identifier, nil)
        }

        let isSent = change.execute && status == nil
        let sent =
            isSent
            ? "requested; `subledger apple extension-status \(productId) \(identifier)` prints the "
                + "status" : nil
        try change.print(
            AppleChangeDocument(
                executed: isSent,
                request: request,
                requestIdentifier: identifier,
                status: status
            ),
            "extend-all",
            sent: status.map { "\(identifier) was sent before\n\($0.text)" } ?? sent
        )
    }
}

struct ExtensionStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extension-status",
        abstract: "Print the status of an extension for all subscribers.",
        discussion: "Changes nothing. Exit 4 if Apple does not know the request."
    )

    @Argument(help: "The product id.")
    var productId: String

    @Argument(help: "The id of the request, as `extend-all` printed it.")
    var requestId: String

    @OptionGroup var poll: PollOptions

    func run() async throws {
        if try await poll.printsConfig() { return }
        let status = try await poll.withClient { client, environment in
            try await client.extensionStatus(ofProduct: productId, requestId, in: environment)
        }
        guard let status else {
            throw Failure(
                Exit.notFound,
                "Apple does not know the extension \(requestId) of \(productId); check both ids "
                    + "and --environment"
            )
        }
        try poll.output.print(status, [status.text])
    }
}

extension RenewalExtensionStatus {
    /// The status as text.
    fileprivate var text: String {
        guard complete else { return "not complete yet" }
        return "completed at \(completeDate.map { "\($0)" } ?? "?"): "
            + "\(counted(succeededCount ?? 0, "subscription")) extended, \(failedCount ?? 0) not"
    }
}
