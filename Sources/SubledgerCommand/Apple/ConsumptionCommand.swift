import ArgumentParser
import CommandSupport
import Events
import SubledgerAppStore

struct ConsumptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumption",
        abstract: "Send Apple information about a purchase whose customer asks for a refund.",
        discussion: """
            For a transaction of a CONSUMPTION_REQUEST notification, which Apple expects you to \
            answer within twelve hours. The customer must have consented: confirm this with \
            --customer-consented, without which nothing can be sent. Prints the request; with \
            --execute, sends it.

            --auto answers all requests in the ledger that are still due, by a policy: it states \
            where the customers' consent comes from, and which decisions you prefer. Without \
            --execute it prints what it would send if the customers consent. Each answer is \
            recorded; --list prints the requests with their answers. `subledger serve \
            --answer-consumption` does the same by itself. Exit 75 if requests wait for another \
            attempt, or another process answers.

            A policy is a JSON object. `consent` is required: callback (the address in `callback` \
            is asked about each request), customers (those in `consentingCustomers`) or terms \
            (every customer consented by the terms of the app). `rules` is a list of \
            {"when": {"earlierRefunds": {"atLeast": 2}}, "refundPreference": "DECLINE"}; the first \
            one that matches decides. The article AskingApple describes all members.
            """
    )

    @Argument(help: "The transaction id from the notification; none with --auto or --list.")
    var id: String?

    @Flag(help: "Answer all requests that are still due, by --policy.")
    var auto = false

    @Flag(help: "List requests and their answers, the newest 1000 first.")
    var list = false

    @Option(help: ArgumentHelp("With --auto: the policy, a JSON file.", valueName: "file"))
    var policy: String?

    @Flag(help: "With --auto: answer requests as they arrive, until SIGINT or SIGTERM.")
    var follow = false

    @Flag(help: "The customer has consented to sending this information to Apple.")
    var customerConsented = false

    @Option(
        help: ArgumentHelp(
            "State of delivery: delivered, quality-issue, wrong-item, server-outage, other.",
            valueName: "status"
        )
    )
    var delivery: Delivery?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether a sample, a trial or a description was available before the purchase."
    )
    var sampleProvided: Bool?

    @Option(help: "The percentage that was used, 0 to 100. Default: not stated.")
    var percentConsumed: Int?

    @Option(
        help: ArgumentHelp(
            "The decision that you prefer: decline, grant-full, grant-prorated.",
            valueName: "preference"
        )
    )
    var refund: Refund?

    @OptionGroup var change: AppleChangeOptions

    enum Delivery: String, CaseIterable, ExpressibleByArgument {
        case delivered, other
        case qualityIssue = "quality-issue"
        case wrongItem = "wrong-item"
        case serverOutage = "server-outage"

        fileprivate var status: ConsumptionInformation.DeliveryStatus {
            switch self {
            case .delivered: .delivered
            case .qualityIssue: .undeliveredQualityIssue
            case .wrongItem: .undeliveredWrongItem
            case .serverOutage: .undeliveredServerOutage
            case .other: .undeliveredOther
            }
        }
    }

    enum Refund: String, CaseIterable, ExpressibleByArgument {
        case decline
        case grantFull = "grant-full"
        case grantProrated = "grant-prorated"

        fileprivate var preference: ConsumptionInformation.RefundPreference {
            switch self {
            case .decline: .decline
            case .grantFull: .grantFull
            case .grantProrated: .grantProrated
            }
        }
    }

    func validate() throws {
        guard auto || list else {
            guard policy == nil, !follow else {
                throw ValidationError("--policy and --follow are for --auto")
            }
            _ = try information()
            return
        }
        let isOne = id != nil || customerConsented || delivery != nil || sampleProvided != nil
        guard auto != list, !isOne, percentConsumed == nil, refund == nil else {
            throw ValidationError(
                "an id with what to send, --auto and --list exclude each other; expected one of "
                    + "them"
            )
        }
        guard (policy != nil) == auto else {
            throw ValidationError(
                auto ? "--policy is missing: --auto answers by a policy" : "--policy is for --auto"
            )
        }
        guard !follow || auto && change.execute else {
            throw ValidationError("--follow is for --auto with --execute")
        }
    }

    private func information() throws -> (id: String, ConsumptionInformation) {
        guard let id else {
            throw ValidationError("expected a transaction id, --auto or --list")
        }
        guard customerConsented else {
            throw ValidationError(
                "--customer-consented is missing: Apple accepts this only with the customer's "
                    + "consent"
            )
        }
        guard let delivery, let sampleProvided else {
            throw ValidationError(
                (delivery == nil ? "--delivery" : "--sample-provided or --no-sample-provided")
                    + " is missing: Apple expects it"
            )
        }
        let information = ConsumptionInformation(
            deliveryStatus: delivery.status,
            isSampleProvided: sampleProvided,
            consumptionPercentage: percentConsumed.map { (0...100).contains($0) ? $0 * 1000 : -1 },
            refundPreference: refund?.preference
        )
        guard let information else {
            throw ValidationError(
                "--percent-consumed is \(percentConsumed ?? 0); expected 0 to 100"
            )
        }
        return (id, information)
    }

    func run() async throws {
        if list { return try await printRequests() }
        if let policy { return try await answer(by: policy) }
        let (id, information) = try information()
        try await change.run(
            .sendConsumption(id, body: information.body),
            about: id,
            "consumption",
            sent: "Apple accepted the information about \(id)"
        ) { try await $0.send(information, about: id, in: $1) }
    }
}
