internal import Events

/// Matches rows of two sides that stand for the same thing.
///
/// A function of two sets of rows: neither ordinals nor positions count, so a row that is inserted
/// does not move any other.
struct RowMatching {
    /// Matching rows that are not equal, by their indices.
    private(set) var pairs: [(old: Int, new: Int)] = []
    /// Rows that only the old side has.
    private(set) var removed: [Int] = []
    /// Rows that only the new side has.
    private(set) var added: [Int] = []
    /// The number of ordinals with another row, if both sides have the same rows; otherwise 0.
    private(set) var reordered = 0

    init(_ old: [ProjectionRow], _ new: [ProjectionRow], by identities: [[RowKey.Part]]) {
        // Usually one or two of many rows differ: those before and after them need no comparison by
        // bytes.
        let (head, tail) = RowMatching.equalEnds(old, new)
        let oldKeys = (head..<old.count - tail).map {
            RowKey(bytes: old[$0].canonicalBytes, row: $0)
        }
        let newKeys = (head..<new.count - tail).map {
            RowKey(bytes: new[$0].canonicalBytes, row: $0)
        }

        // The remaining rows stay in the order of their bytes, in which equal keys are then paired,
        // so the order of the rows does not affect the pairing.
        var equals = RowKey.Join(RowKey.sorted(oldKeys), RowKey.sorted(newKeys))
        if equals.oldRest.isEmpty, equals.newRest.isEmpty {
            reordered = zip(oldKeys, newKeys).count { $0.bytes != $1.bytes }
            return
        }

        for identity in identities where !equals.oldRest.isEmpty && !equals.newRest.isEmpty {
            let next = RowKey.Join(
                RowKey.sorted(equals.oldRest.compactMap { RowKey(old[$0], row: $0, identity) }),
                RowKey.sorted(equals.newRest.compactMap { RowKey(new[$0], row: $0, identity) })
            )
            pairs += next.pairs
            equals.leaveOut(next.pairs)
        }
        removed = equals.oldRest
        added = equals.newRest
    }
}

extension RowMatching {
    /// The number of equal rows at the start and, among the others, at the end.
    private static func equalEnds(
        _ old: [ProjectionRow],
        _ new: [ProjectionRow]
    ) -> (head: Int, tail: Int) {
        let count = min(old.count, new.count)
        var (head, tail) = (0, 0)
        while head < count, old[head].hasSameValues(as: new[head]) { head += 1 }
        while head + tail < count,
            old[old.count - 1 - tail].hasSameValues(as: new[new.count - 1 - tail])
        {
            tail += 1
        }
        return (head, tail)
    }
}

/// What identifies a row: the bytes of some of its values.
struct RowKey {
    let bytes: [UInt8]
    let row: Int

    /// A part of a key, with the column's index.
    enum Part {
        case column(Int)
        case holds(Int, text: String)

        init?(_ part: RowComparison.IdentityPart, in columns: [String]) {
            switch part {
            case .column(let name):
                guard let index = columns.firstIndex(of: name) else { return nil }
                self = .column(index)
            case .holds(let name, let text):
                guard let index = columns.firstIndex(of: name) else { return nil }
                self = .holds(index, text: text)
            }
        }

        func isTrue(of row: ProjectionRow) -> Bool {
            switch self {
            case .column(let index): row.values[index] != .null
            case .holds(let index, let text): row.values[index].isSame(as: .text(text))
            }
        }
    }

    init(bytes: [UInt8], row: Int) {
        self.bytes = bytes
        self.row = row
    }

    /// The key of a row; nil if all its columns are NULL, which identifies nothing.
    init?(_ projected: ProjectionRow, row: Int, _ parts: [Part]) {
        let values = projected.values
        var writer = RowWriter()
        var hasValue = false
        for part in parts {
            switch part {
            case .column(let index):
                if values[index] != .null { hasValue = true }
                writer.value(values[index])
            case .holds:
                writer.boolean(part.isTrue(of: projected))
            }
        }
        guard hasValue else { return nil }
        self.init(bytes: writer.row(citing: []).canonicalBytes, row: row)
    }

    /// In the order of their bytes; equal ones keep their order.
    static func sorted(_ keys: [RowKey]) -> [RowKey] {
        keys.enumerated().sorted { left, right in
            if left.element.bytes == right.element.bytes { return left.offset < right.offset }
            return left.element.bytes.lexicographicallyPrecedes(right.element.bytes)
        }.map(\.element)
    }

    /// Pairs equal keys one to one.
    struct Join {
        private(set) var pairs: [(old: Int, new: Int)] = []
        private(set) var oldRest: [Int] = []
        private(set) var newRest: [Int] = []

        init(_ old: [RowKey], _ new: [RowKey]) {
            var (left, right) = (old[...], new[...])
            while let first = left.first, let second = right.first {
                if first.bytes == second.bytes {
                    pairs.append((first.row, second.row))
                    left.removeFirst()
                    right.removeFirst()
                } else if first.bytes.lexicographicallyPrecedes(second.bytes) {
                    oldRest.append(left.removeFirst().row)
                } else {
                    newRest.append(right.removeFirst().row)
                }
            }
            oldRest += left.map(\.row)
            newRest += right.map(\.row)
        }

        mutating func leaveOut(_ pairs: [(old: Int, new: Int)]) {
            let old = Set(pairs.map(\.old))
            let new = Set(pairs.map(\.new))
            oldRest.removeAll { old.contains($0) }
            newRest.removeAll { new.contains($0) }
        }
    }
}

extension ProjectionRow {
    /// Whether two rows of one table are equal except for their causes.
    fileprivate func hasSameValues(as other: ProjectionRow) -> Bool {
        canonicalBytes == other.canonicalBytes
    }
}

extension ColumnValue {
    /// Whether two values have the same bytes; never use Swift's own equality of texts, which is
    /// that of Unicode and not of `COLLATE "C"`.
    func isSame(as other: ColumnValue) -> Bool {
        switch (self, other) {
        case (.text(let left), .text(let right)): byBytes(left, right) == nil
        case (.texts(let left), .texts(let right)):
            left.count == right.count && zip(left, right).allSatisfy { byBytes($0, $1) == nil }
        default: self == other
        }
    }

    /// The milliseconds of an instant, or a number; nil for everything else.
    var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .int32(let number): Int64(number)
        case .timestamp(let instant): instant.milliseconds
        case .null, .boolean, .text, .integers, .texts: nil
        }
    }
}
