import AppStoreSimulator
import EventLog
import Events
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Deliveries
@testable import Subledger

/// Effects delivered to webhooks of a real ledger: all of them, in order, through every fault.
@Suite(.enabled { await TestServer.isAvailable })
struct DeliveryTests {
    @Test func `a receiver that fails and one that stalls get every effect, in order`() async throws
    {
        try await withLedger(lanes: 4, count: 20) { ledger, _ in
            try await Receiver.with { failing in
                try await Receiver.with { stalling in
                    failing.refuseOnce(every: 5)
                    let isOpen = Flag()
                    stalling.behave { _, _ in
                        while !isOpen.isSet { await pause(milliseconds: 10) }
                        return 200
                    }
                    try await add("failing", failing, to: ledger)
                    try await add("stalling", stalling, to: ledger)
                    let expected = try await expected(of: ledger)
                    #expect(expected.count > 100)
                    try await delivering(ledger) {
                        // The one that stalls holds up nobody.
                        try await eventually("the failing one has everything") {
                            Set(failing.accepted.map(\.id)).count == expected.count
                        }
                        #expect(stalling.accepted.isEmpty)
                        isOpen.set()
                        try await eventually("the stalling one has everything") {
                            Set(stalling.accepted.map(\.id)).count == expected.count
                        }
                    }
                    for receiver in [failing, stalling] {
                        check(receiver.accepted, have: expected)
                    }
                    #expect(failing.all.count > failing.accepted.count)
                    let state = try await ledger.log.deliveryState(of: "failing")
                    #expect(state.waiting == 0 && state.givenUp == 0)
                    #expect(state.cursor == (try await ledger.log.endOfCommits()))
                }
            }
        }
    }

