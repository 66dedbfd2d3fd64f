import Events
import Synchronization

/// Remembers the chains that were judged good, so that each is judged once.
///
/// The key of a JWS is its whole protected header, byte for byte: it repeats in every payload of
/// one leaf, and one comparison replaces decoding it, three certificates and two signatures. That
/// of an app receipt is a digest of its certificates and of who among them signed. The date is no
/// part of the verdict; each payload is held against the remembered validity. An entry is made only
/// after a signature was checked with it, so that only holders of a trusted key can fill it.
final class ChainCache<Chain: Sendable>: Sendable {
    private struct Entry {
        let key: [UInt8]
        let chain: Chain
    }

    // The oldest first. Headers differ within their first certificate, so that going through all
    // of them costs little more than the one comparison that succeeds.
    private let entries = Mutex<[Entry]>([])

    /// Most chains remembered: Apple has a handful of leaves at a time, old payloads a few dozen.
    static var chainCountMax: Int { 64 }

    /// The chain of that key, if it was judged good before.
    func chain(of key: ArraySlice<UInt8>) -> Chain? {
        entries.withLock { entries in
            entries.last { ByteScan.areEqual($0.key[...], key) }?.chain
        }
    }

    /// Remembers a chain; the oldest makes room.
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
