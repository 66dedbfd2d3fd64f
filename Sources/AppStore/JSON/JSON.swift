internal import Events

/// A JSON text (RFC 8259), parsed into an index over its own bytes.
///
/// Nothing is copied: a node holds where a value lies and where the next one starts. Strings are
/// decoded on demand and numbers stay text, so an id never becomes a floating-point number (Apple's
/// data: trap 48).
///
/// Stricter than RFC 8259 demands: input is valid UTF-8 without a byte order mark, no name occurs
/// twice in an object, no escape names half a surrogate pair.
package struct JSON: Sendable {
    let storage: Storage

    /// Deepest nesting accepted: Apple's payloads need six, and recursion stays shallow.
    package static let depthMax = 32
    /// Largest text accepted, in bytes: that of a payload.
    package static let byteCountMax = AppStoreVerifier.payloadByteCountMax
    /// Longest number accepted, in bytes: no quantity of Apple's needs half of that.
    package static let numberByteCountMax = 64
    /// Most digits of an exponent: with more, PostgreSQL could not store the number as jsonb.
    package static let exponentDigitCountMax = 3

    /// Parses a text.
    ///
    /// Throws `Failure`, with the offset of the byte that could not be accepted.
    package init(_ bytes: [UInt8]) throws(Failure) {
        storage = Storage(bytes: bytes, nodes: try Parser.parse(bytes))
    }

    /// The value that the whole text represents.
    package var root: Value { Value(storage: storage, index: 0) }

    /// The value of a whole text; nil if it is not JSON.
    package static func root(of bytes: [UInt8]) -> Value? {
        do throws(Failure) {
            return try JSON(bytes).root
        } catch {
            return nil
        }
    }

    /// Why a text is not JSON, and where.
    package struct Failure: Error, Hashable, Sendable {
        /// What is wrong.
        package let reason: Reason
        /// Offset of the byte, from zero.
        package let offset: Int
    }

    /// What can be wrong with a text.
    package enum Reason: String, Sendable {
        case unexpectedByte = "a byte that is not allowed there"
        case unexpectedEnd = "the end of the text inside a value"
        case invalidUTF8 = "bytes that are not UTF-8"
        case invalidEscape = "an escape that is not a character"
        case duplicateName = "a name that occurs twice in the object"
        case numberTooLong = "a number of more than 64 characters, or 3 in its exponent"
        case tooDeep = "nesting deeper than 32 levels"
        case tooLarge = "more than 16 MiB"
    }

    final class Storage: Sendable {
        let bytes: [UInt8]
        let nodes: [Node]

        init(bytes: [UInt8], nodes: [Node]) {
            self.bytes = bytes
            self.nodes = nodes
        }

        /// Both buffers at once, so that a search changes no reference counts.
        @inline(__always)
        func withUnsafeBuffers<Result>(
            _ body: (UnsafeRawBufferPointer, UnsafeBufferPointer<Node>) -> Result
        ) -> Result {
            bytes.withUnsafeBytes { bytes in nodes.withUnsafeBufferPointer { body(bytes, $0) } }
        }
    }

    struct Node: Sendable {
        var kind: Kind
        /// Whether a string has escapes and must be decoded.
        var isEscaped = false
        /// First byte; of a string, the first after the quote.
        var start: UInt32
        /// Byte after the last; of a string, the closing quote.
        var end: UInt32 = 0
        /// The node after this one and all inside it.
        var next: UInt32 = 0

        /// Whether this is a string of exactly that ASCII text.
        @inline(__always)
        func isString(_ text: StaticString, in bytes: UnsafeRawBufferPointer) -> Bool {
            guard kind == .string else { return false }
            let own = UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(end)])
            let expected = UnsafeRawBufferPointer(
                start: text.utf8Start,
                count: text.utf8CodeUnitCount
            )
            return isEscaped
                ? JSON.unescaped(Array(own)[...]).elementsEqual(expected)
                : ByteScan.areEqual(own, expected)
        }
    }

    /// What a value is.
    package enum Kind: UInt8, Sendable {
        case null, `false`, `true`, number, string, array, object
    }
}

extension JSON {
    /// One value of a text; keeps the text alive.
    package struct Value: Sendable {
        let storage: Storage
        let index: Int

        private var node: Node { storage.nodes[index] }

        /// What it is.
        package var kind: Kind { node.kind }

        /// The bytes of the value as written in the text; for a string, without the quotes.
        package var bytes: ArraySlice<UInt8> {
            let node = node
            return storage.bytes[Int(node.start)..<Int(node.end)]
        }

        /// Number of bytes of the value as written in the text; for a string, without the quotes.
        package var byteCount: Int { Int(node.end - node.start) }

        /// The text of a string; nil for other values.
        package var text: String? {
            let node = node
            guard node.kind == .string else { return nil }
            return node.isEscaped
                ? String(decoding: JSON.unescaped(bytes), as: UTF8.self)
                : String(decoding: bytes, as: UTF8.self)
        }

        /// The UTF-8 of a string, copied only if it has escapes; nil for other values.
        package var utf8: ArraySlice<UInt8>? {
            let node = node
            guard node.kind == .string else { return nil }
            return node.isEscaped ? JSON.unescaped(bytes)[...] : bytes
        }

        /// The flag of a boolean; nil for other values.
        package var boolean: Bool? {
            switch kind {
            case .true: true
            case .false: false
            default: nil
            }
        }

        /// The value of that name; nil if there is none or this is not an object.
        package subscript(name: StaticString) -> Value? {
            let node = node
            guard node.kind == .object else { return nil }
            return storage.withUnsafeBuffers { bytes, nodes in
                var position = index + 1
                while position < Int(node.next) {
                    if nodes[position].isString(name, in: bytes) {
                        return Value(storage: storage, index: position + 1)
                    }
                    position = Int(nodes[position + 1].next)
                }
                return nil
            }
        }

        /// Whether this is a string of exactly that ASCII text.
        func equals(_ text: StaticString) -> Bool {
            storage.withUnsafeBuffers { bytes, nodes in nodes[index].isString(text, in: bytes) }
        }

        /// Names and values of an object, in the order of the text; empty for other values.
        package var members: Members {
            let node = node
            return Members(
                storage: storage,
                start: index + 1,
                end: node.kind == .object ? Int(node.next) : index + 1
            )
        }

        /// The elements of an array; empty for other values.
        package var elements: [Value] {
            guard kind == .array else { return [] }
            var elements: [Value] = []
            let end = Int(node.next)
            var position = index + 1
            while position < end {
                elements.append(Value(storage: storage, index: position))
                position = Int(storage.nodes[position].next)
            }
            return elements
        }
    }
}

extension JSON {
    /// The members of an object, found on demand.
    package struct Members: Collection, Sendable {
        fileprivate let storage: Storage
        fileprivate let start: Int
        fileprivate let end: Int

        /// A position among the members.
        package struct Index: Comparable, Sendable {
            fileprivate let node: Int

            /// By position.
            package static func < (left: Index, right: Index) -> Bool { left.node < right.node }
        }

        package var startIndex: Index { Index(node: start) }
        package var endIndex: Index { Index(node: end) }

        package func index(after index: Index) -> Index {
            Index(node: Int(storage.nodes[index.node + 1].next))
        }

        package subscript(index: Index) -> (name: Value, value: Value) {
            (
                Value(storage: storage, index: index.node),
                Value(storage: storage, index: index.node + 1)
            )
        }
    }
}
