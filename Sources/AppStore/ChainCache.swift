import Crypto
import Synchronization

/// Remembers the chains that were judged good, so that each is judged once.
///
/// The key is the whole protected header, byte for byte: it repeats in every payload of one leaf,
/// and one comparison replaces decoding it, three certificates and two signatures. The date is no
/// part of the verdict; each payload is held against the remembered validity. An entry is made only
/// after a signature was checked with it, so that only holders of a trusted key can fill it.
final class ChainCache: Sendable {
    /// A chain judged good, and what else follows from its header alone.
    struct Known: Sendable {
        /// The chain.
        let chain: SigningChain
        /// The SHA-256 of the header and a dot, to be continued: half of what is to be hashed.
        let hashOfHeader: SHA256
        fileprivate let header: [UInt8]
    }

    // The oldest first. Headers differ within their first certificate, so that going through all
    // of them costs little more than the one comparison that succeeds.
    private let entries = Mutex<[Known]>([])

    /// Most chains remembered: Apple has a handful of leaves at a time, old payloads a few dozen.
    static let chainCountMax = 64

    /// The entry of that header, if its chain was judged good before.
    func chain(of header: ArraySlice<UInt8>) -> Known? {
        entries.withLock { entries in
            entries.last { ChainCache.areEqual($0.header, header) }
        }
    }

    /// Remembers a chain; the oldest makes room.
    func remember(
        _ chain: SigningChain,
        of header: ArraySlice<UInt8>,
        hashOfHeader: SHA256
    ) {
        let entry = Known(chain: chain, hashOfHeader: hashOfHeader, header: Array(header))
        entries.withLock { entries in
            guard !entries.contains(where: { ChainCache.areEqual($0.header, header) }) else {
                return
            }
            entries.append(entry)
            if entries.count > ChainCache.chainCountMax { entries.removeFirst() }
        }
    }

    /// Number of chains remembered.
    var count: Int { entries.withLock { $0.count } }

    private static func areEqual(_ left: [UInt8], _ right: ArraySlice<UInt8>) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { ByteScan.areEqual(left, $0) } }
    }
}
