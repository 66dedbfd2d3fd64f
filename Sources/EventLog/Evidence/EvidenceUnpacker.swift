internal import Events

/// Restores a payload from its parts.
struct EvidenceUnpacker {
    /// The sections of a packed body.
    struct Sections {
        let dictionary: UInt8
        let keys: [SegmentKey]
        let randoms: ArraySlice<UInt8>
        let frameByteCount: Int
        let rest: ArraySlice<UInt8>

        /// Nil if the body ends too early.
        init?(_ body: [UInt8]) {
            var bytes = body[...]
            guard let dictionary = bytes.popFirst(),
                let count = EvidenceUnpacker.popNumber(from: &bytes),
                count <= bytes.count / SegmentKey.byteCount
            else { return nil }
            var keys: [SegmentKey] = []
            for _ in 0..<count {
                guard let key = SegmentKey(bytes: bytes.prefix(SegmentKey.byteCount)) else {
                    return nil
                }
                keys.append(key)
                bytes = bytes.dropFirst(SegmentKey.byteCount)
            }
            guard let randomByteCount = EvidenceUnpacker.popNumber(from: &bytes),
                randomByteCount <= bytes.count
            else { return nil }
            let randoms = bytes.prefix(randomByteCount)
            bytes = bytes.dropFirst(randomByteCount)
            guard let frameByteCount = EvidenceUnpacker.popNumber(from: &bytes) else { return nil }
            self.dictionary = dictionary
            self.keys = keys
            self.randoms = randoms
            self.frameByteCount = frameByteCount
            rest = bytes
        }
    }

    private let byteCountMax: Int
    private let keys: [SegmentKey]
    private let text: [UInt8]
    private let frameEnd: Int
    private let segmentText: (SegmentKey) -> [UInt8]?
    private var position = 0
    private var valuePosition: Int
    private var randoms: ArraySlice<UInt8>
    private var segmentIndex = 0
    // Segments repeat within a payload; each is expanded once.
    private var segmentTexts: [Int: [UInt8]] = [:]
    private var expandedByteCount = 0

    /// The exact bytes that were packed; nil if the body is malformed, something is missing, or the
    /// result would be longer than `byteCountMax`.
    static func unpack(
        _ body: [UInt8],
        byteCountMax: Int,
        dictionaries: (UInt8) -> [UInt8]?,
        segmentText: (SegmentKey) -> [UInt8]?
    ) -> [UInt8]? {
        guard let sections = Sections(body),
            let text = text(of: sections, byteCountMax: byteCountMax, dictionaries),
            sections.frameByteCount <= text.count
        else { return nil }
        return withoutActuallyEscaping(segmentText) { segmentText in
            var unpacker = EvidenceUnpacker(
                sections,
                text: text,
                byteCountMax: byteCountMax,
                segmentText: segmentText
            )
            var output: [UInt8] = []
            output.reserveCapacity(min(byteCountMax, 16 * text.count))
            guard unpacker.append(to: &output, depth: 0), unpacker.isAtEnd else { return nil }
            return output
        }
    }

    /// The most bytes of frame and values for this many bytes of payload: a byte that looks like a
    /// mark takes three, and each value two more than its length.
    private static func textByteCountMax(_ byteCountMax: Int) -> Int {
        3 * min(byteCountMax, Int(UInt32.max)) + 64
    }

    private static func text(
        of sections: Sections,
        byteCountMax: Int,
        _ dictionaries: (UInt8) -> [UInt8]?
    ) -> [UInt8]? {
        guard sections.dictionary > 0 else { return Array(sections.rest) }
        return dictionaries(sections.dictionary).flatMap { dictionary in
            Deflate.inflate(
                sections.rest,
                dictionary: dictionary,
                byteCountMax: textByteCountMax(byteCountMax)
            )
        }
    }

    private init(
        _ sections: Sections,
        text: [UInt8],
        byteCountMax: Int,
        segmentText: @escaping (SegmentKey) -> [UInt8]?
    ) {
        self.byteCountMax = byteCountMax
        self.text = text
        self.segmentText = segmentText
        keys = sections.keys
        randoms = sections.randoms
        frameEnd = sections.frameByteCount
        valuePosition = sections.frameByteCount
    }

    private var isAtEnd: Bool {
        position == frameEnd && valuePosition == text.count && randoms.isEmpty
    }

    /// Appends what the frame stands for, to its end, or to the end mark of this depth.
    private mutating func append(to output: inout [UInt8], depth: Int) -> Bool {
        // A frame that nests deeper is malformed, so the recursion is bounded.
        guard depth <= EvidencePacking.depthMax + 2 else { return false }
        while position < frameEnd {
            let start = position
            position = nextMark
            guard append(text[start..<position], to: &output) else { return false }
            guard position < frameEnd else { break }
            let mark = text[position]
            position += 1
            if mark == EvidencePacking.Mark.end { return depth > 0 }
            guard append(mark, to: &output, depth: depth) else { return false }
        }
        return depth == 0
    }

