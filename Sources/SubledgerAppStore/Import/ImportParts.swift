/// A list divided into parts that are processed concurrently, each from beginning to end.
struct ImportParts {
    private var parts: [Range<Int>]

    /// The minimum size of a part: neighbours often belong to one customer, and most customers have
    /// fewer ids.
    static let sizeMin = 16

    init(count: Int, parts: Int) {
        let used = max(1, min(parts, count / ImportParts.sizeMin))
        let size = (count + used - 1) / used
        self.parts = (0..<parts).map { min($0 * size, count)..<min(($0 + 1) * size, count) }
    }

    /// The next index of a part; nil if nothing is left for it.
    ///
    /// A finished part takes over the second half of the longest part, unless that is short.
    mutating func next(of part: Int) -> Int? {
        if parts[part].isEmpty {
            let longest = parts.indices.max { parts[$0].count < parts[$1].count }
            guard let longest, parts[longest].count >= 2 * ImportParts.sizeMin else { return nil }
            let whole = parts[longest]
            let middle = whole.lowerBound + whole.count / 2
            parts[longest] = whole.lowerBound..<middle
            parts[part] = middle..<whole.upperBound
        }
        let index = parts[part].lowerBound
        parts[part] = (index + 1)..<parts[part].upperBound
        return index
    }
}
