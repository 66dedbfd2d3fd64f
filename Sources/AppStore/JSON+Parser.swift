extension JSON {
    /// One pass over the bytes that checks everything and leaves the index.
    struct Parser {
        private let input: UnsafeBufferPointer<UInt8>
        private var position = 0
        private var depth = 0
        private var nodes: [Node] = []

        private init(_ input: UnsafeBufferPointer<UInt8>) {
            self.input = input
            // Apple's payloads have a token every twenty bytes or more; nested JWS far fewer.
            nodes.reserveCapacity(min(input.count / 16 + 8, 4096))
        }

        static func parse(_ bytes: [UInt8]) throws(Failure) -> [Node] {
            guard bytes.count <= JSON.byteCountMax else {
                throw Failure(reason: .tooLarge, offset: JSON.byteCountMax)
            }
            let result = bytes.withUnsafeBufferPointer { input -> Result<[Node], Failure> in
                var parser = Parser(input)
                do throws(Failure) {
                    try parser.text()
                    return .success(parser.nodes)
                } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        }

        private mutating func text() throws(Failure) {
            skipWhitespace()
            try value()
            skipWhitespace()
            guard position == input.count else { throw failure(.unexpectedByte) }
        }

        private mutating func value() throws(Failure) {
            switch try byte() {
            case UInt8(ascii: "{"): try object()
            case UInt8(ascii: "["): try array()
            case UInt8(ascii: "\""): try string()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
            case UInt8(ascii: "t"): try word("true", .true)
            case UInt8(ascii: "f"): try word("false", .false)
            case UInt8(ascii: "n"): try word("null", .null)
            default: throw failure(.unexpectedByte)
            }
        }

        private mutating func object() throws(Failure) {
            let index = try open(.object)
            if try byte() != UInt8(ascii: "}") {
                while true {
                    guard try byte() == UInt8(ascii: "\"") else { throw failure(.unexpectedByte) }
                    try string()
                    skipWhitespace()
                    guard try byte() == UInt8(ascii: ":") else { throw failure(.unexpectedByte) }
                    position += 1
                    skipWhitespace()
                    try value()
                    guard try hasMore(before: UInt8(ascii: "}")) else { break }
                }
            }
            close(index)
            try refuseDuplicateNames(of: index)
        }

        private mutating func array() throws(Failure) {
            let index = try open(.array)
            if try byte() != UInt8(ascii: "]") {
                repeat { try value() } while try hasMore(before: UInt8(ascii: "]"))
            }
            close(index)
        }

        private mutating func open(_ kind: Kind) throws(Failure) -> Int {
            depth += 1
            guard depth <= JSON.depthMax else { throw failure(.tooDeep) }
            nodes.append(Node(kind: kind, start: UInt32(position)))
            position += 1
            skipWhitespace()
            return nodes.count - 1
        }

        private mutating func close(_ index: Int) {
            position += 1
            depth -= 1
            nodes[index].end = UInt32(position)
            nodes[index].next = UInt32(nodes.count)
        }

        // Leaves the position at the next element, or at the closing byte.
        private mutating func hasMore(before closing: UInt8) throws(Failure) -> Bool {
            skipWhitespace()
            let next = try byte()
            if next == closing { return false }
            guard next == UInt8(ascii: ",") else { throw failure(.unexpectedByte) }
            position += 1
            skipWhitespace()
            return true
        }

        private mutating func word(_ word: StaticString, _ kind: Kind) throws(Failure) {
            let start = position
            for offset in 0..<word.utf8CodeUnitCount {
                guard try byte() == word.utf8Start[offset] else { throw failure(.unexpectedByte) }
                position += 1
            }
            append(kind, from: start)
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
            append(.number, from: start)
        }

        private mutating func digits() throws(Failure) {
            guard isDigit(try byte()) else { throw failure(.unexpectedByte) }
            while position < input.count, isDigit(input[position]) { position += 1 }
        }

        private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

        private mutating func append(_ kind: Kind, from start: Int) {
            nodes.append(
                Node(
                    kind: kind,
                    start: UInt32(start),
                    end: UInt32(position),
                    next: UInt32(nodes.count + 1)
                )
            )
        }

        private mutating func skipWhitespace() {
            while position < input.count {
                switch input[position] {
                case 0x20, 0x0a, 0x0d, 0x09: position += 1
                default: return
                }
            }
        }

        private func byte() throws(Failure) -> UInt8 {
            guard position < input.count else { throw failure(.unexpectedEnd) }
            return input[position]
        }

        private func failure(_ reason: Reason) -> Failure {
            Failure(
                reason: position < input.count ? reason : .unexpectedEnd,
                offset: min(position, input.count)
            )
        }
    }
}

extension JSON.Parser {
    private mutating func string() throws(JSON.Failure) {
        position += 1
        let start = position
        var isEscaped = false
        while true {
            skipPlain()
            let next = try byte()
            switch next {
            case UInt8(ascii: "\""):
                nodes.append(
                    JSON.Node(
                        kind: .string,
                        isEscaped: isEscaped,
                        start: UInt32(start),
                        end: UInt32(position),
                        next: UInt32(nodes.count + 1)
                    )
                )
                position += 1
                return
            case UInt8(ascii: "\\"):
                isEscaped = true
                try escape()
            case 0x80...:
                try multibyteCharacter()
            case ..<0x20:
                throw failure(.unexpectedByte)
            default:
                position += 1
            }
        }
    }

    // Eight bytes at a time: a nested JWS is one string of ten thousand plain characters. A byte
    // stops the run when it is not ASCII, a control character, a quote or a backslash; each test
    // leaves a high bit in the byte it concerns, and never below the first such byte.
    private mutating func skipPlain() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while position + 8 <= input.count {
            let word = UInt64(
                littleEndian: UnsafeRawBufferPointer(input).loadUnaligned(
                    fromByteOffset: position,
                    as: UInt64.self
                )
            )
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5c)
            let control = (word &- ones &* 0x20) & ~word
            let found = (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | control
            let stops = (found | word) & highs
            guard stops == 0 else {
                position += stops.trailingZeroBitCount / 8
                return
            }
            position += 8
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

    // Objects of Apple's have up to thirty names, for which comparing all pairs is fastest; above
    // the limit a set keeps the work linear, so that a hostile object costs no more than its size.
    private func refuseDuplicateNames(of object: Int) throws(JSON.Failure) {
        let pairwiseCountMax = 32
        var names: [Int] = []
        var index = object + 1
        let end = Int(nodes[object].next)
        while index < end {
            names.append(index)
            index = Int(nodes[index + 1].next)
        }
        if names.count > pairwiseCountMax || names.contains(where: { nodes[$0].isEscaped }) {
            var seen: Set<ArraySlice<UInt8>> = []
            for name in names where !seen.insert(utf8(of: name)).inserted {
                throw duplicate(name)
            }
            return
        }
        for (count, name) in names.enumerated() {
            for other in names[..<count] where isEqual(name, other) { throw duplicate(name) }
        }
    }

    private func duplicate(_ name: Int) -> JSON.Failure {
        JSON.Failure(reason: .duplicateName, offset: Int(nodes[name].start))
    }

    private func isEqual(_ left: Int, _ right: Int) -> Bool {
        let (left, right) = (nodes[left], nodes[right])
        let count = Int(left.end - left.start)
        guard count == Int(right.end - right.start) else { return false }
        for offset in 0..<count
        where input[Int(left.start) + offset] != input[Int(right.start) + offset] {
            return false
        }
        return true
    }

    private func utf8(of name: Int) -> ArraySlice<UInt8> {
        let node = nodes[name]
        let raw = Array(input[Int(node.start)..<Int(node.end)])[...]
        return node.isEscaped ? JSON.unescaped(raw)[...] : raw
    }
}
