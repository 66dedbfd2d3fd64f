import AppStoreSimulator
import Events
import Foundation
import Projections
import Testing

/// The unified answers of `verifyReceipt` contain the truth at that moment.
@Suite struct VerifyReceiptTests {
    @Test func `polls of verifyReceipt give the whole truth except for win-back offers`() throws {
        let seed: UInt64 = 4712
        for life in AppStoreSimulator(seed: seed).lives(80) {
            var oracle = SemanticsOracle(stream: life.originalTransactionId)
            for delivery in life.verifyReceiptPolls() { try oracle.read(delivery) }
            let isWonBack = life.kinds.contains(.winBackOffer)
            #expect(
                plain(oracle.periods(), isWonBack) == plain(life.periods, isWonBack),
                "life \(life.identity.index) of seed \(seed), \(life.kinds)"
            )
        }
    }

    // Old formats have no field for a win-back offer: its period looks like one that was paid.
    private func plain(_ periods: [SimulatedPeriod], _ hidesOffers: Bool) -> [SimulatedPeriod] {
        periods.map { period in
            SimulatedPeriod(
                productId: period.productId,
                purchaseDate: period.purchaseDate,
                expiresDate: period.expiresDate,
                validFrom: period.validFrom,
                validTo: period.validTo,
                kind: hidesOffers && period.kind == .offer ? .paid : period.kind,
                endReason: period.endReason
            )
        }
    }

    @Test func `at every moment the rows are those of the history`() throws {
        let seed: UInt64 = 31
        for life in AppStoreSimulator(seed: seed).lives(25) {
            for moment in life.moments {
                let answer = try life.unified(asOf: moment)
                let history = try life.historyTransactions(asOf: moment)
                let transactions = try answer.transactions().filter { $0.expiresDate != nil }
                let expected = history.values.filter { $0.expiresDate != nil }
                #expect(transactions.count == expected.count, "seed \(seed) at \(moment)")
                for transaction in transactions {
                    let signed = try #require(history[transaction.transactionId])
                    #expect(transaction.webOrderLineItemId == signed.webOrderLineItemId)
                    #expect(transaction.productId == signed.productId)
                    #expect(transaction.purchaseDate == signed.purchaseDate)
                    #expect(transaction.expiresDate == signed.expiresDate)
                    #expect(transaction.isUpgraded == signed.isUpgraded)
                    #expect(transaction.revocationDate == signed.revocationDate)
                    #expect(transaction.inAppOwnershipType == signed.inAppOwnershipType)
                }
            }
        }
    }

    @Test func `latest rows are sorted newest first, those of the receipt are unordered`() throws {
        var unordered = 0
        for life in AppStoreSimulator(seed: 31).lives(40) {
            let answer = try life.unified(asOf: #require(life.horizon))
            let latest = try #require(answer.latestReceiptInfo).map(\.purchaseDateMs)
            #expect(latest == latest.sorted(by: >))
            let inApp = answer.receipt.inApp.map(\.purchaseDateMs)
            #expect(inApp.sorted() == latest.sorted())
            if inApp != latest && inApp != latest.reversed() { unordered += 1 }
        }
        #expect(unordered > 10)
    }

    @Test func `before the first purchase there are neither rows nor a latest receipt`() throws {
        let life = AppStoreSimulator(seed: 1).life(0)
        let answer = try life.unified(asOf: at("2020-01-01"))
        #expect(answer.status == 0)
        #expect(answer.receipt.inApp.isEmpty)
        #expect(answer.latestReceiptInfo == nil)
        #expect(answer.latestReceipt == nil)
        #expect(answer.pendingRenewalInfo == nil)
    }

    @Test func `a refund appears once it happened, and a reversal removes it`() throws {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-01")),
            .refund(purchase: 0, percentage: nil, at: at("2026-01-10")),
            .reverseRefund(purchase: 0, at: at("2026-01-20")),
        ]).life
        func cancellation(_ text: String) throws -> String? {
            try #require(life.unified(asOf: at(text)).latestReceiptInfo?.first).cancellationDateMs
        }
        #expect(try cancellation("2026-01-09T23:59:59Z") == nil)
        #expect(try cancellation("2026-01-10") == String(at("2026-01-10").milliseconds))
        #expect(try cancellation("2026-01-19") != nil)
        #expect(try cancellation("2026-01-20") == nil)
        let reason = try life.unified(asOf: at("2026-01-11")).latestReceiptInfo?.first
        #expect(reason?.cancellationReason == "0")
    }

    @Test func `a renewal charged early has a future purchase date`() throws {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-10")),
            .renew(at: at("2026-02-09T06:00Z")),
        ]).life
        let moment = try at("2026-02-09T06:00Z")
        let newest = try #require(life.unified(asOf: moment).latestReceiptInfo?.first)
        #expect(newest.purchaseDateMs == String(try at("2026-02-10").milliseconds))
        #expect(try life.unified(asOf: at("2026-02-09T05:59Z")).latestReceiptInfo?.count == 1)
    }

    @Test func `an older receipt keeps its content, the latest rows are current`() throws {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-10")),
            .renew(at: at("2026-02-10")),
            .refund(purchase: 0, percentage: nil, at: at("2026-02-20")),
        ]).life
        let answer = try decode(
            UnifiedJSON.self,
            old: life.verifyReceiptResponse(
                asOf: at("2026-02-21T00:00:00.250Z"),
                receiptMadeAt: at("2026-01-20T00:00:00.900Z")
            )
        )
        #expect(answer.receipt.inApp.count == 1)
        #expect(answer.receipt.inApp[0].cancellationDateMs == nil)
        #expect(answer.latestReceiptInfo?.count == 2)
        #expect(answer.latestReceiptInfo?.last?.cancellationDateMs != nil)
        #expect(
            answer.receipt.receiptCreationDateMs == String(try at("2026-01-20").milliseconds)
        )
        #expect(answer.receipt.requestDateMs.hasSuffix("250"))
    }

    @Test func `cancelling in grace removes the pending renewal until the next purchase`()
        throws
    {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-01")),
            .failToRenew(graceUntil: at("2026-02-17"), at: at("2026-02-01T00:10Z")),
            .turnAutoRenewOff(at: at("2026-02-05")),
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-03-01")),
        ]).life
        let inGrace = try #require(life.unified(asOf: at("2026-02-02")).pendingRenewalInfo?.first)
        #expect(inGrace.expirationIntent == "2")
        #expect(inGrace.isInBillingRetryPeriod == "1")
        #expect(inGrace.gracePeriodExpiresDateMs == String(try at("2026-02-17").milliseconds))
        #expect(try life.unified(asOf: at("2026-02-05")).pendingRenewalInfo?.isEmpty == true)
        #expect(try life.unified(asOf: at("2026-02-05")).latestReceiptInfo?.count == 1)
        let again = try #require(life.unified(asOf: at("2026-03-01")).pendingRenewalInfo?.first)
        #expect(again.autoRenewStatus == "1")
        #expect(again.expirationIntent == nil && again.isInBillingRetryPeriod == nil)
    }

    @Test func `the pending renewal keeps its grace date after billing failed for good`() throws {
        let life = try ScriptedLife([
            .subscribe(ScriptedLife.monthly, offer: nil, at: at("2026-01-01")),
            .failToRenew(graceUntil: at("2026-02-17"), at: at("2026-02-01T00:10Z")),
            .endGrace(at: at("2026-02-17T00:10Z")), .giveUp(at: at("2026-04-02T00:10Z")),
        ]).life
        let pending = try #require(life.unified(asOf: at("2026-04-03")).pendingRenewalInfo?.first)
        #expect(pending.autoRenewStatus == "0")
        #expect(pending.isInBillingRetryPeriod == "0")
        #expect(pending.expirationIntent == "2")
        #expect(pending.gracePeriodExpiresDateMs == String(try at("2026-02-17").milliseconds))
    }

    @Test func `the latest receipt is created at that moment`() throws {
        let life = AppStoreSimulator(seed: 6).life(2)
        for moment in life.moments {
            let answer = try life.unified(asOf: moment)
            let latest = try #require(answer.latestReceipt)
            let bytes = try #require(Data(base64Encoded: latest))
            #expect(Array(bytes) == life.appReceipt(asOf: moment))
            #expect(answer.receipt.requestDateMs == String(moment.milliseconds))
        }
    }

    @Test func `failures give their status, and whether to retry`() throws {
        let gone = try keyPaths(SubscriptionLife.verifyReceiptFailure(status: 21_003))
        #expect(gone == ["status"])
        let busy = SubscriptionLife.verifyReceiptFailure(status: 21_100, isRetryable: false)
        #expect(try keyPaths(busy) == ["status", "is-retryable", "exception"])
        #expect(String(decoding: busy, as: UTF8.self).contains(#""is-retryable":false"#))
    }
}
