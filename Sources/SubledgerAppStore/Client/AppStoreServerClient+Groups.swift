internal import AppStore
package import Events

/// Groups of customers and the seats of multiseat subscriptions
/// (https://developer.apple.com/documentation/appstoreserverapi).
///
/// Apple offers groups and claims in the sandbox only; elsewhere the code `refused` is thrown and
/// nothing is sent.
extension AppStoreServerClient {
    /// The groups that a customer belongs to.
    ///
    /// - Parameters:
    ///   - appTransactionId: Apple's id of the customer in the app.
    ///   - environment: The sandbox.
    /// - Returns: The groups; none if the purchaser of a group does not share its data.
    /// - Throws: `ServerError`, `CancellationError`.
    package func customerGroups(
        of appTransactionId: String,
        in environment: StoreEnvironment
    ) async throws -> [CustomerGroup] {
        let request = ServerRequest.customerGroups(appTransactionId)
        let groups = try await elements("groups", of: request, in: environment)
        return try groups.map { group in
            guard let id = group["groupId"]?.text, let type = group["groupType"]?.text else {
                throw AppStoreServerClient.notDocumented(request)
            }
            return CustomerGroup(
                groupId: id,
                groupType: type,
                roles: (group["roles"]?.elements ?? []).map {
                    CustomerGroup.Role(productId: $0["productId"]?.text, role: $0["role"]?.text)
                }
            )
        }
    }

    /// Requests all members of a group, page by page.
    ///
    /// - Parameters:
    ///   - groupId: The group.
    ///   - limit: The most members a page; nil for Apple's choice.
    ///   - environment: The sandbox.
    /// - Returns: The app transaction ids of the members, in Apple's order.
    /// - Throws: `ServerError`, `CancellationError`.
    package func groupMembers(
        of groupId: String,
        limit: Int? = nil,
        in environment: StoreEnvironment
    ) async throws -> [String] {
        let request = ServerRequest.groupMembers(groupId, limit: limit)
        var members: [String] = []
        _ = try await forEachPage(of: request, in: environment) { page in
            guard let root = AppStoreServerClient.object(page.payload),
                let entries = root["members"]?.elements
            else { throw AppStoreServerClient.notDocumented(request) }
            members += try entries.map { entry in
                guard let id = entry["appTransactionId"]?.text else {
                    throw AppStoreServerClient.notDocumented(request)
                }
                return id
            }
        }
        return members
    }

    /// The seats of a subscription whose members the developer manages.
    ///
    /// - Parameters:
    ///   - id: One of its transaction ids.
    ///   - environment: The sandbox.
    /// - Returns: How many there are, and which are claimed.
    /// - Throws: `ServerError`, `CancellationError`.
    package func seats(of id: String, in environment: StoreEnvironment) async throws -> SeatInfo {
        let request = ServerRequest.seats(id)
        let payload = try await answer(to: request, in: environment).payload
        guard let root = AppStoreServerClient.object(payload),
            let total = root["totalSeatCount"]?.integer,
            let available = root["availableSeatCount"]?.integer
        else { throw AppStoreServerClient.notDocumented(request) }
        return SeatInfo(
            totalSeatCount: total,
            availableSeatCount: available,
            assignedSeatClaimIds: (root["assignedSeatClaimIds"]?.elements ?? []).compactMap(\.text)
        )
    }

    /// Claims a seat.
    ///
    /// - Parameters:
    ///   - claim: The id of the request, and the customer if known.
    ///   - id: A transaction id of the subscription.
    ///   - environment: The sandbox.
    /// - Returns: The id of the claim, which the other requests need.
    /// - Throws: `ServerError`, `CancellationError`. The request is never sent twice; if you send
    ///   it again with the same identifier, Apple returns the same claim.
    package func claimSeat(
        _ claim: SeatClaim,
        of id: String,
        in environment: StoreEnvironment
    ) async throws -> String {
        let answer = try await perform(.claimSeat(id, claim), in: environment)
        guard let claimId = answer["seatClaimId"]?.text else {
            throw AppStoreServerClient.unreadable("the claim of a seat of \(id)")
        }
        return claimId
    }

    /// Releases a claim, so that the seat is free.
    ///
    /// - Parameters:
    ///   - claim: The id of the claim.
    ///   - id: A transaction id of the subscription.
    ///   - environment: The sandbox.
    /// - Throws: As `claimSeat` does.
    package func unclaimSeat(
        _ claim: String,
        of id: String,
        in environment: StoreEnvironment
    ) async throws {
        let command = ServerCommand.unclaimSeat(id, claim: claim)
        _ = try await send(command.call, in: environment)
    }

    /// States which customer has a claimed seat.
    ///
    /// - Parameters:
    ///   - claim: The id of the claim.
    ///   - appTransactionId: Apple's id of the customer in the app.
    ///   - id: A transaction id of the subscription.
    ///   - environment: The sandbox.
    /// - Throws: As `claimSeat` does.
    package func associateSeat(
        _ claim: String,
        with appTransactionId: String,
        of id: String,
        in environment: StoreEnvironment
    ) async throws {
        let command = ServerCommand.associateSeat(
            id,
            claim: claim,
            appTransactionId: appTransactionId
        )
        _ = try await send(command.call, in: environment)
    }

    /// Asks Apple to take seats back and to refund them; only apps with Advanced Commerce may.
    ///
    /// - Parameters:
    ///   - revocation: How many seats, and why.
    ///   - id: The transaction id of the purchase, or of the addition of seats.
    ///   - environment: Production or Sandbox.
    /// - Throws: As `claimSeat` does.
    package func revokeSeats(
        _ revocation: SeatRevocation,
        of id: String,
        in environment: StoreEnvironment
    ) async throws {
        _ = try await send(ServerCommand.revokeSeats(id, revocation).call, in: environment)
    }

    private func elements(
        _ name: StaticString,
        of request: ServerRequest,
        in environment: StoreEnvironment
    ) async throws -> [JSON.Value] {
        let payload = try await answer(to: request, in: environment).payload
        guard let root = AppStoreServerClient.object(payload), let list = root[name],
            list.kind == .array
        else { throw AppStoreServerClient.notDocumented(request) }
        return list.elements
    }

    private static func notDocumented(_ request: ServerRequest) -> ServerError {
        ServerError(
            .answerUnreadable,
            "the answer of \(request.call.path) does not have the documented form"
        )
    }
}
