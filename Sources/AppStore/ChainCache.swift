import Events
import Synchronization

/// Remembers the chains that were judged good, so that each is judged once.
///
/// The key of a JWS is the SHA-256 of its whole protected header, of an app receipt that of its
/// certificates and of who among them signed. The header repeats in every payload of one leaf,
/// and one look-up replaces decoding the header, three certificates and two signatures. The date is
/// no part of the verdict; each payload is held against the remembered validity. An entry is made
/// only after a signature was checked with it, so that only holders of a trusted key can fill it.
final class ChainCache<Chain: Sendable>: Sendable {
    private struct State {
        var chains: [Digest: Chain] = [:]
        var order: [Digest] = []
    }

    private let state = Mutex(State())

    /// Most chains remembered: Apple has a handful of leaves at a time, old payloads a few dozen.
    static var chainCountMax: Int { 64 }

    /// The chain of that header, if it was judged good before.
    func chain(of header: Digest) -> Chain? {
        state.withLock { $0.chains[header] }
    }

    /// Remembers a chain; the oldest makes room.
    func remember(_ chain: Chain, of header: Digest) {
        state.withLock { state in
            guard state.chains.updateValue(chain, forKey: header) == nil else { return }
            state.order.append(header)
            if state.order.count > ChainCache.chainCountMax {
                state.chains[state.order.removeFirst()] = nil
            }
        }
    }

    /// Number of chains remembered.
    var count: Int { state.withLock { $0.order.count } }
}
