extension JSON {
    /// One pass over the bytes that checks everything and builds the index.
    ///
    /// It does not recurse: open containers are kept in `frames`. No token needs an allocation.
    struct Parser: ~Copyable {
        let input: UnsafeBufferPointer<UInt8>
        var position = 0
        private var depth = 0
        private(set) var tape: Tape
        let frames: UnsafeMutableBufferPointer<Frame>

        private init(
            _ input: UnsafeBufferPointer<UInt8>,
            frames: UnsafeMutableBufferPointer<Frame>
        ) {
            self.input = input
            self.frames = frames
            tape = Tape(textByteCount: input.count)
        }

        static func parse(_ bytes: [UInt8]) throws(Failure) -> [Node] {
            guard bytes.count <= JSON.byteCountMax else {
                throw Failure(reason: .tooLarge, offset: JSON.byteCountMax)
            }
            let result = bytes.withUnsafeBufferPointer { input in
                withUnsafeTemporaryAllocation(of: Frame.self, capacity: JSON.depthMax) {
                    frames -> Result<[Node], Failure> in
                    var parser = Parser(input, frames: frames)
                    do throws(Failure) {
                        try parser.text()
                        return .success(parser.tape.nodes)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return try result.get()
        }

        private mutating func text() throws(Failure) {
            skipWhitespace()
            try value()
            while depth > 0 { try advance() }
            skipWhitespace()
            guard position == input.count else { throw failure(.unexpectedByte) }
        }

        // Continues in the innermost container: to its next element or member, or past its end.
        @inline(__always)
        private mutating func advance() throws(Failure) {
            let frame = depth - 1
            skipWhitespace()
            let next = try byte()
            if next == frames[frame].closingByte { return try close(frame) }
            if frames[frame].isEmpty {
                frames[frame].isEmpty = false
            } else {
                guard next == UInt8(ascii: ",") else { throw failure(.unexpectedByte) }
                position += 1
                skipWhitespace()
            }
            if frames[frame].isObject { try name(inFrame: frame) }
            try value()
        }

        @inline(__always)
        private mutating func value() throws(Failure) {
            switch try byte() {
            case UInt8(ascii: "\""): try string()
            case UInt8(ascii: "{"): try open(.object)
            case UInt8(ascii: "["): try open(.array)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
            case UInt8(ascii: "t"): try word("true", .true)
            case UInt8(ascii: "f"): try word("false", .false)
            case UInt8(ascii: "n"): try word("null", .null)
            default: throw failure(.unexpectedByte)
            }
        }

        @inline(__always)
        private mutating func name(inFrame frame: Int) throws(Failure) {
            guard try byte() == UInt8(ascii: "\"") else { throw failure(.unexpectedByte) }
            let index = tape.count
            try string()
            note(index, inFrame: frame)
            skipWhitespace()
            guard try byte() == UInt8(ascii: ":") else { throw failure(.unexpectedByte) }
            position += 1
            skipWhitespace()
        }

        private mutating func open(_ kind: Kind) throws(Failure) {
            guard depth < JSON.depthMax else { throw failure(.tooDeep) }
            frames.initializeElement(
                at: depth,
                to: Frame(node: tape.count, isObject: kind == .object)
            )
            depth += 1
            tape.append(Node(kind: kind, start: UInt32(truncatingIfNeeded: position)))
            position += 1
        }

        private mutating func close(_ frame: Int) throws(Failure) {
            position += 1
            depth -= 1
            tape.close(frames[frame].node, end: position)
            try refuseDuplicateNames(of: frames[frame])
        }

        private mutating func word(_ word: StaticString, _ kind: Kind) throws(Failure) {
            let start = position
            for offset in 0..<word.utf8CodeUnitCount {
                guard try byte() == word.utf8Start[offset] else { throw failure(.unexpectedByte) }
                position += 1
            }
            tape.append(kind, from: start, to: position)
        }

        private mutating func number() throws(Failure) {
            let start = position
            if input[position] == UInt8(ascii: "-") { position += 1 }
            if try byte() == UInt8(ascii: "0") { position += 1 } else { try digits() }
            if position < input.count, input[position] == UInt8(ascii: ".") {
                position += 1
                try digits()
            }
            if position < input.count, input[position] | 0x20 == UInt8(ascii: "e") {
                position += 1
                let sign = try byte()
                if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
                let exponent = position
                try digits()
                guard position - exponent <= JSON.exponentDigitCountMax else {
                    throw Failure(reason: .numberTooLong, offset: start)
                }
            }
            guard position - start <= JSON.numberByteCountMax else {
                throw Failure(reason: .numberTooLong, offset: start)
            }
            tape.append(.number, from: start, to: position)
        }

        private mutating func digits() throws(Failure) {
            guard isDigit(try byte()) else { throw failure(.unexpectedByte) }
            while position < input.count, isDigit(input[position]) { position += 1 }
        }

        private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

        @inline(__always)
        private mutating func skipWhitespace() {
            while position < input.count {
                switch input[position] {
                case 0x20, 0x0a, 0x0d, 0x09: position += 1
                default: return
                }
            }
        }

        @inline(__always)
        func byte() throws(Failure) -> UInt8 {
            guard position < input.count else { throw failure(.unexpectedEnd) }
            return input[position]
        }

        func failure(_ reason: Reason) -> Failure {
            Failure(
                reason: position < input.count ? reason : .unexpectedEnd,
                offset: min(position, input.count)
            )
        }
    }
}

extension JSON.Parser {
    // Leaves the position after the closing quote.
    @inline(__always)
    private mutating func string() throws(JSON.Failure) {
        let start = position + 1
        position = JSON.endOfPlain(from: start, in: input)
        if position < input.count, input[position] == UInt8(ascii: "\"") {
            tape.append(.string, from: start, to: position)
            position += 1
        } else {
            try rarelyPlainString(from: start)
        }
    }

    // The rest of a string that has escapes, has characters beyond ASCII, or is invalid.
    private mutating func rarelyPlainString(from start: Int) throws(JSON.Failure) {
        var isEscaped = false
        while true {
            let next = try byte()
            switch next {
            case UInt8(ascii: "\""):
                tape.append(.string, isEscaped: isEscaped, from: start, to: position)
                position += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try escape()
            case 0x80...:
                try multibyteCharacter()
            default:
                throw failure(.unexpectedByte)
            }
            position = JSON.endOfPlain(from: position, in: input)
        }
    }

    private mutating func escape() throws(JSON.Failure) {
        position += 1
        switch try byte() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let unit = try codeUnit()
            switch unit {
            case 0xd800...0xdbff:
                guard try byte() == UInt8(ascii: "\\") else { throw failure(.invalidEscape) }
                position += 1
                guard try byte() == UInt8(ascii: "u") else { throw failure(.invalidEscape) }
                guard (0xdc00...0xdfff).contains(try codeUnit()) else {
                    throw failure(.invalidEscape)
                }
            case 0xdc00...0xdfff: throw failure(.invalidEscape)
            default: break
            }
        default: throw failure(.invalidEscape)
        }
    }

    private mutating func codeUnit() throws(JSON.Failure) -> UInt16 {
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = JSON.hexadecimalDigit(try byte()) else {
                throw failure(.invalidEscape)
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    // RFC 3629 §4: no overlong form, no surrogate, nothing above U+10FFFF.
    private mutating func multibyteCharacter() throws(JSON.Failure) {
        let lead = input[position]
        let count: Int
        var second: ClosedRange<UInt8> = 0x80...0xbf
        switch lead {
        case 0xc2...0xdf: count = 1
        case 0xe0: (count, second) = (2, 0xa0...0xbf)
        case 0xed: (count, second) = (2, 0x80...0x9f)
        case 0xe1...0xef: count = 2
        case 0xf0: (count, second) = (3, 0x90...0xbf)
        case 0xf4: (count, second) = (3, 0x80...0x8f)
        case 0xf1...0xf3: count = 3
        default: throw failure(.invalidUTF8)
        }
        guard position + count < input.count else { throw failure(.invalidUTF8) }
        for offset in 1...count {
            let range = offset == 1 ? second : 0x80...0xbf
            guard range.contains(input[position + offset]) else { throw failure(.invalidUTF8) }
        }
        position += count + 1
    }
}
