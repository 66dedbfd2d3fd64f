import Events
import Foundation
import Subledger
import SubledgerTesting
import Testing
import TestSupport

/// The App Store and the ledgers that apps have for their tests.
@Suite(.enabled { await TestServer.isAvailable })
struct TestStoreTests {
    private let store = TestStore(now: Instant(milliseconds: 1_767_225_600_000))  // 2026-01-01
    private static let pro = TestStore.Product("com.example.app.pro")
    private static let plus = TestStore.Product("com.example.app.plus", level: 2)

    @Test func `a purchase gives access until it is not renewed, and again once it is`()
        async throws
    {
        try await TestLedger.with(store.policy) { ledger in
            let bought = try store.buy(Self.pro, offer: .freeTrial(.weeks(1)))
            #expect(try await ledger.ingest(bought).count == 1)
            #expect(try await access(bought, ledger) == "trial")
            #expect(store.now.milliseconds < 1_767_225_600_000 + 120_000)
            try await ledger.ingest(try store.renew(bought.id))
            #expect(try await access(bought, ledger) == "paid")
            try await ledger.ingest(try store.failToRenew(bought.id, graceDays: 16))
            #expect(try await access(bought, ledger) == "grace")
            for update in store.advance(days: 17) { try await ledger.ingest(update) }
            #expect(try await access(bought, ledger) == "none")
            try await ledger.ingest(try store.recover(bought.id))
            #expect(try await access(bought, ledger) == "paid")
            try await ledger.ingest(try store.turnAutoRenewOff(bought.id))
            for update in store.advance(days: 32) { try await ledger.ingest(update) }
            #expect(try await access(bought, ledger) == "none")
            try await ledger.ingest(try store.buyAgain(bought.id, Self.plus))
            #expect(try await access(bought, ledger) == "paid")
        }
    }

    @Test func `refunds, changes, a family and seats are what the ledger answers`() async throws {
        try await TestLedger.with(store.policy) { ledger in
            let bought = try store.buy(Self.plus)
            try await ledger.ingest(bought)
            store.advance(days: 3)
            try await ledger.ingest(try store.change(bought.id, to: Self.pro))
            let changes = try await ledger.changes(of: SubjectID(bought.id))
            #expect(changes.changes.count == 1, "\(changes)")
            let member = try store.share(bought.id)
            try await ledger.ingest(member)
            #expect(member.id != bought.id)
            #expect(try await access(member, ledger) == "family")
            try await ledger.ingest(try store.refund(bought.id))
            #expect(try await access(bought, ledger) == "none")
            try await ledger.ingest(try store.stopSharing(member.id))
            #expect(try await access(member, ledger) == "none")
            try await ledger.ingest(try store.reverseRefund(bought.id))
            #expect(try await access(bought, ledger) == "paid")
            let team = try store.buy(Self.pro, seats: 5)
            try await ledger.ingest(team)
            try await ledger.ingest(try store.addSeats(team.id, 2))
            #expect(try await access(team, ledger) == "paid")
        }
    }

    @Test func `a ledger accepts every format of an update, and knows the purchase afterwards`()
        async throws
    {
        let bought = try store.buy(Self.pro, appAccountToken: UUID())
        let sent = [
            bought.notifications, [bought.transaction], [bought.receipt],
            [bought.verifyReceiptAnswer], bought.history, [bought.statuses],
        ]
        for bodies in sent {
            try await TestLedger.with(store.policy) { ledger in
                #expect(!bodies.isEmpty)
                for body in bodies { _ = try await ledger.ingest(body, source: "test") }
                #expect(try await access(bought, ledger) == "paid")
            }
        }
    }

    @Test func `nobody else's ledger trusts the store`() async throws {
        let bought = try store.buy(Self.pro)
        await #expect(throws: Rejection.self) {
            try await TestLedger.with(VerificationPolicy()) { try await $0.ingest(bought) }
        }
        let other = TestStore(now: store.now, bundleId: "com.example.other", seed: 1)
        await #expect(throws: Rejection.self) {
            try await TestLedger.with(other.policy) { try await $0.ingest(bought) }
        }
    }

    @Test func `what the App Store would refuse is an error that says why`() throws {
        let unknown = #expect(throws: TestStoreError.self) { try store.renew("7") }
        #expect(unknown?.code == .noSuchSubscription)
        let bought = try store.buy(Self.pro)
        let refused = #expect(throws: TestStoreError.self) { try store.reverseRefund(bought.id) }
        #expect(refused?.code == .notAllowed)
        #expect(refused?.description == "the App Store refuses: a purchase must be refunded")
        _ = try store.turnAutoRenewOff(bought.id)
        let ended = #expect(throws: TestStoreError.self) { try store.renew(bought.id) }
        #expect(ended?.description == "there will be no renewal of \(bought.id)")
    }

    // Why the customer has access by the store's clock, or "none".
    private func access(_ update: TestStore.Update, _ ledger: Ledger) async throws -> String {
        let why = try await ledger.explain(SubjectID(update.id), at: store.now)
        guard why.entitled.access == true else { return "none" }
        return why.entitled.period?.kind ?? "?"
    }
}
