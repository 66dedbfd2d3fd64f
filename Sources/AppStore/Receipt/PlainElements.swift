/// Reads the elements of BER in the form that receipts have inside: a tag of one byte, a definite
/// length in the fewest bytes, the content in one piece.
///
/// It allocates nothing, which matters for the twenty attributes of each purchase. It returns nil
/// for every other form; `BERReader` then reads the same bytes, and refuses what is not BER.
struct PlainElements {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    /// The first byte of an element that a receipt's attributes consist of.
    enum Tag: UInt8 {
        case integer = 0x02
        case octetString = 0x04
        case utf8String = 0x0c
        case ia5String = 0x16
        case sequence = 0x30
        case set = 0x31
    }

    /// Begins before the first element of these bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The content of the one element that these bytes are.
    static func only(_ tag: Tag, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var elements = PlainElements(bytes)
        guard let content = elements.next(tag), elements.isAtEnd else { return nil }
        return content
    }

    /// The number in the content of an integer.
    static func integer(_ content: ArraySlice<UInt8>) -> Int64? {
        guard let first = content.first, content.count <= MemoryLayout<Int64>.size else {
            return nil
        }
        if content.count > 1 {
            // A first byte that only repeats the sign is one too many.
            let isNegative = content[content.startIndex + 1] & 0x80 != 0
            guard first != (isNegative ? 0xff : 0) else { return nil }
        }
        var number = Int64(Int8(bitPattern: first))
        for byte in content.dropFirst() { number = number << 8 | Int64(byte) }
        return number
    }

    /// Whether no element is left.
    var isAtEnd: Bool { position == bytes.endIndex }

    /// The content of the next element, if it has that tag.
    mutating func next(_ tag: Tag) -> ArraySlice<UInt8>? {
        guard bytes.endIndex - position >= 2, bytes[position] == tag.rawValue else { return nil }
        var start = position + 2
        var length = Int(bytes[position + 1])
        if length >= 0x80 {
            let count = length & 0x7f
            guard (1...3).contains(count), bytes.endIndex - start >= count else { return nil }
            length = 0
            for _ in 0..<count {
                length = length << 8 | Int(bytes[start])
                start += 1
            }
            // Fewer bytes could have held a smaller length.
            guard length >= 0x80, length >> (8 * (count - 1)) > 0 else { return nil }
        }
        guard length <= bytes.endIndex - start else { return nil }
        position = start + length
        return bytes[start..<position]
    }
}
