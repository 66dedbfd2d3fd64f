import AppStoreSimulator
import Events
import Foundation
import Projections
import Testing

/// What Apple introduced in 2026, as told by hand: seats, bundles, retention offers, commitments.
@Suite struct StoryTests {
    private static let simulator = AppStoreSimulator(seed: 42)
    private static let start = Instant(milliseconds: 1_790_812_800_000)  // 2026-10-01

    private func lives(_ story: SimulatedStory) -> [SubscriptionLife] {
        Self.simulator.lives(of: story, from: Self.start)
    }

    private func rows(_ life: SubscriptionLife) -> [String] {
        life.periods.map { period in
            "\(day(period.validFrom)) \(day(period.validTo)) \(period.kind.rawValue)"
                + " \(period.endReason.rawValue)"
        }
    }

    // Purchased seats with what was paid and what is left, one line for each transaction.
    private func seats(_ life: SubscriptionLife) -> [String] {
        life.transactions.map { row in
            "\(day(row.startTime)) \(row.seats?.quantity ?? 0) - \(row.seats?.revoked ?? 0)"
                + " number \(row.renewalNumber)"
        }
    }

    private func day(_ instant: Instant) -> String {
        String(instant.description.dropFirst(5).prefix(5))
    }

    @Test func `added seats are a second transaction of their period, and fewer seats renew`()
        throws
    {
        let life = try #require(lives(.seatsAddedAndReduced).first)
        #expect(rows(life) == ["10-01 11-01 paid expired", "11-01 12-01 paid open"])
        #expect(
            seats(life) == [
                "10-01 8 - 0 number 1", "10-15 4 - 0 number 1", "11-01 6 - 0 number 2",
            ]
        )
        #expect(life.active.count == 1)
        #expect(life.movements.map(\.kind).filter { $0 == .renewal }.count == 1)
        #expect(
            try types(life) == [
                "SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF/INCREASE_QUANTITY",
                "DID_CHANGE_RENEWAL_PREF/DECREASE_QUANTITY", "DID_RENEW",
            ]
        )
    }

    @Test func `each transaction states average price, tiers, and that there are several`()
        throws
    {
        let life = try #require(lives(.seatsAddedAndReduced).first)
        let renewed = try #require(life.events.last?.signedAt)
        let known = try transactions(life, asOf: life.events[2].signedAt)
        #expect(known.map { $0["quantity"] as? Int64 } == [8, 4])
        #expect(
            known.allSatisfy { $0["additionalTransactionReason"] as? String == "SEAT_ADDITION" }
        )
        #expect(Set(known.compactMap { $0["expiresDate"] as? Int64 }).count == 1)
        let truth = life.transactions.prefix(2).map(\.purchasePriceMilliunits)
        #expect(known.map(total) == truth)
        for transaction in known {
            let quantity = try #require(transaction["quantity"] as? Int64)
            #expect(transaction["price"] as? Int64 == total(transaction) / quantity)
            let info = transaction["multiSeatInfo"] as? [String: Any]
            #expect(info?["invitationManagement"] as? String == "APPLE")
            #expect(info?["revokedSeatQuantity"] == nil)
        }
        let signed = try transactions(life, asOf: renewed)
        let last = try #require(signed.last)
        #expect(last["quantity"] as? Int64 == 6)
        #expect(last["additionalTransactionReason"] == nil)
        #expect(last["transactionReason"] as? String == "RENEWAL")
    }

    @Test func `the renewal info names the seats that renew and their tiers`() throws {
        let life = try #require(lives(.seatsAddedAndReduced).first)
        let stated = try life.notifications().map { try renewal($0)["renewalQuantity"] as? Int64 }
        #expect(stated == [8, 12, 6, 6])
        let third = try renewal(life.notifications()[2])
        let info = try #require(third["multiSeatInfo"])
        let tiers = try #require((info as? [String: Any])?["renewalPriceTiers"] as? [[String: Any]])
        #expect(tiers.compactMap { $0["quantity"] as? Int64 }.sorted() == [2, 4])
    }

    @Test func `seats refunded one by one take money and leave the access`() throws {
        let life = try #require(lives(.seatsRefunded).first)
        #expect(rows(life) == ["10-01 11-01 paid expired", "11-01 12-01 paid open"])
        #expect(seats(life) == ["10-01 12 - 3 number 1", "11-01 12 - 0 number 2"])
        let refund = try #require(life.refundCases.first)
        #expect(refund.kind == .seats && refund.seats == 3 && refund.revoked == nil)
        let paid = try #require(refund.priceMilliunits)
        #expect(refund.refundedMilliunits == paid / 4)
        let first = try #require(life.transactions.first)
        #expect(first.priceMilliunits == paid - paid / 4)
        #expect(first.refundedAt == life.events[1].signedAt)
        #expect(try types(life)[1] == "REFUND/SEATS")
        let transaction = try transactions(life, asOf: life.events[1].signedAt)[0]
        let info = transaction["multiSeatInfo"] as? [String: Any]
        #expect(info?["revokedSeatQuantity"] as? Int64 == 3)
        #expect(transaction["revocationDate"] == nil && transaction["quantity"] as? Int64 == 12)
    }

    @Test func `the purchaser loses access when every transaction of the period is revoked`()
        throws
    {
        let life = try #require(lives(.allSeatsRefunded).first)
        #expect(rows(life) == ["10-01 10-13 paid refunded"])
        let between = life.events[2].signedAt
        #expect(life.periods(asOf: between).map(\.endReason) == [.open])
        #expect(life.status(asOf: between)?.status == .active)
        #expect(life.status(asOf: life.events[3].signedAt)?.status == .revoked)
        #expect(life.transactions.map(\.priceMilliunits) == [0, 0])
        #expect(life.movements.filter { $0.kind == .exitRefund }.count == 2)
    }

    @Test func `a member has access by assignment and pays nothing`() throws {
        let members = lives(.organisationAssigns)
        #expect(
            rows(members[0]) == [
                "10-01 10-11 assigned assignment_ended", "10-26 11-26 assigned open",
            ]
        )
        #expect(
            rows(members[1]) == [
                "10-11 11-11 assigned expired", "11-11 11-20 assigned assignment_ended",
            ]
        )
        for life in members {
            #expect(life.movements.allSatisfy { ($0.amountMilliunits ?? 0) == 0 })
            #expect(life.refundCases.allSatisfy { $0.kind == .assignmentEnded })
            let signed = try transactions(life)
            for transaction in signed {
                #expect(transaction["inAppOwnershipType"] as? String == "ASSIGNED")
                #expect(transaction["quantity"] as? Int64 == 20 && total(transaction) > 0)
            }
            #expect(signed.contains { $0["revocationType"] as? String == "ASSIGNMENT_REVOKE" })
        }
    }

    @Test func `released claims come in a section of their own and change no access`() throws {
        let life = try #require(lives(.developerUnclaims).first)
        #expect(rows(life) == ["10-01 11-01 paid expired", "11-01 12-01 paid open"])
        let last = try #require(life.notifications().last)
        let body = try notification(last)
        #expect(body["notificationType"] as? String == "UNCLAIM_SEATS" && body["data"] == nil)
        let section = try #require(body["unclaimInfo"] as? [String: Any])
        #expect((section["unclaimSeatIds"] as? [String])?.count == 2)
        #expect(section["bundleId"] as? String == life.store.bundleId)
    }

    @Test func `moves into a bundle and out of it are three subscriptions without a gap`() throws {
        let moved = lives(.intoBundleAndOut)
        #expect(
            moved.flatMap(rows) == [
                "10-01 10-11 paid upgraded", "10-11 11-11 paid expired", "11-11 12-11 paid open",
            ]
        )
        let revoked = moved.map { life in
            life.refundCases.map { [$0.kind?.rawValue, $0.state.rawValue] }
        }
        #expect(revoked == [[["bundled", "revoked"]], [], []])
        #expect(moved[0].refundCases.allSatisfy { $0.refundedMilliunits == nil })
        let signed = try moved.map { life in
            let signed = try transactions(life)
            return try #require(signed.last)
        }
        #expect(
            signed.map { $0["previousOriginalTransactionId"] as? String } == [
                nil, moved[0].originalTransactionId, moved[1].originalTransactionId,
            ]
        )
        #expect(signed.map { $0["bundleProductId"] != nil } == [false, true, false])
        #expect(signed[0]["revocationReason"] as? Int64 == 2)
        #expect(try types(moved[1]).last == "EXPIRED")
    }

    @Test func `a part of a suite expires because the customer leaves the suite`() throws {
        let life = try #require(lives(.suiteUnbundled).first)
        #expect(rows(life) == ["10-01 11-01 paid expired"])
        let stated = try life.notifications().map(renewal)
        #expect(stated.map { $0["willUnbundle"] as? Bool } == [nil, true, true])
        #expect(stated.last?["expirationIntent"] as? Int64 == 6)
    }

    @Test func `a retention offer is offer type 5, in the renewal and then in the purchase`()
        throws
    {
        let life = try #require(lives(.retentionOffer).first)
        #expect(rows(life) == ["10-01 11-01 paid expired", "11-01 12-01 offer open"])
        let stated = try life.notifications().map { try renewal($0)["offerType"] as? Int64 }
        #expect(stated == [nil, nil, nil, 5, nil])
        #expect(
            try transactions(life).last?["offerType"] as? Int64
                == 5
        )
    }

    @Test func `a commitment continues with the instalment that was made up for`() throws {
        let life = try #require(lives(.commitmentSuspended).first)
        #expect(life.active.count == 2)
        #expect(life.states.contains { $0.status == .billingRetry && $0.commitment != nil })
        let numbers = try transactions(life).map {
            ($0["commitmentInfo"] as? [String: Any])?["billingPeriodNumber"] as? Int64
        }
        #expect(numbers == [1, 2, 3, 4, 5])
    }

    // MARK: Reading

    private func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private func claims(_ jws: String) throws -> [String: Any] {
        try object([UInt8](jwsParts(jws).payload))
    }

    private func notification(_ delivery: Delivery) throws -> [String: Any] {
        try claims(try decode(NotificationBody.self, json: delivery.payload).signedPayload)
    }

    private func renewal(_ delivery: Delivery) throws -> [String: Any] {
        let body = try notification(delivery)
        let data = try #require(body["data"] as? [String: Any])
        let renewal = try #require(data["signedRenewalInfo"] as? String)
        return try claims(renewal)
    }

    private func types(_ life: SubscriptionLife) throws -> [String] {
        try life.notifications().map { delivery in
            let body = try notification(delivery)
            let type = try #require(body["notificationType"] as? String)
            return type + ((body["subtype"] as? String).map { "/" + $0 } ?? "")
        }
    }

    // In order of purchase; once everything has happened unless told.
    private func transactions(
        _ life: SubscriptionLife,
        asOf instant: Instant? = nil
    ) throws -> [[String: Any]] {
        let asOf = try #require(instant ?? life.horizon)
        return try life.history(asOf: asOf).flatMap { page in
            try decode(HistoryJSON.self, json: page.payload).signedTransactions.map(claims)
        }.sorted {
            ($0["purchaseDate"] as? Int64 ?? 0) < ($1["purchaseDate"] as? Int64 ?? 0)
        }
    }

    private func total(_ transaction: [String: Any]) -> Int64 {
        let info = transaction["multiSeatInfo"] as? [String: Any]
        let tiers = info?["priceTiers"] as? [[String: Any]] ?? []
        return tiers.reduce(0) { sum, tier in
            sum + (tier["price"] as? Int64 ?? 0) * (tier["quantity"] as? Int64 ?? 0)
        }
    }
}
