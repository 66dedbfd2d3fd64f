internal import Events

/// Packs payloads for storage, so they can be restored bit by bit.
///
/// A version 2 notification nests two JWS in a third, and all three have the same 4.4 kB header of
/// certificates; of an 18.7 kB body, only about 230 bytes are unpredictable. Packing stores headers
/// once for all payloads, base64 as the bytes it stands for, and deflates the rest with a
/// dictionary of what Apple's payloads have in common. `pack` checks that the payload can be
/// restored before it returns, and stores it unchanged if not.
///
/// A packed body is
///
///     u8       number of the dictionary, 0 for none
///     LEB128   count of segments, then a 16-byte key of each
///     LEB128   byte count of the randoms, then the randoms
///     LEB128   byte count of the frame
///     rest     the frame and the values; raw deflate (RFC 1951) where the number is not 0
///
/// LEB128 is unsigned. The key of a segment is the first 16 bytes of the SHA-256 of its text in the
/// payload; the text itself is packed in `evidence_segment`, in the same format and without
/// segments. The randoms are bytes that do not deflate, one after another. The values are texts,
/// each ended by a line feed. The frame is the payload from its first byte to its last, with eight
/// bytes that stand for something else:
///
///     ~        the next value
///     #        the next 16 randoms as a UUID: lower-case hexadecimal with dashes
///     ^ … |    a JWS: the text of the current segment, a dot, what lies between as base64url, a
///              dot, the next 64 randoms as base64url (the randoms are taken after what lies between)
///     < … |    what lies between, as base64url without padding
///     & … |    what lies between, as standard base64 with padding
///     @        LEB128: the index of the current segment from here on; 0 at first
///     `        LEB128 count, then so many bytes as they are, whatever they are
///
/// What lies between is a frame of its own. All values and all randoms are used, in order.
package enum EvidencePacking {
    /// A payload, ready to be stored.
    package struct Packed: Sendable {
        /// The content of `evidence.body`.
        package let body: [UInt8]
        /// The segments it refers to, in order of first use.
        package let segments: [Segment]
    }

    /// The header of a JWS, which repeats from payload to payload.
    package struct Segment: Hashable, Sendable {
        /// The address of its text in the payload.
        package let key: SegmentKey
        /// The text, packed.
        package let body: [UInt8]
    }

    /// The deepest nesting that is unpacked: a notification in an API response needs three levels.
    static let depthMax = 5

    /// Bytes of an ES256 signature, the only algorithm with which Apple signs JWS.
    static let signatureByteCount = 64

    static let uuidByteCount = 16

    /// A byte of the frame that stands for something else.
    enum Mark {
        static let value = UInt8(ascii: "~")
        static let uuid = UInt8(ascii: "#")
        static let jws = UInt8(ascii: "^")
        static let base64URL = UInt8(ascii: "<")
        static let base64 = UInt8(ascii: "&")
        static let end = UInt8(ascii: "|")
        static let segment = UInt8(ascii: "@")
        static let verbatim = UInt8(ascii: "`")

        static let all = [value, uuid, jws, base64URL, base64, end, segment, verbatim]
    }

    /// The byte that ends a value.
    static let valueEnd = UInt8(ascii: "\n")

    /// Packs a payload, with a dictionary if there is one.
    package static func pack(
        _ payload: [UInt8],
        dictionary: EvidenceDictionary?
    ) -> Packed {
        var packer = EvidencePacker(dictionary: dictionary)
        packer.append(payload)
        let segments = packer.segments
        let packed = Packed(body: packer.body, segments: segments.map(\.segment))
        let unpacked = EvidenceUnpacker.unpack(
            packed.body,
            byteCountMax: payload.count,
            dictionaries: { $0 == dictionary?.number ? dictionary?.bytes : nil },
            segmentText: { key in segments.first { $0.segment.key == key }?.text }
        )
        if let unpacked, ByteScan.areEqual(unpacked[...], payload[...]) { return packed }
        return Packed(body: EvidencePacker.verbatim(payload), segments: [])
    }

    /// The exact bytes that were packed.
    ///
    /// `dictionaries` returns the bytes of a dictionary by its number, `segment` the packed body of
    /// a segment. Nil if the body is malformed, one of those is missing, or the result would be
    /// longer than `byteCountMax`. Memory is bounded by a small multiple of that limit.
    package static func unpack(
        _ body: [UInt8],
        byteCountMax: Int,
        dictionaries: (UInt8) -> [UInt8]?,
        segment: (SegmentKey) -> [UInt8]?
    ) -> [UInt8]? {
        EvidenceUnpacker.unpack(
            body,
            byteCountMax: byteCountMax,
            dictionaries: dictionaries,
            segmentText: { key in
                segment(key).flatMap { body in
                    EvidenceUnpacker.unpack(
                        body,
                        byteCountMax: byteCountMax,
                        dictionaries: dictionaries,
                        segmentText: { _ in nil }
                    )
                }
            }
        )
    }

    /// The keys of the segments that a packed body refers to, in order of first use.
    ///
    /// Reads only the first bytes; nil if they are malformed.
    package static func segmentKeys(of body: [UInt8]) -> [SegmentKey]? {
        EvidenceUnpacker.Sections(body)?.keys
    }
}
