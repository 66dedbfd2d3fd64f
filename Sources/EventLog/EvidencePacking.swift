public import Events

/// Packs payloads for storage: what repeats is kept once, base64 is kept as the bytes it stands for.
///
/// A version 2 notification nests two JWS in a third, and all three carry the same 4.4 kB header of
/// certificates; an 18.7 kB body holds 1.5 kB of news. Unpacking gives the exact bytes back; `pack`
/// proves it before it returns, and keeps a payload as it is where the proof fails. The form is
/// written down in `schema/README.md`.
public enum EvidencePacking {
    /// A payload, ready to be stored.
    public struct Packed: Sendable {
        /// What goes into `evidence.body`.
        public let body: [UInt8]
        /// The segments it refers to, in order of first use.
        public let segments: [Segment]
    }

    /// A part that repeats from payload to payload.
    public struct Segment: Hashable, Sendable {
        /// SHA-256 of the part as it stands in the payload.
        public let digest: Digest
        /// The part, packed.
        public let body: [UInt8]
    }

    /// First byte of every packed body.
    static let version: UInt8 = 1

    /// Deepest nesting that is taken apart: a notification in an API response needs three.
    static let depthMax = 5

    /// Shortest run of base64 that is worth decoding, in characters.
    static let runByteCountMin = 64

    enum Tag: UInt8 {
        case literal = 0
        case base64URL = 1
        case base64 = 2
        case segment = 3
    }

    /// Packs a payload.
    public static func pack(_ payload: [UInt8]) -> Packed {
        var packer = Packer()
        let packed = Packed(
            body: [version] + packer.parts(of: payload[...], depth: 0),
            segments: packer.segments
        )
        let bodies = Dictionary(uniqueKeysWithValues: packed.segments.map { ($0.digest, $0.body) })
        let unpacked = unpack(packed.body, byteCountMax: payload.count) { bodies[$0] }
        if let unpacked, ByteScan.areEqual(unpacked[...], payload[...]) { return packed }
        var writer = ByteWriter()
        writer.integer(version)
        Packer.write(.literal, payload[...], to: &writer)
        return Packed(body: writer.bytes, segments: [])
    }

    /// The exact bytes that were packed.
    ///
    /// Nil where the body is malformed, a segment is missing, or the result would be longer than
    /// `byteCountMax`.
    public static func unpack(
        _ body: [UInt8],
        byteCountMax: Int,
        segment: (Digest) -> [UInt8]?
    ) -> [UInt8]? {
        withoutActuallyEscaping(segment) { segment in
            var unpacker = Unpacker(byteCountMax: byteCountMax, segment: segment)
            return unpacker.unpack(body, depth: 0)
        }
    }
}

/// Puts a payload together again.
private struct Unpacker {
    let byteCountMax: Int
    let segment: (Digest) -> [UInt8]?
    // Segments repeat within a payload; each is expanded once.
    private var expanded: [Digest: [UInt8]] = [:]
    private var expandedByteCount = 0

    init(byteCountMax: Int, segment: @escaping (Digest) -> [UInt8]?) {
        self.byteCountMax = byteCountMax
        self.segment = segment
    }

    mutating func unpack(_ body: [UInt8], depth: Int) -> [UInt8]? {
        guard body.first == EvidencePacking.version else { return nil }
        var output: [UInt8] = []
        // A row that was tampered with may claim any size.
        if depth == 0 { output.reserveCapacity(min(byteCountMax, 16 * body.count)) }
        return append(body.dropFirst(), to: &output, depth: depth) ? output : nil
    }

    private mutating func append(
        _ parts: ArraySlice<UInt8>,
        to output: inout [UInt8],
        depth: Int
    ) -> Bool {
        guard depth <= EvidencePacking.depthMax + 2 else { return false }
        var reader = ByteReader(parts)
        while !reader.isAtEnd {
            guard let tag = reader.integer(UInt8.self).flatMap(EvidencePacking.Tag.init(rawValue:))
            else { return false }
            if tag == .segment {
                guard let digest = reader.raw(Digest.byteCount).flatMap(Digest.init(bytes:)),
                    let text = text(of: digest, depth: depth)
                else { return false }
                output.append(contentsOf: text)
            } else {
                guard let count = reader.leb128(), let inner = reader.raw(count),
                    append(inner, tagged: tag, to: &output, depth: depth)
                else { return false }
            }
            guard output.count <= byteCountMax else { return false }
        }
        return true
    }

    private mutating func append(
        _ inner: ArraySlice<UInt8>,
        tagged tag: EvidencePacking.Tag,
        to output: inout [UInt8],
        depth: Int
    ) -> Bool {
        if tag == .literal {
            output.append(contentsOf: inner)
            return true
        }
        var decoded: [UInt8] = []
        guard append(inner, to: &decoded, depth: depth + 1) else { return false }
        if tag == .base64 {
            Base64.encodeStandard(decoded[...], to: &output)
        } else {
            Base64.encodeURLUnpadded(decoded[...], to: &output)
        }
        return true
    }

    private mutating func text(of digest: Digest, depth: Int) -> [UInt8]? {
        if let text = expanded[digest] { return text }
        guard let body = segment(digest), let text = unpack(body, depth: depth + 1) else {
            return nil
        }
        expandedByteCount += text.count
        guard expandedByteCount <= byteCountMax else { return nil }
        expanded[digest] = text
        return text
    }
}

