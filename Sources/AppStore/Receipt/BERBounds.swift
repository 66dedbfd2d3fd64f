/// Scans BER once without decoding it, so that a parser which allocates can safely run after it.
///
/// A length is accepted only if that many bytes are there: four bytes that announce four gigabytes
/// are refused here, as are elements nested too deep or more of them than a receipt can have.
struct BERBounds {
    private let bytes: ArraySlice<UInt8>
    private let place: String
    private var position: Int
    private var count = 0
    private var open: [Container] = []

    /// A constructed element whose end has not been reached.
    private struct Container {
        /// Where it ends; for an indefinite length, where the element around it ends.
        let end: Int
        let isIndefinite: Bool
    }

    /// Most bytes of a length field: four can express more than any payload accepted.
    private static let lengthByteCountMax = 4

    /// Bounds for those bytes.
    init(_ bytes: ArraySlice<UInt8>, in place: String) {
        self.bytes = bytes
        self.place = place
        position = bytes.startIndex
    }

    /// Refuses what exceeds `BERReader.depthMax` or `BERReader.elementCountMax`, or is not BER.
    mutating func check() throws(Rejection) {
        repeat {
            try readElement()
            closeContainers()
        } while !open.isEmpty
        guard position == bytes.endIndex else { throw malformed }
    }

    private var malformed: Rejection { Rejection.receiptMalformed(in: place) }
    private var end: Int { open.last?.end ?? bytes.endIndex }

    private mutating func closeContainers() {
        while let last = open.last {
            if last.isIndefinite {
                guard end - position >= 2, bytes[position] == 0, bytes[position + 1] == 0 else {
                    return
                }
                position += 2
            } else if position < last.end {
                return
            }
            open.removeLast()
        }
    }

    private mutating func readElement() throws(Rejection) {
        count += 1
        guard count <= BERReader.elementCountMax else {
            throw Rejection(
                .receiptTooLarge,
                "The app receipt cannot be read: \(place) has more than"
                    + " \(BERReader.elementCountMax) ASN.1 elements."
            )
        }

        let tag = try nextByte()
        // Tags above 30 take several bytes; no element of a receipt has one.
        guard tag & 0x1f != 0x1f else { throw malformed }
        let isConstructed = tag & 0x20 != 0
        let length = try nextLength()
        guard isConstructed else {
            guard let length else { throw malformed }
            position += length
            return
        }

        guard open.count < BERReader.depthMax else {
            throw Rejection(
                .receiptTooDeep,
                "The app receipt cannot be read: \(place) is nested deeper than"
                    + " \(BERReader.depthMax) levels."
            )
        }
        open.append(
            Container(end: length.map { position + $0 } ?? end, isIndefinite: length == nil)
        )
    }

    private mutating func nextByte() throws(Rejection) -> UInt8 {
        guard position < end else { throw malformed }
        defer { position += 1 }
        return bytes[position]
    }

    // Nil for an indefinite length; never more than the bytes that remain.
    private mutating func nextLength() throws(Rejection) -> Int? {
        let first = try nextByte()
        var length = Int(first)
        if first == 0x80 { return nil }
        if first > 0x80 {
            let count = Int(first & 0x7f)
            guard count <= BERBounds.lengthByteCountMax else { throw malformed }
            length = 0
            for _ in 0..<count { length = length << 8 | Int(try nextByte()) }
        }
        guard length <= end - position else { throw malformed }
        return length
    }
}
