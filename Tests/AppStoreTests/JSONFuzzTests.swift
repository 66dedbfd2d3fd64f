import Foundation
import Testing

@testable import AppStore

/// The parser compared with Foundation's, for as long as requested.
///
/// `SUBLEDGER_FUZZ_SECONDS=600 swift test --filter JSONFuzzTests` uses a new seed each time and
/// prints it; `SUBLEDGER_FUZZ_SEED` takes the seed of a failure, whose first round fails again.
struct JSONFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// Rounds by default: a few seconds in a debug build.
    private static let roundsByDefault: UInt64 = 20_000

    /// How long to continue after that; nil if not requested.
    private static let seconds = environment["SUBLEDGER_FUZZ_SECONDS"].flatMap(Int.init)

    private static let seed: UInt64 = {
        if let asked = environment["SUBLEDGER_FUZZ_SEED"].flatMap({ UInt64($0) }) { return asked }
        return seconds == nil ? 20_261_121 : UInt64.random(in: 0...UInt64.max >> 1)
    }()

    @Test func `a damaged text never has another meaning than in Foundation`() {
        let end = ContinuousClock.now + .seconds(JSONFuzzTests.seconds ?? 0)
        var (round, accepted, refused): (UInt64, Int, Int) = (0, 0, 0)
        while round < JSONFuzzTests.roundsByDefault || ContinuousClock.now < end {
            let seed = JSONFuzzTests.seed &+ round
            round += 1
            let bytes = JSONFuzzTests.text(seed: seed)
            switch JSONOracle.judge(bytes) {
            case .bothAccept: accepted += 1
            case .bothRefuse: refused += 1
            case .knownDifference: break
            case .disagree(let why):
                let text = String(decoding: bytes, as: UTF8.self)
                Issue.record("SUBLEDGER_FUZZ_SEED=\(seed): \(why): \(text)")
                return
            }
        }
        #expect(accepted > 4000 && refused > 4000, "the mixture must test both sides")
        if JSONFuzzTests.seconds != nil {
            print("fuzzed JSON: \(round) texts from seed \(JSONFuzzTests.seed), \(accepted) read")
        }
    }

    // A different text for each seed, shifted by up to eight bytes, so that words begin at any
    // offset.
    private static func text(seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        let isRow = Int.random(in: 0..<4, using: &generator) == 0
        let text = isRow ? RandomJSON.row(using: &generator) : RandomJSON.text(using: &generator)
        var bytes = Array(text.utf8)
        RandomJSON.damageMore(&bytes, using: &generator)
        let shift = Int.random(in: 0..<9, using: &generator)
        return [UInt8](repeating: 0x20, count: shift) + bytes
    }
}
