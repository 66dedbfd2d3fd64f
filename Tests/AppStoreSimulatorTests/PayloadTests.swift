import AppStoreSimulator
import Events
import Testing

/// Notifications, pages and statuses are what Apple would send at that moment.
@Suite struct PayloadTests {
    @Test func `the status of a notification agrees with its content`() throws {
        let expected: [String: Set<Int64>] = [
            "SUBSCRIBED/INITIAL_BUY": [1], "SUBSCRIBED/RESUBSCRIBE": [1], "DID_RENEW/": [1],
            "DID_RENEW/BILLING_RECOVERY": [1], "DID_FAIL_TO_RENEW/": [3],
            "DID_FAIL_TO_RENEW/GRACE_PERIOD": [4], "GRACE_PERIOD_EXPIRED/": [3],
            "EXPIRED/VOLUNTARY": [2], "EXPIRED/BILLING_RETRY": [2], "EXPIRED/PRICE_INCREASE": [2],
            "EXPIRED/PRODUCT_NOT_FOR_SALE": [2], "EXPIRED/": [2], "REVOKE/": [5],
            "DID_CHANGE_RENEWAL_PREF/UPGRADE": [1], "DID_CHANGE_RENEWAL_PREF/DOWNGRADE": [1, 3],
            "DID_CHANGE_RENEWAL_PREF/": [1, 3], "OFFER_REDEEMED/": [1],
            "OFFER_REDEEMED/UPGRADE": [1], "OFFER_REDEEMED/DOWNGRADE": [1],
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED": [1, 2],
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED": [1], "RENEWAL_EXTENDED/": [1],
            "PRICE_INCREASE/PENDING": [1], "PRICE_INCREASE/ACCEPTED": [1],
            "REFUND/": [1, 2, 3, 5], "REFUND_REVERSED/": [1, 2, 5],
            "CONSUMPTION_REQUEST/": [1, 2], "REFUND_DECLINED/": [1, 2],
        ]
        var seen: Set<String> = []
        for life in AppStoreSimulator(seed: 1).lives(150) {
            for delivery in life.notifications() {
                let read = try ReadNotification(delivery)
                let name = read.outer.notificationType + "/" + (read.outer.subtype ?? "")
                #expect(read.outer.signedDate == delivery.signedAt.milliseconds)
                #expect(read.transaction.signedDate == delivery.signedAt.milliseconds)
                guard read.transaction.originalTransactionId == life.originalTransactionId else {
                    #expect(["ONE_TIME_CHARGE/", "REFUND/", "REFUND_REVERSED/"].contains(name))
                    #expect(read.outer.data.status == nil && read.renewal == nil)
                    continue
                }
                seen.insert(name)
                let status = try #require(read.outer.data.status)
                #expect(expected[name]?.contains(status) == true, "\(name) with status \(status)")
                let renewal = try #require(read.renewal)
                if renewal.autoRenewStatus == 1 { #expect([1, 3, 4].contains(status), "\(name)") }
                let graceEnd = renewal.gracePeriodExpiresDate ?? 0
                #expect((status == 4) == (graceEnd > delivery.signedAt.milliseconds), "\(name)")
            }
        }
        #expect(seen.count >= 24, "only \(seen.sorted())")
    }

    @Test func `a renewal charged early has a future purchase date`() throws {
        var early = 0
        for life in AppStoreSimulator(seed: 1).lives(30) {
            for delivery in life.notifications() {
                let read = try ReadNotification(delivery)
                guard read.outer.notificationType == "DID_RENEW", read.outer.subtype == nil else {
                    continue
                }
                let lead = read.transaction.purchaseDate - read.transaction.signedDate
                #expect(lead <= 86_400_000)
                #expect(read.transaction.transactionReason == "RENEWAL")
                if lead > 0 { early += 1 }
            }
        }
        #expect(early > 5)
    }

    @Test func `history comes in pages of twenty, and the last is marked`() throws {
        let lives = AppStoreSimulator(seed: 1).lives(300)
        let life = try #require(lives.first { $0.periods.count > 24 }, "of seed 1")
        let horizon = try #require(life.horizon)
        let pages = try life.history(asOf: horizon).map {
            try decode(HistoryJSON.self, json: $0.payload)
        }
        #expect(pages.count >= 2)
        #expect(pages.dropLast().allSatisfy { $0.hasMore && $0.signedTransactions.count == 20 })
        #expect(pages.last?.hasMore == false)
        #expect(Set(pages.map(\.revision)).count == pages.count)
    }

    @Test func `before the first purchase there is no answer`() throws {
        let life = AppStoreSimulator(seed: 1).life(0)
        let before = try #require(Instant("2020-01-01"))
        #expect(life.periods(asOf: before).isEmpty)
        let pages = life.history(asOf: before)
        #expect(pages.count == 1)
        #expect(
            try decode(HistoryJSON.self, json: pages[0].payload).signedTransactions.isEmpty
        )
        #expect(
            try decode(StatusesJSON.self, json: life.statuses(asOf: before).payload).data.isEmpty
        )
    }

    @Test func `notification ids are unique`() throws {
        var seen: Set<String> = []
        for life in AppStoreSimulator(seed: 2).lives(60) {
            for delivery in life.notifications() {
                let id = try ReadNotification(delivery).outer.notificationUUID
                #expect(seen.insert(id).inserted, "\(id)")
            }
        }
    }
}
