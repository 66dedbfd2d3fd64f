import AppStoreSimulator
import Events
import Testing

/// Exact rows for each kind of life: plan changes, refunds, extensions and related changes.
@Suite struct ScriptedChangesTests {
    private let monthly = ScriptedLife.monthly
    private let pro = ScriptedLife.proMonthly

    @Test func `an upgrade ends the old period at once`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: .free(.weeks(2)), at: at("2026-01-01")),
            .changeNow(to: pro, offer: nil, at: at("2026-01-10")),
        ])
        #expect(
            life.rows == [
                "2026-01-01 2026-01-10 trial plus.monthly upgraded",
                "2026-01-10 2026-02-10 paid pro.monthly open",
            ]
        )
        #expect(life.life.kinds == [.upgraded, .upgradedInTrial])
        #expect(try life.notifications().last == "DID_CHANGE_RENEWAL_PREF/UPGRADE 1")
        #expect(try upgradeMarks(life) == [true, nil])
    }

    @Test func `a refunded upgrade does not bring the old period back`() throws {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.yearly, offer: nil, at: at("2025-12-05")),
            .changeNow(to: pro, offer: nil, at: at("2025-12-06")),
            .refund(purchase: 1, percentage: nil, at: at("2025-12-10")),
        ])
        #expect(
            life.rows == [
                "2025-12-05 2025-12-06 paid plus.yearly upgraded",
                "2025-12-06 2025-12-10 paid pro.monthly refunded",
            ]
        )
        #expect(life.access == ["2025-12-05 2025-12-10"])
        #expect(try life.notifications().last == "REFUND 5")
    }

    @Test func `an upgrade in the second of a renewal leaves an empty row`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .renew(at: at("2026-01-31T12:00Z")),
            .changeNow(to: pro, offer: nil, at: at("2026-02-01")),
        ])
        #expect(
            life.rows == [
                "2026-01-01 2026-02-01 paid plus.monthly expired",
                "2026-02-01 2026-02-01 paid plus.monthly upgraded",
                "2026-02-01 2026-03-01 paid pro.monthly open",
            ]
        )
        #expect(life.access == ["2026-01-01 2026-03-01"])
    }

    @Test func `a crossgrade to the same length starts at once`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .changeNow(to: ScriptedLife.students, offer: nil, at: at("2026-01-10")),
        ])
        #expect(
            life.rows == [
                "2026-01-01 2026-01-10 paid plus.monthly upgraded",
                "2026-01-10 2026-02-10 paid plus.students.monthly open",
            ]
        )
        #expect(life.life.kinds == [.crossgraded])
        #expect(try upgradeMarks(life) == [nil, nil])
    }

    private func upgradeMarks(_ life: ScriptedLife) throws -> [Bool?] {
        let horizon = try #require(life.life.horizon)
        let page = try #require(life.life.history(asOf: horizon).first)
        return try decode(HistoryJSON.self, json: page.payload).signedTransactions
            .map { try decode(TransactionJSON.self, jws: $0).isUpgraded }
    }

    @Test func `a downgrade waits for the renewal and can be withdrawn`() throws {
        let beginning: [LifeStep] = try [
            .subscribe(pro, offer: nil, at: at("2026-01-01")),
            .changeAtRenewal(to: monthly, at: at("2026-01-10")),
        ]
        let effective = try ScriptedLife(beginning + [.renew(at: at("2026-02-01"))])
        #expect(
            effective.rows == [
                "2026-01-01 2026-02-01 paid pro.monthly expired",
                "2026-02-01 2026-03-01 paid plus.monthly open",
            ]
        )
        let withdrawn = try ScriptedLife(
            beginning + [
                .changeAtRenewal(to: pro, at: at("2026-01-11")), .renew(at: at("2026-02-01")),
            ]
        )
        #expect(
            withdrawn.rows == [
                "2026-01-01 2026-02-01 paid pro.monthly expired",
                "2026-02-01 2026-03-01 paid pro.monthly open",
            ]
        )
        #expect(
            try withdrawn.notifications() == [
                "SUBSCRIBED/INITIAL_BUY 1", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE 1",
                "DID_CHANGE_RENEWAL_PREF 1", "DID_RENEW 1",
            ]
        )
    }

    @Test func `a refund of the current period ends it, and a reversal restores it`() throws {
        let beginning: [LifeStep] = try [
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .refund(purchase: 0, percentage: 67_932, at: at("2026-01-10")),
        ]
        let refunded = try ScriptedLife(beginning)
        #expect(refunded.rows == ["2026-01-01 2026-01-10 paid plus.monthly refunded"])
        let told = try ReadNotification(#require(refunded.life.notifications().last))
        #expect(told.transaction.revocationType == "REFUND_PRORATED")
        #expect(told.transaction.revocationPercentage == 67_932)

        let reversed = try ScriptedLife(
            beginning + [.reverseRefund(purchase: 0, at: at("2026-01-15"))]
        )
        #expect(reversed.rows == ["2026-01-01 2026-02-01 paid plus.monthly open"])
        let again = try ReadNotification(#require(reversed.life.notifications().last))
        #expect(again.transaction.revocationDate == nil)
        #expect(again.outer.data.status == 1)

        let twice = try ScriptedLife(
            beginning + [
                .reverseRefund(purchase: 0, at: at("2026-01-15")),
                .refund(purchase: 0, percentage: nil, at: at("2026-01-20")),
            ]
        )
        #expect(twice.rows == ["2026-01-01 2026-01-20 paid plus.monthly refunded"])
        #expect(twice.life.kinds.contains(.refundedAgain))
    }

    @Test func `a refund of an older period keeps its row and the current one`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .renew(at: at("2026-02-01")),
            .refund(purchase: 0, percentage: nil, at: at("2026-02-10")),
        ])
        #expect(
            life.rows == [
                "2026-01-01 2026-02-01 paid plus.monthly expired",
                "2026-02-01 2026-03-01 paid plus.monthly open",
            ]
        )
        #expect(try life.notifications().last == "REFUND 1")
        #expect(life.life.kinds == [.renewed, .refundedOlder])
    }

    @Test func `a refund after the end keeps the expiry`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .turnAutoRenewOff(at: at("2026-01-02")),
            .expire(.voluntary, at: at("2026-02-01T00:10Z")),
            .refund(purchase: 0, percentage: nil, at: at("2026-02-10")),
        ])
        #expect(life.rows == ["2026-01-01 2026-02-01 paid plus.monthly expired"])
        #expect(try life.notifications().last == "REFUND 2")
    }

    @Test func `a purchase after a refund shortens the period that the reversal restores`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .refund(purchase: 0, percentage: nil, at: at("2026-01-10")),
            .subscribe(monthly, offer: nil, at: at("2026-01-20")),
            .reverseRefund(purchase: 0, at: at("2026-01-25")),
        ])
        #expect(
            life.rows == [
                "2026-01-01 2026-01-20 paid plus.monthly replaced",
                "2026-01-20 2026-02-20 paid plus.monthly open",
            ]
        )
    }

    @Test func `an extension moves the end of the same purchase`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .extend(days: 14, at: at("2026-01-10")), .renew(at: at("2026-02-15")),
        ])
        #expect(
            life.rows == [
                "2026-01-01 2026-02-15 paid plus.monthly expired",
                "2026-02-15 2026-03-15 paid plus.monthly open",
            ]
        )
        let read = try life.life.notifications().map { try ReadNotification($0).transaction }
        #expect(read[0].webOrderLineItemId == read[1].webOrderLineItemId)
        #expect(read[0].transactionId == read[1].transactionId)
    }

    @Test func `family access ends when sharing is withdrawn`() throws {
        let life = try ScriptedLife(
            ownership: .familyShared,
            [
                .subscribe(monthly, offer: nil, at: at("2026-01-01")),
                .renew(at: at("2026-02-01")), .stopSharing(at: at("2026-02-10")),
            ]
        )
        #expect(
            life.rows == [
                "2026-01-01 2026-02-01 family plus.monthly expired",
                "2026-02-01 2026-02-10 family plus.monthly revoked",
            ]
        )
        let told = try ReadNotification(#require(life.life.notifications().last))
        #expect(told.transaction.inAppOwnershipType == "FAMILY_SHARED")
        #expect(told.transaction.revocationType == "FAMILY_REVOKE")
        #expect(told.transaction.price == nil)
        #expect(try life.notifications().last == "REVOKE 5")
    }

    @Test func `a restore brings new transaction ids for the same purchases`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .renew(at: at("2026-02-01")), .restore(at: at("2026-02-05")),
        ])
        let page = try decode(HistoryJSON.self, json: #require(life.life.restores().first).payload)
        let restored = try page.signedTransactions.map { try decode(TransactionJSON.self, jws: $0) }
        let own = try life.life.notifications().map { try ReadNotification($0).transaction }
        #expect(restored.count == 2)
        for (old, new) in zip(own, restored) {
            #expect(old.transactionId != new.transactionId)
            #expect(old.webOrderLineItemId == new.webOrderLineItemId)
            #expect(old.purchaseDate == new.purchaseDate && old.expiresDate == new.expiresDate)
        }
        #expect(life.rows.count == 2)
    }

    @Test func `a consumable is a separate stream`() throws {
        let life = try ScriptedLife([
            .subscribe(monthly, offer: nil, at: at("2026-01-01")),
            .buyConsumable(productId: "credits", quantity: 2, at: at("2026-01-05")),
        ])
        let told = try ReadNotification(#require(life.life.notifications().last))
        #expect(told.transaction.originalTransactionId != life.life.originalTransactionId)
        #expect(told.transaction.expiresDate == nil)
        #expect(life.rows == ["2026-01-01 2026-02-01 paid plus.monthly open"])
        #expect(life.life.horizon == life.life.events[0].signedAt)
    }
}
