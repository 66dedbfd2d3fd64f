internal import Events

extension JSON {
    /// A container that is still open.
    struct Frame {
        /// Its node.
        let node: Int
        /// Whether it is an object; otherwise it is an array.
        let isObject: Bool
        /// Whether it has no element or member yet.
        var isEmpty = true
        /// Whether a name has escapes, so that names cannot be compared byte by byte.
        var hasEscapedName = false
        /// Number of names so far.
        var nameCount = 0
        /// The first name that occurred twice; nil if there is none so far.
        var duplicate: Int?
        /// A Bloom filter with one bit per name.
        var filter: UInt128 = 0

        init(node: Int, isObject: Bool) {
            self.node = node
            self.isObject = isObject
        }

        /// The byte that ends it.
        var closingByte: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }

        /// Most names that are compared in pairs: Apple's objects have up to thirty.
        ///
        /// Above this limit a set keeps the work linear, so that a hostile object costs no more
        /// than its size.
        static let pairwiseNameCountMax = 64
    }
}

extension JSON.Parser {
    // Most names find their bit unset and need no comparison.
    @inline(__always)
    mutating func note(_ name: Int, inFrame frame: Int) {
        let node = tape[name]
        frames[frame].nameCount += 1
        if node.isEscaped {
            frames[frame].hasEscapedName = true
            return
        }
        let bit = UInt128(1) << UInt128(truncatingIfNeeded: hash(of: node) >> 57)
        if frames[frame].filter & bit != 0 { compare(name, inFrame: frame) }
        frames[frame].filter |= bit
    }

    // Apple's names differ in length, in the first eight bytes or in the last eight. An input built
    // to collide only causes comparisons, up to `pairwiseNameCountMax`.
    @inline(__always)
    private func hash(of name: JSON.Node) -> UInt64 {
        let (start, end) = (Int(name.start), Int(name.end))
        var (first, last): (UInt64, UInt64) = (0, 0)
        if end - start >= 8 {
            first = JSON.word(at: start, in: input)
            last = JSON.word(at: end - 8, in: input)
        } else {
            for index in start..<end { first = first << 8 | UInt64(input[index]) }
        }
        // Two odd constants with well mixed bits, from SplitMix64.
        let mixed = (first ^ UInt64(end - start)) &* 0xbf58_476d_1ce4_e5b9
        return (mixed ^ last ^ mixed >> 32) &* 0x94d0_49bb_1331_11eb
    }

    private func compare(_ name: Int, inFrame frame: Int) {
        guard frames[frame].nameCount <= JSON.Frame.pairwiseNameCountMax,
            frames[frame].duplicate == nil
        else { return }
        var index = frames[frame].node + 1
        while index < name {
            if isEqual(index, name) {
                frames[frame].duplicate = name
                return
            }
            index = Int(tape[index + 1].next)
        }
    }

    /// Refuses a closed object in which a name occurs twice.
    @inline(__always)
    func refuseDuplicateNames(of frame: JSON.Frame) throws(JSON.Failure) {
        if frame.nameCount > JSON.Frame.pairwiseNameCountMax || frame.hasEscapedName {
            try refuseDuplicateNamesByHashing(of: frame)
        } else if let duplicate = frame.duplicate {
            throw failure(ofDuplicate: duplicate)
        }
    }

    private func refuseDuplicateNamesByHashing(of frame: JSON.Frame) throws(JSON.Failure) {
        var seen: Set<ArraySlice<UInt8>> = []
        seen.reserveCapacity(frame.nameCount)
        var name = frame.node + 1
        let end = Int(tape[frame.node].next)
        while name < end {
            guard seen.insert(utf8(of: name)).inserted else { throw failure(ofDuplicate: name) }
            name = Int(tape[name + 1].next)
        }
    }

    private func failure(ofDuplicate name: Int) -> JSON.Failure {
        JSON.Failure(reason: .duplicateName, offset: Int(tape[name].start))
    }

    private func isEqual(_ left: Int, _ right: Int) -> Bool {
        let (left, right) = (tape[left], tape[right])
        let bytes = UnsafeRawBufferPointer(input)
        return ByteScan.areEqual(
            UnsafeRawBufferPointer(rebasing: bytes[Int(left.start)..<Int(left.end)]),
            UnsafeRawBufferPointer(rebasing: bytes[Int(right.start)..<Int(right.end)])
        )
    }

    private func utf8(of name: Int) -> ArraySlice<UInt8> {
        let node = tape[name]
        let raw = Array(input[Int(node.start)..<Int(node.end)])[...]
        return node.isEscaped ? JSON.unescaped(raw)[...] : raw
    }
}
