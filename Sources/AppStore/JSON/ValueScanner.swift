internal import Events

/// Finds where JSON values begin and end without checking what is inside.
///
/// It only counts brackets outside strings, so a value that is not JSON is passed on whole, for its
/// parser to refuse.
struct ValueScanner: Sendable {
    /// What a byte is.
    enum Mark {
        /// Between values.
        case outside
        /// Part of a value that continues.
        case inside
        /// The last byte of a value.
        case end
        /// Not part of a value; the value before it, a word or number, ends here.
        case separator
    }

    private let isArray: Bool
    private var isOpen = false
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var isInWord = false

    /// Whether the bytes so far end inside a string.
    var isInsideString: Bool { isInString }

    /// A scanner for the elements of one array, or for values written one after the other.
    init(isArray: Bool) {
        self.isArray = isArray
    }

    /// Takes bytes up to the first that ends a value or is not part of one.
    ///
    /// - Returns: How many bytes from the first are part of a value, and what ended the run: `end`
    ///   (the last of them is the last of its value), `outside` or `separator` (the byte after
    ///   them), or `inside` (the input ended, and the value continues).
    mutating func takeRun(of bytes: ArraySlice<UInt8>) -> (count: Int, mark: Mark) {
        bytes.withUnsafeBytes { bytes in
            var index = 0
            while index < bytes.count {
                // Nearly all bytes of a payload are in long strings.
                if isInString, !isEscaped {
                    let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
                    let next = ByteScan.firstIndex(of: quote, or: escape, in: bytes, from: index)
                    index = next ?? bytes.count
                    if next == nil { break }
                }
                let mark = take(bytes[index])
                switch mark {
                case .inside: index += 1
                case .end: return (index + 1, mark)
                case .outside, .separator: return (index, mark)
                }
            }
            return (bytes.count, .inside)
        }
    }

    mutating func take(_ byte: UInt8) -> Mark {
        if isInString { return takeInString(byte) }
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
            return .inside
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if isArray, !isOpen, byte == UInt8(ascii: "[") {
                isOpen = true
                return .outside
            }
            depth += 1
            return .inside
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            return takeClosing(byte)
        default:
            return takeOther(byte)
        }
    }

    private mutating func takeInString(_ byte: UInt8) -> Mark {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            return depth == 0 ? .end : .inside
        }
        return .inside
    }

    private mutating func takeClosing(_ byte: UInt8) -> Mark {
        if depth == 0, isArray, isOpen, byte == UInt8(ascii: "]") {
            isOpen = false
            return endOfWord()
        }
        depth = max(0, depth - 1)
        return depth == 0 ? .end : .inside
    }

    private mutating func takeOther(_ byte: UInt8) -> Mark {
        guard depth == 0 else { return .inside }
        if Envelope.isWhitespace(byte) || (isArray && byte == UInt8(ascii: ",")) {
            return endOfWord()
        }
        isInWord = true
        return .inside
    }

    private mutating func endOfWord() -> Mark {
        defer { isInWord = false }
        return isInWord ? .separator : .outside
    }
}
