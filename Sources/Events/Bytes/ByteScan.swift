/// Searches and compares long byte sequences, many bytes at a time.
package enum ByteScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080
    // Four words at a time keep the processor busy; more gain nothing.
    private static let stride = 32

    /// The first index from `start` that holds the byte; nil if none does.
    ///
    /// For texts of kilobytes: a JWS header ends after five of them, a nested payload after ten.
    package static func firstIndex(
        of byte: UInt8,
        in bytes: UnsafeRawBufferPointer,
        from start: Int = 0
    ) -> Int? {
        firstIndex(of: byte, or: byte, in: bytes, from: start)
    }

    /// The first index from `start` that holds one of the two bytes; nil if none does.
    @inline(__always)
    package static func firstIndex(
        of byte: UInt8,
        or other: UInt8,
        in bytes: UnsafeRawBufferPointer,
        from start: Int = 0
    ) -> Int? {
        let (pattern, otherPattern) = (ones &* UInt64(byte), ones &* UInt64(other))
        var position = start
        while position + stride <= bytes.count {
            var found: UInt64 = 0
            for offset in Swift.stride(from: 0, to: stride, by: 8) {
                let word = bytes.loadUnaligned(fromByteOffset: position + offset, as: UInt64.self)
                let rest = word ^ pattern
                found |= (rest &- ones) & ~rest
                if byte != other {
                    let rest = word ^ otherPattern
                    found |= (rest &- ones) & ~rest
                }
            }
            if found & highs != 0 { break }
            position += stride
        }
        while position < bytes.count {
            if bytes[position] == byte || bytes[position] == other { return position }
            position += 1
        }
        return nil
    }

    /// Whether two pieces of memory hold the same bytes.
    package static func areEqual(
        _ left: UnsafeRawBufferPointer,
        _ right: UnsafeRawBufferPointer
    ) -> Bool {
        let count = left.count
        guard count == right.count else { return false }
        guard left.baseAddress != right.baseAddress else { return true }
        func isSameWord(at position: Int) -> Bool {
            left.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                == right.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        }
        var position = 0
        if count >= 8 {
            while position + 8 <= count {
                guard isSameWord(at: position) else { return false }
                position += 8
            }
            // The last word may overlap bytes that were already compared.
            return isSameWord(at: count - 8)
        }
        while position < count {
            guard left[position] == right[position] else { return false }
            position += 1
        }
        return true
    }

    /// Whether two slices hold the same bytes.
    package static func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { areEqual(left, $0) } }
    }

    /// Whether `left` sorts before `right`, byte by byte; a prefix sorts before a longer sequence.
    package static func precedes(
        _ left: UnsafeRawBufferPointer,
        _ right: UnsafeRawBufferPointer
    ) -> Bool {
        let count = min(left.count, right.count)
        var position = 0
        while position + 8 <= count {
            let mine = left.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let theirs = right.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            if mine != theirs { return mine.bigEndian < theirs.bigEndian }
            position += 8
        }
        while position < count {
            if left[position] != right[position] { return left[position] < right[position] }
            position += 1
        }
        return left.count < right.count
    }

    /// A hash that differs for most different bytes; for tables in memory, never stored.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
        }
        var position = 0
        while position + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            position += 8
        }
        var rest: UInt64 = 0
        while position < bytes.count {
            rest = rest << 8 | UInt64(bytes[position])
            position += 1
        }
        mix(rest)
        return Int(truncatingIfNeeded: hash & 0x7FFF_FFFF_FFFF_FFFF)
    }
}
