import ArgumentParser
import CommandSupport
import Events
import SubledgerAppStore

struct RevokeSeatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke-seats",
        abstract: "Take seats of an Advanced Commerce subscription back, and refund them.",
        discussion: """
            Only apps with Advanced Commerce may do this. Prints the request, and checks that Apple \
            knows the transaction. With --execute, sends the request; the refund arrives as the \
            notification REFUND with the subtype SEATS, and the subscription continues with the \
            seats that are left.
            """
    )

    @Argument(help: "The transaction id of the purchase, or of the addition of seats.")
    var id: String

    @Option(help: "How many seats to take back.")
    var seats: Int

    @Option(help: "How much to refund: full or prorated.")
    var refund: Refund

    @Option(
        help: ArgumentHelp(
            "The reason: unintended, fulfillment, unsatisfied, legal or other.",
            valueName: "reason"
        )
    )
    var reason: Reason

    @Flag(
        inversion: .prefixedNo,
        help: "Whether you prefer that Apple takes the risk that the refund is abused."
    )
    var refundRisking: Bool

    @OptionGroup var requestID: RequestIDOption
    @OptionGroup var change: AppleChangeOptions

    enum Refund: String, CaseIterable, ExpressibleByArgument {
        case full, prorated

        fileprivate var type: SeatRevocation.RefundType {
            switch self {
            case .full: .full
            case .prorated: .prorated
            }
        }
    }

    enum Reason: String, CaseIterable, ExpressibleByArgument {
        case unintended, fulfillment, unsatisfied, legal, other

        fileprivate var reason: SeatRevocation.Reason {
            switch self {
            case .unintended: .unintendedPurchase
            case .fulfillment: .fulfillmentIssue
            case .unsatisfied: .unsatisfied
            case .legal: .legal
            case .other: .other
            }
        }
    }

    func validate() throws { _ = try revocation() }

    private func revocation() throws -> SeatRevocation {
        let revocation = SeatRevocation(
            seats: seats,
            refundType: refund.type,
            reason: reason.reason,
            isRefundRiskingPreferred: refundRisking,
            requestReferenceId: requestID.id
        )
        guard let revocation else {
            throw ValidationError(
                "expected --seats above 0, and a --request-id of letters, digits, -, ., _ and ~"
            )
        }
        return revocation
    }

    func run() async throws {
        let revocation = try revocation()
        try await change.run(
            .revokeSeats(id, revocation),
            about: id,
            "revoke-seats",
            sent: "Apple accepted the request about \(id)"
        ) { try await $0.revokeSeats(revocation, of: id, in: $1) }
    }
}
