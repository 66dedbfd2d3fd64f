import AppStoreSimulator
import Events
import Foundation
import SimulatedStoreService
@testable import SubledgerAppStore
import TestSupport
import Testing

/// Groups and seats, over HTTP, with a store that counts claims as Apple documents it.
@Suite struct SeatTests {
    private struct Bought: Decodable {
        let originalTransactionId: String
    }

    /// A store with a subscription of so many seats in its sandbox.
    private static func withSeats(
        _ seats: Int,
        management: String = "DEVELOPER",
        _ body: @escaping @Sendable (TestStore, AppStoreServerClient, String) async throws -> Void
    ) async throws {
        try await TestStore.run(ticks: true) {
            ($0.subscriptions, $0.monthMilliseconds, $0.rateShare) = (0, 6_000_000, 1000)
        } _: { store in
            let (status, data) = try await store.post(
                "/control/subscriptions",
                #"{"productId":"example.subledger.lumen.plus.monthly","environment":"Sandbox","#
                    + #""seats":\#(seats),"invitationManagement":"\#(management)"}"#
            )
            #expect(status == 201, "\(String(decoding: data, as: UTF8.self))")
            let id = try JSONDecoder().decode(Bought.self, from: data).originalTransactionId
            try await store.withClient { client in try await body(store, client, id) }
        }
    }

    private static func claim(_ identifier: String, _ customer: String? = nil) throws -> SeatClaim {
        try #require(SeatClaim(requestIdentifier: identifier, appTransactionId: customer))
    }

    @Test func `a seat is claimed once for each request, associated, and released`() async throws {
        try await Self.withSeats(3) { _, client, id in
            let none = try await client.seats(of: id, in: .sandbox)
            #expect(none.totalSeatCount == 3 && none.availableSeatCount == 3)
            let first = try await client.claimSeat(try Self.claim("a"), of: id, in: .sandbox)
            let again = try await client.claimSeat(try Self.claim("a"), of: id, in: .sandbox)
            #expect(first == again)
            let other = try await client.claimSeat(try Self.claim("b", "7"), of: id, in: .sandbox)
            #expect(other != first)
            try await client.associateSeat(first, with: "8", of: id, in: .sandbox)
            let two = try await client.seats(of: id, in: .sandbox)
            #expect(two.availableSeatCount == 1 && two.assignedSeatClaimIds == [first, other])
            let groups = try await client.customerGroups(of: "8", in: .sandbox)
            #expect(groups.map(\.groupType) == ["CONSUMER"])
            try await client.unclaimSeat(first, of: id, in: .sandbox)
            #expect(try await client.seats(of: id, in: .sandbox).availableSeatCount == 2)
            #expect(try await client.customerGroups(of: "8", in: .sandbox).isEmpty)
            let gone = try await serverError {
                try await client.unclaimSeat(first, of: id, in: .sandbox)
            }
            #expect(gone.code == .refused)
        }
    }

    @Test func `no seat is claimed beyond those that were bought, and added ones count at once`()
        async throws
    {
        try await Self.withSeats(1) { store, client, id in
            _ = try await client.claimSeat(try Self.claim("a"), of: id, in: .sandbox)
            let full = try await serverError {
                _ = try await client.claimSeat(try Self.claim("b"), of: id, in: .sandbox)
            }
            #expect(full.code == .refused)
            let (status, _) = try await store.post(
                "/control/subscriptions/\(id)/add-seats",
                #"{"seats":2}"#
            )
            #expect(status == 200)
            _ = try await client.claimSeat(try Self.claim("b"), of: id, in: .sandbox)
            let seats = try await client.seats(of: id, in: .sandbox)
            #expect(seats.totalSeatCount == 3 && seats.availableSeatCount == 1)
        }
    }

    @Test func `claims that Apple releases are free again, and are announced`() async throws {
        try await Self.withSeats(2) { store, client, id in
            let claim = try await client.claimSeat(try Self.claim("a"), of: id, in: .sandbox)
            let unknown = try await store.post(
                "/control/subscriptions/\(id)/unclaim-seats",
                #"{"seatClaimIds":["no"]}"#
            )
            #expect(unknown.0 == 409)
            let released = try await store.post(
                "/control/subscriptions/\(id)/unclaim-seats",
                #"{"seatClaimIds":["\#(claim)"]}"#
            )
            #expect(released.0 == 200)
            #expect(try await client.seats(of: id, in: .sandbox).assignedSeatClaimIds.isEmpty)
        }
    }

