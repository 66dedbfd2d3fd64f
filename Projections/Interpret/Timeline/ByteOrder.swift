internal import Events

/// Whether the first text sorts first by its UTF-8 bytes; nil if they are the same.
///
/// Never use Swift's own order of strings, which is that of Unicode and not of `COLLATE "C"`.
func byBytes(_ left: String, _ right: String) -> Bool? {
    if areSameBytes(left, right) { return nil }
    return left.withBytes { left in right.withBytes { ByteScan.precedes(left, $0) } }
}

extension Array {
    /// The elements in order; elements that are already in order, as usual, are not moved.
    ///
    /// As stable as `sorted`.
    func ordered(by areInIncreasingOrder: (Element, Element) -> Bool) -> [Element] {
        for index in indices.dropFirst() where areInIncreasingOrder(self[index], self[index - 1]) {
            return sorted(by: areInIncreasingOrder)
        }
        return self
    }
}