    @Test func `what was stored as not delivered comes after a restart, before later effects`()
        async throws
    {
        try await withLedger(lanes: 1, count: 6) { ledger, _ in
            try await Receiver.with { receiver in
                let expected = try await expected(of: ledger)
                let refused = try #require(
                    expected.first { $0.subscription != expected[0].subscription }
                )
                receiver.behave { request, _ in request.id == refused.id ? 500 : 200 }
                try await add("hook", receiver, to: ledger)
                try await delivering(ledger) {
                    try await eventually("all others are delivered, and this one is stored") {
                        let state = try await ledger.log.deliveryState(of: "hook")
                        let end = try await ledger.log.endOfCommits()
                        return state.cursor == end && state.waiting > 0
                    }
                }
                let stored = try await ledger.log.deliveries(of: "hook", isGivenUp: false)
                #expect(stored.map(\.messageId).contains(refused.id))
                #expect(
                    stored.allSatisfy {
                        $0.effect?.stream.originalTransactionId == refused.subscription
                    }
                )
                #expect(!receiver.accepted.contains { $0.id == refused.id })

                receiver.behave { _, _ in 200 }
                try await delivering(ledger) {
                    try await eventually("nothing waits") {
                        try await ledger.log.deliveryState(of: "hook").waiting == 0
                    }
                }
                check(receiver.accepted, have: expected)
            }
        }
    }

    @Test func `a message that is made again has the same body`() async throws {
        try await withLedger(lanes: 1, count: 6) { ledger, _ in
            let webhook = Webhook(
                name: "hook",
                url: "https://example.com",
                secrets: [WebhookSecret.random(.hmac).text]
            )
            let maker = MessageMaker(webhook)
            for try await effect in ledger.effects(isFollowing: false) {
                let message = DeliveryQueue.Assignment(
                    number: 1,
                    messageId: effect.id,
                    effect: PendingMessage.Effect(effect),
                    body: nil
                )
                #expect(try await maker.body(of: message, in: ledger) == maker.body(of: effect))
            }
        }
    }

    @Test func `what was erased meanwhile is not sent, and the erasure is`() async throws {
        try await withLedger(lanes: 1, count: 3) { ledger, _ in
            try await Receiver.with { receiver in
                var effects = ledger.effects(isFollowing: false).makeAsyncIterator()
                let stream = try #require(try await effects.next()).stream
                receiver.behave { request, _ in
                    request.member("originalTransactionId") == stream.originalTransactionId
                        && request.member("effect") != "erased" ? 500 : 200
                }
                try await add("hook", receiver, to: ledger)
                try await delivering(ledger) {
                    try await eventually("the effects of one subscription wait") {
                        let state = try await ledger.log.deliveryState(of: "hook")
                        let end = try await ledger.log.endOfCommits()
                        return state.cursor == end && state.waiting > 0
                    }
                }
                _ = try await ledger.erase(
                    [ErasureTarget(stream: stream, scope: .subscription)],
                    reason: ErasureReason("asked for it", by: "support"),
                    withSiblings: true
                )
                #expect(
                    try await ledger.log.deliveries(of: "hook", isGivenUp: false).isEmpty,
                    "the erasure removes what names the subscription"
                )
                let before = receiver.all.count
                try await delivering(ledger) {
                    try await eventually("nothing waits") {
                        try await ledger.log.deliveryState(of: "hook").waiting == 0
                    }
                    try await eventually("the erasure came") {
                        receiver.accepted.contains { $0.member("effect") == "erased" }
                    }
                }
                let after = receiver.all.dropFirst(before).filter {
                    $0.member("originalTransactionId") == stream.originalTransactionId
                }
                #expect(Set(after.map { $0.member("effect") }) == ["erased"])
            }
        }
    }

    @Test func `a receiver that answers 410 is paused, raises an alert once, and continues later`()
        async throws
    {
        try await withLedger(lanes: 1, count: 2) { ledger, _ in
            try await Receiver.with { receiver in
                try await Receiver.with { listener in
                    receiver.behave { _, _ in 410 }
                    try await add("hook", receiver, to: ledger)
                    try await add("listener", listener, alerts: true, at: .end, to: ledger)
                    let expected = try await expected(of: ledger)
                    try await delivering(ledger) {
                        try await eventually("it is paused, and the alert came") {
                            let hook = try await ledger.log.webhooks().first { $0.name == "hook" }
                            return hook?.pausedAt != nil && !listener.accepted.isEmpty
                        }
                    }
                    let alert = try #require(listener.accepted.first)
                    #expect(alert.member("alert") == "webhook-paused")
                    #expect(alert.member("subject") == "hook")
                    #expect(alert.member("whatToDo").contains("pause hook --off"))
                    #expect(alert.id.hasPrefix("alert:"))

                    receiver.behave { _, _ in 200 }
                    #expect(try await ledger.log.pause(webhook: "hook", because: nil))
                    try await delivering(ledger) {
                        try await eventually("everything came") {
                            Set(receiver.accepted.map(\.id)).count == expected.count
                        }
                    }
                    check(receiver.accepted, have: expected)
                    #expect(listener.accepted.count == 1)
                }
            }
        }
    }

    @Test func `a replay sends everything again under the same ids`() async throws {
        try await withLedger(lanes: 1, count: 4) { ledger, _ in
            try await Receiver.with { receiver in
                try await add("hook", receiver, to: ledger)
                let expected = try await expected(of: ledger)
                try await delivering(ledger) {
                    try await eventually("everything came") {
                        let state = try await ledger.log.deliveryState(of: "hook")
                        let end = try await ledger.log.endOfCommits()
                        return state.cursor == end && state.waiting == 0
                    }
                    let count = receiver.accepted.count
                    let webhook = try #require(try await ledger.log.webhooks().first)
                    #expect(try await ledger.log.replay(webhook: webhook, after: .beginning))
                    try await eventually("everything came again") {
                        let again = receiver.accepted.dropFirst(count)
                        return Set(again.map(\.id)).count == expected.count
                    }
                    check(Array(receiver.accepted.prefix(count)), have: expected)
                    check(Array(receiver.accepted.dropFirst(count)), have: expected)
                }
            }
        }
    }

    @Test func `of two processes one delivers, and a redirect is not followed`() async throws {
        try await withLedger(lanes: 1, count: 2) { ledger, _ in
            try await Receiver.with { receiver in
                receiver.behave { _, count in count == 0 ? 302 : 200 }
                try await add("hook", receiver, to: ledger)
                let expected = try await expected(of: ledger)
                try await delivering(ledger) {
                    try await delivering(ledger) {
                        try await eventually("everything came") {
                            Set(receiver.accepted.map(\.id)).count == expected.count
                        }
                    }
                }
                check(receiver.accepted, have: expected)
                #expect(receiver.all.count > expected.count)
            }
        }
    }

    @Test func `a filter leaves out other effects, and RevenueCat's events have its names`()
        async throws
    {
        try await withLedger(lanes: 1, count: 20) { ledger, _ in
            try await Receiver.with { receiver in
                let secret = WebhookSecret.random(.hmac).text
                let webhook = Webhook(
                    name: "hook",
                    url: receiver.url,
                    format: .revenuecat,
                    effects: ["purchased", "renewed", "refunded", "expired", "plan_changed"],
                    allowsPrivate: true,
                    secrets: [secret]
                )
                #expect(try await ledger.log.add(webhook, startingAt: .beginning))
                #expect(
                    try await webhooks(ledger).deliverAll(to: webhook, until: StopFlag()) == nil
                )
                struct Body: Decodable {
                    let api_version: String
                    let event: Event
                    struct Event: Decodable {
                        let type: String
                        let id: String
                        let app_user_id: String
                        let environment: String
                        let event_timestamp_ms: Int64
                        let product_id: String?
                        let period_type: String?
                        let cancel_reason: String?
                        let expiration_reason: String?
                    }
                }
                let events = try receiver.accepted.map {
                    try JSONDecoder().decode(Body.self, from: Data($0.body)).event
                }
                let types = Set(events.map(\.type))
                #expect(types.isSuperset(of: ["INITIAL_PURCHASE", "RENEWAL", "EXPIRATION"]))
                #expect(
                    types.isSubset(of: [
                        "INITIAL_PURCHASE", "RENEWAL", "EXPIRATION", "CANCELLATION",
                        "NON_RENEWING_PURCHASE", "PRODUCT_CHANGE",
                    ])
                )
                #expect(events.allSatisfy { $0.product_id != nil })
                let known = ["NORMAL", "TRIAL", "INTRO"]
                #expect(events.allSatisfy { known.contains($0.period_type ?? "") })
                for event in events where event.type == "EXPIRATION" {
                    #expect(event.expiration_reason != nil)
                }
                let all = try await expected(of: ledger).filter {
                    webhook.effects.contains($0.effect)
                }
                #expect(!events.isEmpty && events.count <= all.count)
            }
        }
    }

    // MARK: The ledger and its webhooks

    private struct Expected: Hashable {
        let id: String
        let effect: String
        let subscription: String
    }

    private func expected(of ledger: Ledger) async throws -> [Expected] {
        var found: [Expected] = []
        for try await effect in ledger.effects(isFollowing: false) {
            found.append(
                Expected(
                    id: effect.id,
                    effect: effect.kind.rawValue,
                    subscription: effect.stream.originalTransactionId
                )
            )
        }
        return found
    }

    // Every effect came, and those of a subscription in the order of the log; one that was answered
    // too late for the sender came again.
    private func check(_ received: [Receiver.Request], have expected: [Expected]) {
        var seen: Set<String> = []
        let found = received.filter { seen.insert($0.id).inserted }.map {
            Expected(
                id: $0.id,
                effect: $0.member("effect"),
                subscription: $0.member("originalTransactionId")
            )
        }
        #expect(found.count == expected.count && Set(found) == Set(expected))
        let wanted = Dictionary(grouping: expected, by: \.subscription)
        #expect(Dictionary(grouping: found, by: \.subscription) == wanted)
    }

    private enum Start { case beginning, end }

    private func add(
        _ name: String,
        _ receiver: Receiver,
        alerts: Bool = false,
        at start: Start = .beginning,
        to ledger: Ledger
    ) async throws {
        let webhook = Webhook(
            name: name,
            url: receiver.url,
            hearsAlerts: alerts,
            allowsPrivate: true,
            secrets: [WebhookSecret.random(.hmac).text]
        )
        let cursor = start == .end ? try await ledger.log.endOfCommits() : .beginning
        #expect(try await ledger.log.add(webhook, startingAt: cursor))
    }

    private func webhooks(_ ledger: Ledger) -> Webhooks {
        Webhooks(ledger) { notice in
            guard case .failed(_, let error) = notice else { return }
            Issue.record("\(error)")
        }
    }

    private func delivering(_ ledger: Ledger, _ body: () async throws -> Void) async throws {
        let stop = StopFlag()
        let running = Task { await webhooks(ledger).run(until: stop) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        stop.set()
        await running.value
        try result.get()
    }
}
