internal import Synchronization

/// Intermediate results that several views of one timeline need, each folded once on first use.
///
/// A timeline has its own memo as long as it lives, and copies of it share the memo. All results
/// are functions of the timeline alone, so it does not matter who asks first, on which thread, or
/// whether two ask at once and one result is dropped.
///
/// The memo does not know the results: each fold declares a key next to itself.
final class FoldMemo: Sendable {
    /// Names one result by being the only key of its kind.
    final class Key<Value: Sendable>: Sendable {}

    private final class Kept<Value: Sendable>: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private struct Entry {
        let key: ObjectIdentifier
        var kept: any AnyObject & Sendable
    }

    // For a few entries, a linear search is faster than a hash table.
    private let entries = Mutex<[Entry]>([])

    /// Room for all results that the views of this module share, so the list is never copied.
    private static let entriesUsual = 14

    /// The value stored under a key; nil if there is none.
    func find<Value>(_ key: Key<Value>) -> Value? {
        let wanted = ObjectIdentifier(key)
        let kept: (any AnyObject & Sendable)? = entries.withLock { entries in
            for entry in entries where entry.key == wanted { return entry.kept }
            return nil
        }
        // `keep` stores only values of this type under the key.
        return kept.map { unsafeDowncast($0, to: Kept<Value>.self).value }
    }

    /// Stores a value under its key, replacing any earlier one.
    func keep<Value>(_ value: Value, _ key: Key<Value>) {
        let (wanted, kept) = (ObjectIdentifier(key), Kept(value))
        entries.withLock { entries in
            if let index = entries.firstIndex(where: { $0.key == wanted }) {
                entries[index].kept = kept
                return
            }
            if entries.isEmpty { entries.reserveCapacity(FoldMemo.entriesUsual) }
            entries.append(Entry(key: wanted, kept: kept))
        }
    }
}

extension Timeline {
    /// The value stored under a key, or otherwise the result of `fold`, which is then stored.
    ///
    /// A result that also depends on a decision of the operator is stored with that decision: if
    /// `isCurrent` finds another one, it is folded again. Nothing is locked during a fold, because
    /// folds use each other.
    func once<Value>(
        _ key: FoldMemo.Key<Value>,
        where isCurrent: (Value) -> Bool = { _ in true },
        _ fold: () -> Value
    ) -> Value {
        if let found = memo.find(key), isCurrent(found) { return found }
        let made = fold()
        memo.keep(made, key)
        return made
    }
}
