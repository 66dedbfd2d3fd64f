import AppStore
import AppStoreSimulator
import Events

/// libFuzzer calls this with every input it generates: the whole way in, as a payload without a
/// voucher, as one that the operator vouches for, and as a file of many.
@_cdecl("LLVMFuzzerTestOneInput")
package func decode(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    for voucher in [Voucher.unvouched, .operator] {
        do {
            let verified = try verifier.verify(
                payload: input,
                source: "fuzz",
                receivedAt: Instant(milliseconds: 1_760_000_000_000),
                voucher: voucher
            )
            for fact in verified.facts {
                precondition(Content(canonicalBytes: fact.content.canonicalBytes) == fact.content)
            }
        } catch {
            precondition(!error.message.isEmpty)
        }
    }
    let pieces = PayloadSplitter.split(input)
    precondition(pieces.count <= count)
    return 0
}

// The root of the seed whose payloads `Fuzz --corpus` writes.
private let verifier: AppStoreVerifier = {
    do {
        let root = try RootCertificate(der: SimulatedPKI(seed: 1).rootDER)
        return AppStoreVerifier(policy: VerificationPolicy(roots: [root]))
    } catch {
        preconditionFailure("\(error)")
    }
}()
