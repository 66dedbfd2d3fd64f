internal import Synchronization

/// What several views need of one timeline, each folded once, when it is first asked for.
///
/// A timeline carries its own for as long as it lives, and a copy of it shares them. All are
/// functions of the timeline alone, so that it does not matter who asks first, on which thread, or
/// whether two ask at once and one result is dropped.
///
/// It knows none of them: who folds something declares a key for it, next to the fold.
final class FoldMemo: Sendable {
    /// Names one thing that is folded once, by being the only one of its kind.
    final class Key<Value: Sendable>: Sendable {}

    private final class Kept<Value: Sendable>: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private struct Entry {
        let key: ObjectIdentifier
        var kept: any AnyObject & Sendable
    }

    // A few entries, which a search from the front finds sooner than a hash would.
    private let entries = Mutex<[Entry]>([])

    /// Room for all that the views of this module share, so that no list is ever copied.
    private static let entriesUsual = 12

    /// What was kept under a key; nil where nothing was.
    func find<Value>(_ key: Key<Value>) -> Value? {
        let wanted = ObjectIdentifier(key)
        let kept: (any AnyObject & Sendable)? = entries.withLock { entries in
            for entry in entries where entry.key == wanted { return entry.kept }
            return nil
        }
        // `keep` puts nothing else under a key of this type.
        return kept.map { unsafeDowncast($0, to: Kept<Value>.self).value }
    }

    /// Keeps a value under its key, in the place of one that was kept before.
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
    /// What was kept under a key, or what `fold` makes, which is then kept.
    ///
    /// What also depends on a decision of the operator is kept with that decision: where
    /// `isCurrent` finds another one, it is folded again. Nothing is locked while it folds: folds
    /// ask for each other.
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
