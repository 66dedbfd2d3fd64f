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

            No other command sends this information: you decide whether to answer, and what.
            """
    )

    @Argument(help: "The transaction id from the notification.")
    var id: String

    @Flag(help: "The customer has consented to sending this information to Apple.")
    var customerConsented = false

    @Option(
        help: ArgumentHelp(
            "State of delivery: delivered, quality-issue, wrong-item, server-outage, other.",
            valueName: "status"
        )
    )
    var delivery: Delivery

    @Flag(
        inversion: .prefixedNo,
        help: "Whether a sample, a trial or a description was available before the purchase."
    )
    var sampleProvided: Bool

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

    func validate() throws { _ = try information() }

    private func information() throws -> ConsumptionInformation {
        guard customerConsented else {
            throw ValidationError(
                "--customer-consented is missing: Apple accepts this only with the customer's "
                    + "consent"
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
        return information
    }

    func run() async throws {
        let information = try information()
        try await change.run(
            .sendConsumption(id, information),
            about: id,
            "consumption",
            sent: "Apple accepted the information about \(id)"
        ) { try await $0.send(information, about: id, in: $1) }
    }
}
