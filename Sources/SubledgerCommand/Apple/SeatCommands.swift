import ArgumentParser
import CommandSupport
import Events
import Subledger
import SubledgerAppStore

struct SeatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seats",
        abstract: "Print how many seats a subscription has, and which are claimed.",
        discussion: "Changes nothing. For subscriptions whose members you manage yourself. "
            + SandboxOnly.help
    )

    @Argument(help: "A transaction id of the subscription.")
    var id: String

    @OptionGroup var poll: PollOptions

    func run() async throws {
        if try await poll.printsConfig() { return }
        let seats = try await poll.withSandbox { client, environment in
            try await client.seats(of: id, in: environment)
        }
        try poll.output.print(seats, [seats.text] + seats.assignedSeatClaimIds)
    }
}

extension SeatInfo {
    /// The counts as text.
    fileprivate var text: String {
        "\(counted(totalSeatCount, "seat")), \(assignedSeatClaimIds.count) claimed, "
            + "\(availableSeatCount) free"
    }
}

extension AppleChangeOptions {
    /// Sends a request about a claim; without --execute, prints the request and the seats.
    ///
    /// - Parameters:
    ///   - command: The request.
    ///   - id: A transaction id of the subscription.
    ///   - name: The command, for messages.
    ///   - send: Sends the request, and returns the claim and what to print.
    /// - Throws: `ServerError`, or `Failure` if a setting is missing or wrong.
    fileprivate func run(
        _ command: ServerCommand,
        of id: String,
        _ name: String,
        _ send: (AppStoreServerClient, StoreEnvironment) async throws -> (String, String)
    ) async throws {
        if try await poll.printsConfig() { return }
        let outcome: (seats: SeatInfo?, sent: (claimId: String, text: String)?)
        outcome = try await poll.withSandbox { client, environment in
            guard execute else {
                return (try await client.seats(of: id, in: environment), nil)
            }
            return (nil, try await send(client, environment))
        }
        try print(
            AppleChangeDocument(
                executed: execute,
                request: AppleRequestDocument(command),
                seatClaimId: outcome.sent?.claimId,
                seats: outcome.seats
            ),
            name,
            sent: outcome.sent?.text,
            found: outcome.seats.map { "\(id) has \($0.text)" }
        )
    }
}

struct ClaimSeatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim-seat",
        abstract: "Claim a seat of a subscription for a member whom you invited.",
        discussion: """
            Prints the request, and how many seats are free. With --execute, sends the request and \
            prints the id of the claim, which `unclaim-seat` and `associate-seat` need. If you \
            send it again with the same --request-id, Apple returns the same claim.

            \(SandboxOnly.help)
            """
    )

    @Argument(help: "A transaction id of the subscription.")
    var id: String

    @Option(
        help: ArgumentHelp(
            "The member's app transaction id. If left out, set it later with `associate-seat`.",
            valueName: "id"
        )
    )
    var appTransactionId: String?

    @OptionGroup var requestID: RequestIDOption
    @OptionGroup var change: AppleChangeOptions

    func validate() throws { _ = try claim() }

    private func claim() throws -> SeatClaim {
        let claim = SeatClaim(
            requestIdentifier: requestID.id,
            appTransactionId: appTransactionId
        )
        guard let claim else {
            throw ValidationError(
                "expected a --request-id of at most "
                    + "\(RenewalExtension.requestIdentifierByteCountMax) letters, digits, -, ., _ "
                    + "and ~"
            )
        }
        return claim
    }

    func run() async throws {
        let claim = try claim()
        try await change.run(.claimSeat(id, claim), of: id, "claim-seat") { client, environment in
            let claimId = try await client.claimSeat(claim, of: id, in: environment)
            return (claimId, claimId)
        }
    }
}

/// A claim that a command changes.
struct SeatClaimOptions: ParsableArguments {
    @Argument(help: "A transaction id of the subscription.")
    var id: String

    @Argument(help: "The id of the claim, as `claim-seat` and `seats` print it.")
    var claimId: String

    /// What the help of such a command states.
    fileprivate static let discussion = """
        Prints the request, and how many seats are claimed. With --execute, sends the request.

        \(SandboxOnly.help)
        """
}

struct UnclaimSeatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unclaim-seat",
        abstract: "Release the claim of a seat, so that another member can have it.",
        discussion: SeatClaimOptions.discussion
    )

    @OptionGroup var claim: SeatClaimOptions
    @OptionGroup var change: AppleChangeOptions

    func run() async throws {
        let (id, claimId) = (claim.id, claim.claimId)
        let command = ServerCommand.unclaimSeat(id, claim: claimId)
        try await change.run(command, of: id, "unclaim-seat") { client, environment in
            try await client.unclaimSeat(claimId, of: id, in: environment)
            return (claimId, "\(claimId) is released")
        }
    }
}

struct AssociateSeatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "associate-seat",
        abstract: "State which customer has a claimed seat.",
        discussion: SeatClaimOptions.discussion
    )

    @OptionGroup var claim: SeatClaimOptions

    @Argument(help: "The member's app transaction id.")
    var appTransactionId: String

    @OptionGroup var change: AppleChangeOptions

    func run() async throws {
        let (id, claimId) = (claim.id, claim.claimId)
        let command = ServerCommand.associateSeat(
            id,
            claim: claimId,
            appTransactionId: appTransactionId
        )
        try await change.run(command, of: id, "associate-seat") { client, environment in
            try await client.associateSeat(
                claimId,
                with: appTransactionId,
                of: id,
                in: environment
            )
            return (claimId, "\(claimId) is for \(appTransactionId)")
        }
    }
}
