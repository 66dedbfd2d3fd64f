internal import Events
internal import Synchronization

/// The most recently packed segments: the same header comes with every payload for months.
final class SegmentMemory: Sendable {
    static let shared = SegmentMemory()

    /// The most segments remembered; Apple signs with one or two keys at a time.
    private static let segmentsMax = 8

    /// The longest text remembered, in bytes; a header with three certificates has 4.4 kB.
    private static let textByteCountMax = 16 << 10

    private struct Entry {
        let dictionary: EvidenceDictionary?
        let segment: PackedSegment
    }

    private let entries = Mutex<[Entry]>([])

    /// The segment with this text, packed; nil if it cannot be a segment.
    func segment(_ text: [UInt8], dictionary: EvidenceDictionary?) -> PackedSegment? {
        let known = entries.withLock { $0 }.first { entry in
            ByteScan.areEqual(entry.segment.text[...], text[...]) && entry.dictionary == dictionary
        }
        if let known { return known.segment }
        guard let segment = EvidencePacker.segment(text, dictionary: dictionary) else {
            return nil
        }
        guard text.count <= SegmentMemory.textByteCountMax else { return segment }
        entries.withLock { entries in
            if entries.count >= SegmentMemory.segmentsMax { entries.removeFirst() }
            entries.append(Entry(dictionary: dictionary, segment: segment))
        }
        return segment
    }
}
