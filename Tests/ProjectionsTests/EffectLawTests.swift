import Events
import Synchronization
import TestSupport
import Testing

@testable import Projections

/// The laws of effects over thousands of random histories, delivered in random order with
/// duplicates, commit by commit.
///
/// `SUBLEDGER_HISTORIES` asks for more of them (`make laws`). A history's number is its seed.
@Suite struct EffectLawTests {
    @Test func `the effects of each commit lead from the answers before it to those after it`()
        async throws
    {
        let count = Atomic<Int>(0)
        let broken = try await Histories.each(Histories.numbers(unlessTold: 1500)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let facts = random.facts(Int.random(in: 1...16, using: &random.random))
            var ledger = MemoryLedger()
            var readers: [StreamID: EffectReader] = [:]
            var broken: [String] = []
            for batch in random.deliveries(of: facts) {
                let known = ledger
                ledger.append(batch)
                for stream in Set(batch.map(\.stream)).sorted() {
                    let before = EffectState(known.history(of: stream), in: .lawful)
                    let after = EffectState(ledger.history(of: stream), in: .lawful)
                    let effects = EffectChange.between(before, after)
                    count.add(effects.count, ordering: .relaxed)
                    readers[stream, default: EffectReader()].take(effects)
                    let isSame = EffectReader(before) == EffectReader(after)
                    if isSame != effects.isEmpty { broken.append("seed \(number): needless") }
                    if readers[stream] != EffectReader(after) {
                        broken.append("seed \(number): another state")
                    }
                    if readers[stream]?.hasAccess != after.access.contains(where: \.isCurrent) {
                        broken.append("seed \(number): another access")
                    }
                }
            }
            return broken
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
        #expect(count.load(ordering: .relaxed) > 5000)
    }

    @Test func `the effects after all commits do not depend on the order of arrival`()
        async throws
    {
        let broken = try await Histories.each(Histories.numbers(unlessTold: 500)) { number in
            var random = RandomFacts(seed: UInt64(number), hasOldFormats: true)
            let facts = random.facts(Int.random(in: 1...16, using: &random.random))
            let readers = (0..<2).map { _ in
                var ledger = MemoryLedger()
                var reader = EffectReader()
                for batch in random.deliveries(of: facts) {
                    let before = EffectState(
                        ledger.history(of: RandomFacts.streams[0]),
                        in: .lawful
                    )
                    ledger.append(batch)
                    let after = EffectState(ledger.history(of: RandomFacts.streams[0]), in: .lawful)
                    reader.take(EffectChange.between(before, after))
                }
                return reader
            }
            return readers[0] == readers[1] ? [] : ["seed \(number)"]
        }
        #expect(broken.isEmpty, "\(Histories.summary(broken))")
    }
}

/// A reader of effects that knows nothing else.
private struct EffectReader: Equatable {
    var access: [AccessGrant: Int] = [:]
    var movements: [[UInt8]: Int] = [:]
    var planChanges: [[UInt8]: Int] = [:]
    var customer: String?
    var erasures: [Erasure.Scope] = []
    /// Set by `access_began` and reset by `access_ended` of a subscription, and by nothing else.
    var hasAccess = false

    init() {}

    init(_ state: EffectState) {
        for grant in state.access { access[grant, default: 0] += 1 }
        for row in state.movements.rows { movements[bytes(row), default: 0] += 1 }
        for row in state.planChanges.rows { planChanges[bytes(row), default: 0] += 1 }
        customer = state.customer
        erasures = state.erasures
        hasAccess = state.access.contains(where: \.isCurrent)
    }

    mutating func take(_ effects: [EffectChange]) {
        for effect in effects {
            switch effect.subject {
            case .access(let before, let after):
                replace(before, after, in: &access)
                guard before?.isOneTime != true, after?.isOneTime != true else { continue }
                if effect.kind == .accessBegan { hasAccess = true }
                if effect.kind == .accessEnded { hasAccess = false }
            case .movement(let before, let after):
                replace(before.map(bytes), after.map(bytes), in: &movements)
            case .planChange(let before, let after):
                replace(before.map(bytes), after.map(bytes), in: &planChanges)
            case .customer(_, let after): customer = after
            case .erasure(let scope): erasures.append(scope)
            }
        }
    }

    private func replace<Key>(_ before: Key?, _ after: Key?, in counts: inout [Key: Int]) {
        if let before {
            counts[before, default: 0] -= 1
            if counts[before] == 0 { counts[before] = nil }
        }
        if let after { counts[after, default: 0] += 1 }
    }
}

extension AccessGrant {
    fileprivate var isCurrent: Bool { isOpen && !isOneTime }
}

private func bytes(_ row: Movement) -> [UInt8] {
    var writer = RowWriter()
    return MovementsProjection().row(of: row, &writer).canonicalBytes
}

private func bytes(_ row: PlanChange) -> [UInt8] {
    var writer = RowWriter()
    return PlanChangesProjection().row(of: row, &writer).canonicalBytes
}
