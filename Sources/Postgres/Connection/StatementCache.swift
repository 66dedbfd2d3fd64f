/// The statements a session has prepared, by their text and the types of their parameters.
///
/// A name is never used twice, so a forgotten name cannot be mistaken for a new statement; nor by
/// two sessions, so a server that a pooler exchanged under this one cannot run another's statement.
struct StatementCache {
    /// How many statements a session keeps prepared: far more than a ledger has; each takes at most
    /// a few tens of kilobytes in the server.
    static let statementsMax = 256

    /// How many of the least recently used to evict at once, so that eviction is rare.
    static let evictedAtOnce = 64

    struct Key: Hashable {
        let sql: String
        let types: [UInt32]
    }

    private struct Entry {
        let name: String
        var lastUse: UInt64
    }

    private var entries: [Key: Entry] = [:]
    private var garbage: [String] = []
    private var uses: UInt64 = 0
    private var namesGiven: UInt64 = 0
    private let mark = String(UInt64.random(in: 0...UInt64.max), radix: 36)

    var count: Int { entries.count }

    /// The name of a prepared statement; counts as a use.
    mutating func name(for key: Key) -> String? {
        guard let name = entries[key]?.name else { return nil }
        uses += 1
        entries[key]?.lastUse = uses
        return name
    }

    mutating func makeName() -> String {
        namesGiven += 1
        return "s\(namesGiven)_\(mark)"
    }

    /// Records a statement that the server has confirmed.
    mutating func insert(_ key: Key, name: String) {
        uses += 1
        entries[key] = Entry(name: name, lastUse: uses)
    }

    /// Discards a statement whose plan is stale; the server still holds it.
    mutating func discard(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { garbage.append(entry.name) }
    }

    /// Chooses the names to deallocate to keep the cache within its limit.
    mutating func takeGarbage(roomFor newcomers: Int) -> [String] {
        if entries.count + newcomers > Self.statementsMax {
            let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }
            for (key, _) in oldest.prefix(max(newcomers, Self.evictedAtOnce)) { discard(key) }
        }
        defer { garbage.removeAll() }
        return garbage
    }
}