    private mutating func append(_ mark: UInt8, to output: inout [UInt8], depth: Int) -> Bool {
        switch mark {
        case EvidencePacking.Mark.value: nextValue.map { append($0, to: &output) } ?? false
        case EvidencePacking.Mark.uuid:
            nextRandoms(EvidencePacking.uuidByteCount).map {
                append(EvidenceText.uuidText($0)[...], to: &output)
            } ?? false
        case EvidencePacking.Mark.jws: appendJWS(to: &output, depth: depth)
        case EvidencePacking.Mark.segment: setSegment()
        case EvidencePacking.Mark.verbatim: appendVerbatim(to: &output)
        default: appendBase64(mark, to: &output, depth: depth)
        }
    }

    private func append(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) -> Bool {
        guard bytes.count <= byteCountMax - output.count else { return false }
        output.append(contentsOf: bytes)
        return true
    }

    private mutating func appendJWS(to output: inout [UInt8], depth: Int) -> Bool {
        let dot = [UInt8(ascii: ".")]
        guard let header = currentSegment(), append(header[...], to: &output),
            append(dot[...], to: &output),
            appendBase64(EvidencePacking.Mark.base64URL, to: &output, depth: depth),
            append(dot[...], to: &output),
            let signature = nextRandoms(EvidencePacking.signatureByteCount)
        else { return false }
        Base64.encodeURLUnpadded(signature, to: &output)
        return output.count <= byteCountMax
    }

    private mutating func appendBase64(
        _ mark: UInt8,
        to output: inout [UInt8],
        depth: Int
    ) -> Bool {
        var decoded: [UInt8] = []
        guard append(to: &decoded, depth: depth + 1),
            decoded.count <= byteCountMax - output.count
        else { return false }
        if mark == EvidencePacking.Mark.base64 {
            Base64.encodeStandard(decoded[...], to: &output)
        } else {
            Base64.encodeURLUnpadded(decoded[...], to: &output)
        }
        return output.count <= byteCountMax
    }

    private mutating func appendVerbatim(to output: inout [UInt8]) -> Bool {
        guard let count = nextNumber(), count <= frameEnd - position else { return false }
        defer { position += count }
        return append(text[position..<position + count], to: &output)
    }

    private mutating func setSegment() -> Bool {
        guard let index = nextNumber() else { return false }
        segmentIndex = index
        return true
    }

    private mutating func currentSegment() -> [UInt8]? {
        if let text = segmentTexts[segmentIndex] { return text }
        guard keys.indices.contains(segmentIndex), let text = segmentText(keys[segmentIndex]),
            text.count <= byteCountMax - expandedByteCount
        else { return nil }
        expandedByteCount += text.count
        segmentTexts[segmentIndex] = text
        return text
    }

    private static let isMark: [Bool] = (0...255).map { (byte: Int) -> Bool in
        EvidencePacking.Mark.all.contains(UInt8(byte))
    }

    private var nextMark: Int {
        text.withUnsafeBufferPointer { text in
            EvidenceUnpacker.isMark.withUnsafeBufferPointer { isMark in
                var next = position
                while next < frameEnd, !isMark[Int(text[next])] { next += 1 }
                return next
            }
        }
    }

    private var nextValue: ArraySlice<UInt8>? {
        mutating get {
            let start = valuePosition
            let found = text.withUnsafeBytes {
                ByteScan.firstIndex(of: EvidencePacking.valueEnd, in: $0, from: start)
            }
            guard let end = found else { return nil }
            valuePosition = end + 1
            return text[start..<end]
        }
    }

    private mutating func nextRandoms(_ count: Int) -> ArraySlice<UInt8>? {
        guard randoms.count >= count else { return nil }
        defer { randoms.removeFirst(count) }
        return randoms.prefix(count)
    }

    private mutating func nextNumber() -> Int? {
        var bytes = text[position..<frameEnd]
        defer { position = frameEnd - bytes.count }
        return EvidenceUnpacker.popNumber(from: &bytes)
    }

    // LEB128 in its shortest form, which `ByteReader` requires, so its length follows from the
    // number.
    private static func popNumber(from bytes: inout ArraySlice<UInt8>) -> Int? {
        var reader = ByteReader(bytes)
        guard let number = reader.leb128() else { return nil }
        let bitCount = max(1, Int.bitWidth - number.leadingZeroBitCount)
        bytes = bytes.dropFirst((bitCount + 6) / 7)
        return number
    }
}