/// Takes a payload apart.
private struct Packer {
    var segments: [EvidencePacking.Segment] = []
    // The texts of those segments, to know one again without hashing it.
    private var texts: [[UInt8]] = []

    mutating func parts(of bytes: ArraySlice<UInt8>, depth: Int) -> [UInt8] {
        var writer = ByteWriter()
        var literalStart = bytes.startIndex
        var position = bytes.startIndex
        while let run = Packer.nextRun(in: bytes, from: position) {
            if depth < EvidencePacking.depthMax, let packed = packed(run: bytes[run], depth: depth)
            {
                Packer.write(.literal, bytes[literalStart..<run.lowerBound], to: &writer)
                writer.raw(packed)
                literalStart = run.upperBound
            }
            position = run.upperBound
        }
        Packer.write(.literal, bytes[literalStart...], to: &writer)
        return writer.bytes
    }

    // The next run that is worth decoding. Looks at every 64th byte until one may be in a run: what
    // lies between is no run of 64.
    private static func nextRun(in bytes: ArraySlice<UInt8>, from start: Int) -> Range<Int>? {
        let first = bytes.startIndex
        return isRunByte.withUnsafeBufferPointer { isRunByte in
            bytes.withUnsafeBufferPointer { buffer in
                let step = EvidencePacking.runByteCountMin
                var probe = start - first + step - 1
                while probe < buffer.count {
                    guard isRunByte[Int(buffer[probe])] else {
                        probe += step
                        continue
                    }
                    var low = probe
                    while low > start - first, isRunByte[Int(buffer[low - 1])] { low -= 1 }
                    var high = probe + 1
                    while high < buffer.count, isRunByte[Int(buffer[high])] { high += 1 }
                    if high - low >= step { return first + low..<first + high }
                    probe = high + step
                }
                return nil
            }
        }
    }

    static func write(
        _ tag: EvidencePacking.Tag,
        _ bytes: ArraySlice<UInt8>,
        to writer: inout ByteWriter
    ) {
        guard !bytes.isEmpty else { return }
        writer.integer(tag.rawValue)
        writer.leb128(UInt64(bytes.count))
        writer.raw(bytes)
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

    private mutating func packed(run: ArraySlice<UInt8>, depth: Int) -> [UInt8]? {
        if run.starts(with: "eyJ".utf8), let jws = packedJWS(run, depth: depth) { return jws }
        guard run.count % 4 == 0, let decoded = Base64.decodeStandard(run) else {
            return nil
        }
        return nested(.base64, decoded[...], depth: depth)
    }

    private mutating func packedJWS(_ run: ArraySlice<UInt8>, depth: Int) -> [UInt8]? {
        let dot = UInt8(ascii: ".")
        guard let first = Packer.firstIndex(of: dot, in: run, from: run.startIndex),
            let last = Packer.firstIndex(of: dot, in: run, from: first + 1),
            Packer.firstIndex(of: dot, in: run, from: last + 1) == nil,
            let payload = Base64.decodeURLUnpadded(run[(first + 1)..<last]),
            let signature = Base64.decodeURLUnpadded(run[(last + 1)...]),
            let header = segment(run[..<first])
        else { return nil }
        var writer = ByteWriter()
        writer.integer(EvidencePacking.Tag.segment.rawValue)
        writer.raw(header.bytes)
        Packer.write(.literal, [dot], to: &writer)
        writer.raw(nested(.base64URL, payload[...], depth: depth))
        Packer.write(.literal, [dot], to: &writer)
        var literal = ByteWriter()
        Packer.write(.literal, signature[...], to: &literal)
        Packer.write(.base64URL, literal.bytes[...], to: &writer)
        return writer.bytes
    }

    private static func firstIndex(
        of byte: UInt8,
        in bytes: ArraySlice<UInt8>,
        from start: Int
    ) -> Int? {
        bytes.withUnsafeBytes { buffer in
            ByteScan.firstIndex(of: byte, in: buffer, from: start - bytes.startIndex)
        }.map { $0 + bytes.startIndex }
    }

    private mutating func nested(
        _ tag: EvidencePacking.Tag,
        _ decoded: ArraySlice<UInt8>,
        depth: Int
    ) -> [UInt8] {
        var writer = ByteWriter()
        let inner = parts(of: decoded, depth: depth + 1)
        Packer.write(tag, inner[...], to: &writer)
        return writer.bytes
    }

    /// The digest of a header, which becomes a segment; nil where it is no base64url.
    private mutating func segment(_ text: ArraySlice<UInt8>) -> Digest? {
        if let index = texts.firstIndex(where: { ByteScan.areEqual($0[...], text) }) {
            return segments[index].digest
        }
        guard let header = Base64.decodeURLUnpadded(text) else { return nil }
        let digest = Digest.of(Array(text))
        // The certificates inside are base64 of their own; they hold no segments.
        let inner = nested(.base64URL, header[...], depth: EvidencePacking.depthMax - 2)
        segments.append(
            EvidencePacking.Segment(digest: digest, body: [EvidencePacking.version] + inner)
        )
        texts.append(Array(text))
        return digest
    }
}
