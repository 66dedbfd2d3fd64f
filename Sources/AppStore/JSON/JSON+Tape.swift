extension JSON {
    /// The nodes of a text that is being parsed, in one growing block of memory.
    ///
    /// An array would check for each node whether its memory is shared.
    struct Tape: ~Copyable {
        /// Number of nodes.
        private(set) var count = 0
        private var capacity: Int
        private let usualCountMax: Int
        private var base: UnsafeMutablePointer<Node>

        /// Apple's payloads have a token every fifteen bytes or more; nested JWS far fewer.
        private static let bytesPerNode = 16
        /// Most nodes to reserve at first: a notification's string of thirty thousand bytes is one
        /// node.
        private static let initialCountMax = 4096

        /// Reserves room for the nodes of a text from Apple with that length; grows if necessary.
        init(textByteCount: Int) {
            capacity = min(textByteCount / Tape.bytesPerNode + 8, Tape.initialCountMax)
            // A value takes at least two bytes with its comma or bracket; some brackets may still
            // be open.
            usualCountMax = textByteCount / 2 + JSON.depthMax
            base = .allocate(capacity: capacity)
        }

        deinit {
            base.deallocate()
        }

        /// A node; the index must be below `count`.
        subscript(index: Int) -> Node {
            @inline(__always) get { base[index] }
        }

        /// All nodes.
        var nodes: [Node] { Array(UnsafeBufferPointer(start: base, count: count)) }

        @inline(__always)
        mutating func append(_ node: Node) {
            if count == capacity { grow() }
            (base + count).initialize(to: node)
            count += 1
        }

        /// Appends a value that holds no others.
        @inline(__always)
        mutating func append(
            _ kind: Kind,
            isEscaped: Bool = false,
            from start: Int,
            to end: Int
        ) {
            append(
                Node(
                    kind: kind,
                    isEscaped: isEscaped,
                    start: UInt32(truncatingIfNeeded: start),
                    end: UInt32(truncatingIfNeeded: end),
                    next: UInt32(truncatingIfNeeded: count + 1)
                )
            )
        }

        /// Ends a container at a byte, after all nodes so far.
        mutating func close(_ index: Int, end: Int) {
            base[index].end = UInt32(truncatingIfNeeded: end)
            base[index].next = UInt32(truncatingIfNeeded: count)
        }

        @inline(never)
        private mutating func grow() {
            let step = Tape.initialCountMax
            let enough = max(capacity + step, min(capacity * 2, usualCountMax))
            let larger = UnsafeMutablePointer<Node>.allocate(capacity: enough)
            larger.moveInitialize(from: base, count: count)
            base.deallocate()
            base = larger
            capacity = enough
        }
    }
}
