internal import Events

/// Splits a payload into its parts.
struct EvidencePacker {
    private let dictionary: EvidenceDictionary?
    private var frame = ByteWriter()
    private var values = ByteWriter()
    private var randoms = ByteWriter()
    private var segmentIndex = 0

    /// The JWS headers so far, with their texts.
    private(set) var segments: [PackedSegment] = []

    /// The shortest run of base64 that is worth decoding, in characters.
    private static let runByteCountMin = 64

    init(dictionary: EvidenceDictionary?) {
        self.dictionary = dictionary
    }

    /// A packed body that contains the payload unchanged.
    static func verbatim(_ payload: [UInt8]) -> [UInt8] {
        var packer = EvidencePacker(dictionary: nil)
        packer.appendVerbatim(payload[...])
        return packer.body
    }

    /// A segment: the header of a JWS, packed without segments.
    ///
    /// Nil if it is not base64url, or packing does not preserve it.
    static func segment(_ text: [UInt8], dictionary: EvidenceDictionary?) -> PackedSegment? {
        guard let header = Base64.decodeURLUnpadded(text[...]) else { return nil }
        var packer = EvidencePacker(dictionary: dictionary)
        packer.append(header[...], nestedBy: EvidencePacking.Mark.base64URL, depth: 0)
        let body = packer.body
        let unpacked = EvidenceUnpacker.unpack(
            body,
            byteCountMax: text.count,
            dictionaries: { $0 == dictionary?.number ? dictionary?.bytes : nil },
            segmentText: { _ in nil }
        )
        guard packer.segments.isEmpty, unpacked == text else { return nil }
        return PackedSegment(
            text: text,
            segment: EvidencePacking.Segment(key: .of(text), body: body)
        )
    }

    /// The appended payload, as `evidence.body` stores it.
    var body: [UInt8] {
        var text = frame
        text.raw(values.bytes)
        let deflated = dictionary.flatMap { dictionary in
            Deflate.deflate(text.bytes, dictionary: dictionary)
        }
        var body = ByteWriter()
        body.integer(deflated == nil ? 0 : dictionary?.number ?? 0)
        body.leb128(UInt64(segments.count))
        for segment in segments { body.raw(segment.segment.key.bytes) }
        body.leb128(UInt64(randoms.bytes.count))
        body.raw(randoms.bytes)
        body.leb128(UInt64(frame.bytes.count))
        body.raw(deflated ?? text.bytes)
        return body.bytes
    }

    /// Appends a payload.
    mutating func append(_ payload: [UInt8]) {
        // The approximate size of the result; growing step by step would move the bytes at each
        // step.
        frame.reserve(payload.count / 2)
        values.reserve(payload.count / 4)
        append(payload[...], depth: 0)
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>, depth: Int) {
        var textStart = bytes.startIndex
        var position = bytes.startIndex
        while depth < EvidencePacking.depthMax,
            let run = EvidencePacker.nextRun(in: bytes, from: position)
        {
            if let content = Content(bytes[run]) {
                appendText(bytes[textStart..<run.lowerBound])
                append(content, depth: depth)
                textStart = run.upperBound
            }
            position = run.upperBound
        }
        appendText(bytes[textStart...])
    }

    // The next run that is worth decoding. Reads every 64th byte until one may belong to a run,
    // because a run of 64 bytes contains one of them.
    private static func nextRun(in bytes: ArraySlice<UInt8>, from start: Int) -> Range<Int>? {
        let first = bytes.startIndex
        return isRunByte.withUnsafeBufferPointer { isRunByte in
            bytes.withUnsafeBufferPointer { buffer in
                var probe = start - first + runByteCountMin - 1
                while probe < buffer.count {
                    guard isRunByte[Int(buffer[probe])] else {
                        probe += runByteCountMin
                        continue
                    }
                    var low = probe
                    while low > start - first, isRunByte[Int(buffer[low - 1])] { low -= 1 }
                    var high = runEnd(in: buffer, from: probe + 1)
                    while high < buffer.count, isRunByte[Int(buffer[high])] { high += 1 }
                    if high - low >= runByteCountMin { return first + low..<first + high }
                    probe = high + runByteCountMin
                }
                return nil
            }
        }
    }

