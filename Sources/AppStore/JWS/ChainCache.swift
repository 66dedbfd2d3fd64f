import Events
import Synchronization

/// Remembers the chains that were judged good, so that each is judged only once.
///
/// For a JWS the key is its whole protected header, byte for byte: it is the same in every payload
/// of one leaf, and one comparison replaces decoding it, three certificates and two signatures. For
/// an app receipt it is a digest of its certificates and of which of them signed. The verdict does
/// not include the date; each payload's date is compared with the remembered validity. An entry is
/// added only after a signature was checked with it, so only holders of a trusted key can fill the
/// cache.
final class ChainCache<Chain: Sendable>: Sendable {
    private struct Entry {
        let key: [UInt8]
        let chain: Chain
    }

    // The oldest first. Headers differ within their first certificate, so comparing with all of
    // them costs little more than the one comparison that succeeds.
    private let entries = Mutex<[Entry]>([])

    /// Most chains remembered: Apple has a handful of leaves at a time, old payloads a few dozen.
    static var chainCountMax: Int { 64 }

    /// The chain of that key, if it was judged good before.
    func chain(of key: ArraySlice<UInt8>) -> Chain? {
        entries.withLock { entries in
            entries.last { ByteScan.areEqual($0.key[...], key) }?.chain
        }
    }

    /// Remembers a chain, in place of the oldest if the cache is full.
    func remember(_ chain: Chain, of key: ArraySlice<UInt8>) {
        let entry = Entry(key: Array(key), chain: chain)
        entries.withLock { entries in
            guard !entries.contains(where: { ByteScan.areEqual($0.key[...], key) }) else { return }
            entries.append(entry)
            if entries.count > ChainCache.chainCountMax { entries.removeFirst() }
        }
    }

    /// Number of chains remembered.
    var count: Int { entries.withLock { $0.count } }
}