    @Test func `all members of a group are read, page by page`() async throws {
        try await Self.withSeats(9) { _, client, id in
            for number in 1...7 {
                let claim = try Self.claim("r\(number)", "\(number)")
                _ = try await client.claimSeat(claim, of: id, in: .sandbox)
            }
            let group = try #require(
                try await client.customerGroups(of: "3", in: .sandbox).first
            )
            let all = try await client.groupMembers(of: group.groupId, in: .sandbox)
            #expect(Array(all.dropFirst()) == (1...7).map(String.init))
            let paged = try await client.groupMembers(of: group.groupId, limit: 3, in: .sandbox)
            #expect(paged == all)
            let unknown = try await serverError {
                _ = try await client.groupMembers(of: "nobody", in: .sandbox)
            }
            #expect(unknown.code == .refused)
        }
    }

    @Test func `seats whose members Apple manages cannot be claimed`() async throws {
        try await Self.withSeats(3, management: "APPLE") { _, client, id in
            let error = try await serverError {
                _ = try await client.claimSeat(try Self.claim("a"), of: id, in: .sandbox)
            }
            #expect(error.errorCode?.rawValue == 4_000_047)
        }
    }

    @Test func `in production nothing is sent, and the message says why`() async throws {
        try await TestStore.run {
            $0.subscriptions = 0
        } _: { store in
            try await store.withClient { client in
                let asked = try await serverError {
                    _ = try await client.seats(of: "1", in: .production)
                }
                let changed = try await serverError {
                    _ = try await client.claimSeat(try Self.claim("a"), of: "1", in: .production)
                }
                for error in [asked, changed] {
                    #expect(error.code == .refused && error.message.contains("sandbox only"))
                }
            }
            #expect(try await store.requests().isEmpty)
        }
    }

    @Test func `the commands print a request first, and send it with --execute`() async throws {
        let store = try await StoreProcess.start(["--subscriptions", "0", "--month", "100m"])
        let made = try await store.post(
            "/control/subscriptions",
            #"{"productId":"example.subledger.lumen.plus.monthly","environment":"Sandbox","#
                + #""seats":2,"invitationManagement":"DEVELOPER"}"#
        )
        let id = try JSONDecoder().decode(Bought.self, from: made).originalTransactionId
        func apple(_ arguments: String...) async throws -> Program.Ending {
            try await Program("subledger").run(["apple"] + arguments + store.flags)
        }
        func sandbox(_ arguments: String...) async throws -> Program.Ending {
            try await Program("subledger").run(
                ["apple"] + arguments + store.flags + ["--environment", "Sandbox"]
            )
        }
        let production = try await apple("seats", id)
        #expect(production.code == 64 && production.errors.contains("--environment Sandbox"))
        let dry = try await sandbox("claim-seat", id, "--request-id", "r")
        #expect(dry.code == 0, "\(dry.errors)")
        #expect(dry.output.contains("POST /groups/v1/transactions/\(id)/seats"))
        #expect(dry.errors.contains("2 seats, 0 claimed, 2 free. Nothing was sent"))
        let sent = try await sandbox("claim-seat", id, "--request-id", "r", "--execute")
        let claim = sent.output.split(separator: "\n").first.map(String.init) ?? ""
        #expect(sent.code == 0 && UUID(uuidString: claim) != nil, "\(sent.errors)")
        let associated = try await sandbox("associate-seat", id, claim, "77", "--execute")
        #expect(associated.output == "\(claim) is for 77\n", "\(associated.errors)")
        let seats = try await sandbox("seats", id)
        #expect(seats.output == "2 seats, 1 claimed, 1 free\n\(claim)\n")
        let groups = try await sandbox("groups", "77")
        #expect(groups.output == "G\(id)  CONSUMER\n", "\(groups.errors)")
        let members = try await sandbox("members", "G\(id)", "--page-size", "1", "--json")
        #expect(members.output.contains(#""77""#), "\(members.errors)")
        let released = try await sandbox("unclaim-seat", id, claim, "--execute", "--json")
        #expect(released.output.contains(#""executed":true"#), "\(released.output)")
        let gone = try await sandbox("unclaim-seat", id, claim, "--execute")
        #expect(gone.code == 4, "\(gone.errors)")
        await store.end()
    }
}