    // At most seven bytes before the end of the run: examines eight at once, because the header of
    // a JWS has four thousand. Bit 7 of each byte of a word marks a byte that can be in a run.
    private static func runEnd(in buffer: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let bytes = UnsafeRawBufferPointer(buffer)
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        func isAtLeast(_ bound: UInt8, _ word: UInt64) -> UInt64 {
            word &+ ones &* UInt64(0x80 - bound)
        }
        func isOther(than byte: UInt8, _ word: UInt64) -> UInt64 {
            (word ^ ones &* UInt64(byte)) &+ ones &* 0x7F
        }
        var position = start
        while position + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            guard word & highs == 0 else { break }
            let lower = word | ones &* 0x20
            let isLetter = isAtLeast(UInt8(ascii: "a"), lower) & ~isAtLeast(0x7B, lower)
            let isDashToNine = isAtLeast(UInt8(ascii: "-"), word) & ~isAtLeast(0x3A, word)
            let isNoneOfThree =
                isOther(than: UInt8(ascii: "_"), word) & isOther(than: UInt8(ascii: "+"), word)
                & isOther(than: UInt8(ascii: "="), word)
            guard (isLetter | isDashToNine | ~isNoneOfThree) & highs == highs else { break }
            position += 8
        }
        return position
    }

    // Letters and digits, both alphabets' other two characters, padding, and the dots of a JWS.
    private static let isRunByte: [Bool] = (0...255).map { (byte: Int) -> Bool in
        switch UInt8(byte) {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private mutating func append(_ content: Content, depth: Int) {
        switch content {
        case .base64(let decoded):
            append(decoded[...], nestedBy: EvidencePacking.Mark.base64, depth: depth)
        case .jws(let header, let payload, let signature):
            let mark = EvidencePacking.Mark.base64URL
            if signature.count == EvidencePacking.signatureByteCount, setSegment(header) {
                append(payload[...], nestedBy: EvidencePacking.Mark.jws, depth: depth)
                randoms.raw(signature)
                return
            }
            // A JWS not signed by Apple: its header may never occur again.
            if let decoded = Base64.decodeURLUnpadded(header) {
                append(decoded[...], nestedBy: mark, depth: depth)
            } else {
                appendText(header)
            }
            frame.integer(EvidencePacker.dot)
            append(payload[...], nestedBy: mark, depth: depth)
            frame.integer(EvidencePacker.dot)
            append(signature[...], nestedBy: mark, depth: EvidencePacking.depthMax)
        }
    }

    private mutating func append(_ decoded: ArraySlice<UInt8>, nestedBy mark: UInt8, depth: Int) {
        frame.integer(mark)
        append(decoded, depth: depth + 1)
        frame.integer(EvidencePacking.Mark.end)
    }

    // Makes a header the current segment.
    private mutating func setSegment(_ header: ArraySlice<UInt8>) -> Bool {
        var index = segments.firstIndex { ByteScan.areEqual($0.text[...], header) }
        if index == nil {
            let text = Array(header)
            guard let segment = SegmentMemory.shared.segment(text, dictionary: dictionary) else {
                return false
            }
            index = segments.count
            segments.append(segment)
        }
        if let index, index != segmentIndex {
            frame.integer(EvidencePacking.Mark.segment)
            frame.leb128(UInt64(index))
            segmentIndex = index
        }
        return true
    }

    private mutating func appendVerbatim(_ bytes: ArraySlice<UInt8>) {
        frame.integer(EvidencePacking.Mark.verbatim)
        frame.leb128(UInt64(bytes.count))
        frame.raw(bytes)
    }

    // Values are moved out of the text, so the remaining texts of different payloads are much
    // alike.
    private mutating func appendText(_ text: ArraySlice<UInt8>) {
        guard EvidenceText.isText(text) else { return appendVerbatim(text) }
        var start = text.startIndex
        while let (place, range) = EvidenceText.nextPlace(in: text, from: start) {
            frame.raw(text[start..<range.lowerBound])
            start = range.upperBound
            switch place {
            case .mark: appendVerbatim(text[range])
            case .value:
                frame.integer(EvidencePacking.Mark.value)
                values.raw(text[range])
                values.integer(EvidencePacking.valueEnd)
            case .uuid:
                frame.integer(EvidencePacking.Mark.uuid)
                randoms.raw(EvidenceText.uuidBytes(text[range]))
            }
        }
        frame.raw(text[start...])
    }
}

/// A segment with the text that it stands for.
struct PackedSegment: Sendable {
    let text: [UInt8]
    let segment: EvidencePacking.Segment
}

extension EvidencePacker {
    /// The content of a run of base64 characters.
    private enum Content {
        case base64([UInt8])
        case jws(header: ArraySlice<UInt8>, payload: [UInt8], signature: [UInt8])

        /// Nil if decoding is useless, because encoding would not restore the same text.
        init?(_ run: ArraySlice<UInt8>) {
            if let jws = Content(jws: run) {
                self = jws
            } else if run.count % 4 == 0, let decoded = Base64.decodeStandard(run) {
                self = .base64(decoded)
            } else {
                return nil
            }
        }

        private init?(jws run: ArraySlice<UInt8>) {
            guard run.starts(with: "eyJ".utf8),
                let first = EvidencePacker.nextDot(in: run, from: run.startIndex),
                let last = EvidencePacker.nextDot(in: run, from: first + 1),
                EvidencePacker.nextDot(in: run, from: last + 1) == nil,
                let payload = Base64.decodeURLUnpadded(run[(first + 1)..<last]),
                let signature = Base64.decodeURLUnpadded(run[(last + 1)...])
            else { return nil }
            self = .jws(header: run[..<first], payload: payload, signature: signature)
        }
    }

    private static let dot = UInt8(ascii: ".")

    private static func nextDot(in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        bytes.withUnsafeBytes { buffer in
            ByteScan.firstIndex(of: dot, in: buffer, from: start - bytes.startIndex)
        }.map { $0 + bytes.startIndex }
    }
}
