import AppStore

/// A JSON text as a tree that can be changed anywhere and written again.
///
/// Numbers and strings stay as they are written, so that unchanged parts keep their bytes and
/// changed parts need not be JSON at all.
indirect enum JSONTree {
    /// A number or word, or whatever a mutation put there.
    case plain([UInt8])
    /// A string without its quotes, its escapes as written.
    case string([UInt8])
    case array([JSONTree])
    case object([Member])

    /// A name without its quotes, and its value.
    struct Member {
        var name: [UInt8]
        var value: JSONTree
    }

    /// The tree of a parsed value.
    init(_ value: JSON.Value) {
        switch value.kind {
        case .string: self = .string(Array(value.bytes))
        case .array: self = .array(value.elements.map { JSONTree($0) })
        case .object:
            self = .object(
                value.members.map { Member(name: Array($0.name.bytes), value: JSONTree($0.value)) }
            )
        default: self = .plain(Array(value.bytes))
        }
    }

    /// The text of the tree.
    var text: [UInt8] {
        var text: [UInt8] = []
        write(to: &text)
        return text
    }

    /// The number of values in it, including itself.
    var count: Int {
        switch self {
        case .plain, .string: 1
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        case .object(let members): members.reduce(1) { $0 + $1.value.count }
        }
    }

    /// The names of all members at any depth.
    var names: [[UInt8]] {
        switch self {
        case .plain, .string: []
        case .array(let elements): elements.flatMap(\.names)
        case .object(let members): members.flatMap { [$0.name] + $0.value.names }
        }
    }

    /// Changes the value of that number, counted from the front, the outermost being 0.
    mutating func change(_ number: Int, _ body: (inout JSONTree) -> Void) {
        var rest = number
        visit(&rest, body)
    }

    private mutating func visit(_ rest: inout Int, _ body: (inout JSONTree) -> Void) {
        if rest == 0 { body(&self) }
        rest -= 1
        guard rest >= 0 else { return }
        switch self {
        case .plain, .string: return
        case .array(var elements):
            for index in elements.indices where rest >= 0 { elements[index].visit(&rest, body) }
            self = .array(elements)
        case .object(var members):
            for index in members.indices where rest >= 0 {
                members[index].value.visit(&rest, body)
            }
            self = .object(members)
        }
    }

    private func write(to text: inout [UInt8]) {
        switch self {
        case .plain(let bytes): text += bytes
        case .string(let bytes): JSONTree.quote(bytes, to: &text)
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                element.write(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                JSONTree.quote(member.name, to: &text)
                text.append(UInt8(ascii: ":"))
                member.value.write(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private static func quote(_ bytes: [UInt8], to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        text += bytes
        text.append(UInt8(ascii: "\""))
    }
}
