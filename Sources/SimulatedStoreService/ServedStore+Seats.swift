internal import AppStoreSimulator
internal import Events
internal import Synchronization

/// A claimed seat.
struct SeatClaim: Hashable, Sendable {
    let id: String
    /// The identifier of the request that made it.
    let requestIdentifier: String
    /// The customer; nil until it is associated.
    var appTransactionId: String?
}

/// The body of Claim Seat.
struct SeatClaimBody: Decodable {
    let requestIdentifier: String?
    let appTransactionId: String?
}

/// The body of Associate Seat.
struct SeatAssociationBody: Decodable {
    let appTransactionId: String?
}

/// Get Seat Info.
struct SeatInfoDocument: Encodable {
    let totalSeatCount: Int64
    let availableSeatCount: Int64
    let assignedSeatClaimIds: [String]
}

/// Get Customer Groups.
struct CustomerGroupsDocument: Encodable {
    let groups: [Group]

    /// A group; only organisations have roles.
    struct Group: Encodable {
        let groupId: String
        let groupType: String
    }
}

/// Get Group Members.
struct GroupMembersDocument: Encodable {
    let members: [Member]
    let hasMore: Bool
    let paginationToken: String?

    /// A member.
    struct Member: Encodable {
        let appTransactionId: String
    }
}

extension ServedStore {
    /// The most members of one page.
    static let membersMax = 100

    /// Get Seat Info.
    func seatInfo(of id: String, at now: Instant) throws(StoreError) -> SeatInfoDocument {
        let (number, seats) = try seatLife(of: id, at: now)
        let claims = seatClaims.withLock { $0[number] ?? [] }
        return SeatInfoDocument(
            totalSeatCount: seats.quantity,
            // Apple releases no claim at a renewal with fewer seats.
            availableSeatCount: max(0, seats.quantity - Int64(claims.count)),
            assignedSeatClaimIds: claims.map(\.id)
        )
    }

    /// Claim Seat: the id of the claim, the same for the same identifier of a request.
    func claimSeat(
        of id: String,
        _ body: SeatClaimBody,
        at now: Instant
    ) throws(StoreError) -> String {
        guard let identifier = body.requestIdentifier, !identifier.isEmpty else {
            throw .invalidRequestIdentifier
        }
        let (number, seats) = try seatLife(of: id, at: now)
        let seed = life(number).identity.index

        let claim = seatClaims.withLock { kept -> String? in
            let claims = kept[number] ?? []
            if let known = claims.first(where: { $0.requestIdentifier == identifier }) {
                return known.id
            }
            guard Int64(claims.count) < seats.quantity else { return nil }
            // The bytes of the identifier make the claim's id, so that none is used twice.
            let branch = identifier.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
                ($0 ^ UInt64($1)) &* 1_099_511_628_211
            }
            var generator = SeededGenerator(seed: UInt64(seed), branch: branch)
            let claim = SeatClaim(
                id: generator.uuid(),
                requestIdentifier: identifier,
                appTransactionId: body.appTransactionId
            )
            kept[number] = claims + [claim]
            return claim.id
        }

        guard let claim else { throw .noAvailableSeats }
        return claim
    }

    /// Unclaim Seat.
    func unclaimSeat(_ claim: String, of id: String, at now: Instant) throws(StoreError) {
        let number = try seatLife(of: id, at: now).number
        guard release([claim], ofLife: number) else { throw .seatClaimNotFound }
    }

    /// Associate Seat.
    func associateSeat(
        _ claim: String,
        of id: String,
        _ body: SeatAssociationBody,
        at now: Instant
    ) throws(StoreError) {
        guard let customer = body.appTransactionId, !customer.isEmpty else { throw .badRequest }
        let number = try seatLife(of: id, at: now).number
        let isKnown = seatClaims.withLock { kept in
            guard let index = kept[number]?.firstIndex(where: { $0.id == claim }) else {
                return false
            }
            kept[number]?[index].appTransactionId = customer
            return true
        }
        guard isKnown else { throw .seatClaimNotFound }
    }

    /// Releases claims of a life; false, and nothing is released, if one of them does not exist.
    func release(_ claims: [String], ofLife number: Int) -> Bool {
        seatClaims.withLock { kept in
            let known = Set((kept[number] ?? []).map(\.id))
            guard known.isSuperset(of: claims) else { return false }
            kept[number]?.removeAll { claims.contains($0.id) }
            return true
        }
    }

    /// Get Customer Groups: those of the seats that the customer bought or has.
    func groups(of appTransactionId: String, at now: Instant) -> CustomerGroupsDocument {
        let claimed = seatClaims.withLock { kept in
            kept.filter { $0.value.contains { $0.appTransactionId == appTransactionId } }.keys
        }
        let bought = life(of: appTransactionId, at: now).map { [$0] } ?? []
        let numbers = Set(claimed).union(bought).sorted().filter { isGroup($0, at: now) }
        return CustomerGroupsDocument(
            groups: numbers.map {
                CustomerGroupsDocument.Group(
                    groupId: Self.groupPrefix + life($0).originalTransactionId,
                    groupType: "CONSUMER"
                )
            }
        )
    }

    /// Get Group Members: the purchaser, and those with a seat.
    ///
    /// A pagination token is the number of the first member of the page.
    func members(
        of group: String,
        limit: String?,
        page: String?,
        at now: Instant
    ) throws(StoreError) -> GroupMembersDocument {
        guard group.hasPrefix(Self.groupPrefix),
            let number = life(of: String(group.dropFirst(Self.groupPrefix.count)), at: now),
            isGroup(number, at: now)
        else { throw .groupNotFound }
        let size = limit.map { Int($0) ?? 0 } ?? Self.membersMax
        guard (1...Self.membersMax).contains(size) else { throw .badRequest }
        let claims = seatClaims.withLock { $0[number] ?? [] }
        let members =
            [life(number).identity.appTransactionId] + claims.compactMap(\.appTransactionId)
        let first = page.map { Int($0) ?? -1 } ?? 0
        guard first == 0 || members.indices.contains(first) else { throw .invalidPaginationToken }
        let end = min(first + size, members.count)
        return GroupMembersDocument(
            members: members[first..<end].map(GroupMembersDocument.Member.init),
            hasMore: end < members.count,
            paginationToken: end < members.count ? "\(end)" : nil
        )
    }

    private static let groupPrefix = "G"

    private func isGroup(_ number: Int, at now: Instant) -> Bool {
        let (life, instant) = life(number, at: now)
        return life.seats(asOf: instant) != nil
    }

    // Only the developer's own members claim seats: Apple's own get a transaction instead.
    private func seatLife(
        of id: String,
        at now: Instant
    ) throws(StoreError) -> (number: Int, seats: SimulatedSeats) {
        guard let number = life(of: id, allowsAppTransaction: false, at: now) else {
            throw .transactionNotFound
        }
        let (life, instant) = life(number, at: now)
        guard life.identity.bundle == nil else { throw .bundleTransaction }
        guard let seats = life.seats(asOf: instant),
            seats.invitations == .developer, !life.identity.isMember
        else { throw .notMultiseat }
        return (number, seats)
    }
}
