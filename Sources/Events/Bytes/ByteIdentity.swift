// Swift's `==` on String treats canonically equivalent texts as equal: "é" as one scalar and as
// two. The log compares bytes (COLLATE "C", digests), and so must the domain: otherwise such a fact
// would count as known, and the order of arrival would decide which of the two spellings is kept.

/// Whether two texts have the same UTF-8 bytes.
package func areSameBytes(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count
        && left.withBytes { left in right.withBytes { ByteScan.areEqual(left, $0) } }
}

extension String {
    /// Calls `body` with the UTF-8 of the text, in place if possible.
    ///
    /// Inlined because all code that compares and encodes texts by the million uses it.
    @inlinable
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let lent = utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
        if let lent { return lent }
        return Array(utf8).withUnsafeBytes(body)
    }
}

extension FieldValue {
    /// Texts are equal when their UTF-8 is, whatever Unicode holds equivalent.
    public static func == (left: FieldValue, right: FieldValue) -> Bool {
        switch (left, right) {
        case (.text(let first), .text(let second)): areSameBytes(first, second)
        case (.integer(let first), .integer(let second)): first == second
        case (.boolean(let first), .boolean(let second)): first == second
        case (.instant(let first), .instant(let second)): first == second
        default: false
        }
    }
}

extension StoreEnvironment {
    /// Equal when their words have the same UTF-8.
    public static func == (left: StoreEnvironment, right: StoreEnvironment) -> Bool {
        switch (left, right) {
        case (.production, .production), (.sandbox, .sandbox): true
        case (.production, .sandbox), (.sandbox, .production): false
        default: areSameBytes(left.word, right.word)
        }
    }

    /// Hashes the word, which identifies the environment.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(word)
    }
}

extension StreamID {
    /// Equal when environment and id have the same UTF-8.
    public static func == (left: StreamID, right: StreamID) -> Bool {
        left.environment == right.environment
            && areSameBytes(left.originalTransactionId, right.originalTransactionId)
    }
}

extension Subject {
    /// Equal when every part is; names when their UTF-8 is.
    public static func == (left: Subject, right: Subject) -> Bool {
        left.purchaseDate == right.purchaseDate && left.expiresDate == right.expiresDate
            && left.kind == right.kind && areSameBytes(left.name, right.name)
            && left.stream == right.stream
    }
}

extension Confirmation {
    /// Equal when every part is; transaction ids when their UTF-8 is.
    public static func == (left: Confirmation, right: Confirmation) -> Bool {
        left.position == right.position && left.asOf == right.asOf && left.fields == right.fields
            && left.evidence == right.evidence
            && areSameBytes(left.transactionId, right.transactionId)
    }
}
