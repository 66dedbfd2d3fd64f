import AppStoreSimulator
import Events
import Testing

@testable import AppStore

/// One verifier serves any number of tasks, and remembers chains for all of them.
struct ConcurrencyTests {
    @Test func `many tasks sharing one verifier get the same results as one task`() async throws {
        let stores = try (1...4).map { seed in
            let simulator = AppStoreSimulator(seed: UInt64(seed))
            return (simulator, try RootCertificate(der: simulator.store.pki.rootDER))
        }
        let life = stores.map { $0.0.life(0) }
        var payloads = life.flatMap { $0.notifications().prefix(3).map(\.payload) }
        payloads += try life.map { $0.appReceipt(asOf: try #require($0.horizon)) }
        // One altered copy of each payload, which must be refused whatever else is verified
        // meanwhile.
        payloads += payloads.map { $0.dropLast(9) + [0x41] + $0.suffix(8) }
        let policy = VerificationPolicy(roots: stores.map(\.1))
        let expected = payloads.map {
            ConcurrencyTests.answer(AppStoreVerifier(policy: policy), $0)
        }
        #expect(expected.contains { $0.facts == nil } && expected.contains { $0.facts != nil })
        let shared = AppStoreVerifier(policy: policy)
        await withTaskGroup(of: (Int, Answer).self) { group in
            for round in 0..<8 {
                for index in payloads.indices {
                    let place = (index * 7 + round) % payloads.count
                    let payload = payloads[place]
                    group.addTask { (place, ConcurrencyTests.answer(shared, payload)) }
                }
            }
            for await (place, answer) in group { #expect(answer == expected[place]) }
        }
        #expect(shared.opener.cache.count == stores.count)
        #expect(shared.receiptOpener.cache.count == stores.count)
    }

    private struct Answer: Equatable {
        let facts: [Fact]?
        let code: Rejection.Code?
    }

    private static func answer(_ verifier: AppStoreVerifier, _ payload: [UInt8]) -> Answer {
        do throws(Rejection) {
            return Answer(facts: try verifier.facts(payload), code: nil)
        } catch {
            return Answer(facts: nil, code: error.code)
        }
    }
}
