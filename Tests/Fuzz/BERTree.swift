/// Elements of BER as a tree that can be changed anywhere and encoded again with matching lengths.
///
/// Octet strings that contain elements themselves, as every value in a receipt does, are parsed as
/// well.
struct BERTree {
    var tag: UInt8
    var content: Content

    /// The content of an element.
    enum Content {
        case bytes([UInt8])
        case elements([BERTree])
    }

    /// The one element that bytes with definite lengths encode; nil for anything else.
    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        guard let tree = BERTree(first: &rest, depth: 0), rest.isEmpty else { return nil }
        self = tree
    }

    private static let depthMax = 24

    private init?(first rest: inout ArraySlice<UInt8>, depth: Int) {
        guard depth < BERTree.depthMax, let tag = rest.popFirst(), tag & 0x1f != 0x1f,
            let head = rest.popFirst()
        else { return nil }
        var length = Int(head)
        if head >= 0x80 {
            guard head > 0x80, head <= 0x84, rest.count >= Int(head & 0x7f) else { return nil }
            length = rest.prefix(Int(head & 0x7f)).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(Int(head & 0x7f))
        }
        guard length <= rest.count else { return nil }
        let value = rest.prefix(length)
        rest = rest.dropFirst(length)
        self.tag = tag
        let mayNest = tag & 0x20 != 0 || tag == 0x04
        if mayNest, let elements = BERTree.elements(of: value, depth: depth + 1) {
            content = .elements(elements)
        } else {
            content = .bytes(Array(value))
        }
    }

    private static func elements(of bytes: ArraySlice<UInt8>, depth: Int) -> [BERTree]? {
        var rest = bytes
        var found: [BERTree] = []
        while !rest.isEmpty {
            guard let element = BERTree(first: &rest, depth: depth) else { return nil }
            found.append(element)
        }
        return found.isEmpty ? nil : found
    }

    /// The encoding, each length in as few bytes as possible.
    var bytes: [UInt8] {
        let body: [UInt8] =
            switch content {
            case .bytes(let bytes): bytes
            case .elements(let elements): elements.flatMap(\.bytes)
            }
        return [tag] + BERTree.length(body.count) + body
    }

    /// The number of elements in it, including itself.
    var count: Int {
        switch content {
        case .bytes: 1
        case .elements(let elements): elements.reduce(1) { $0 + $1.count }
        }
    }

    /// The elements directly inside.
    var elements: [BERTree] {
        if case .elements(let elements) = content { elements } else { [] }
    }

    /// Changes the element of that number, counted from the front, the outermost being 0.
    mutating func change(_ number: Int, _ body: (inout BERTree) -> Void) {
        var rest = number
        visit(&rest, body)
    }

    private mutating func visit(_ rest: inout Int, _ body: (inout BERTree) -> Void) {
        if rest == 0 { body(&self) }
        rest -= 1
        guard rest >= 0, case .elements(var elements) = content else { return }
        for index in elements.indices where rest >= 0 { elements[index].visit(&rest, body) }
        content = .elements(elements)
    }

    static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        var digits: [UInt8] = []
        var rest = count
        while rest > 0 {
            digits.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(digits.count)] + digits
    }
}

extension BERTree {
    /// The content that a PKCS #7 message signs; nil if it is not such a message with definite
    /// lengths.
    static func signedContent(of message: [UInt8]) -> BERTree? {
        // ContentInfo, [0], SignedData, encapContentInfo, [0], OCTET STRING (RFC 5652 §5.1).
        var element = BERTree(message[...])
        for index in [1, 0, 2, 1, 0] {
            guard let elements = element?.elements, elements.count > index else { return nil }
            element = elements[index]
        }
        return element?.elements.first
    }
}
