import Testing

@testable import Fuzz

/// A short run over every decoder; `Tests/Fuzz` runs for any time.
struct FuzzTests {
    // Cases per decoder; all decoders together take some seconds in debug.
    private static let caseCount: UInt64 = 300
    private static let fuzzer = Result { try Fuzzer(seed: 20_261_121) }

    @Test(arguments: Decoder.allCases)
    func `a decoder keeps its promises for any input`(decoder: Decoder) throws {
        let fuzzer = try FuzzTests.fuzzer.get()
        for number in 0..<FuzzTests.caseCount {
            do throws(Finding) {
                try fuzzer.run(decoder, number)
            } catch {
                Issue.record("seed \(fuzzer.seed), \(decoder), case \(number): \(error)")
                return
            }
        }
    }
}
