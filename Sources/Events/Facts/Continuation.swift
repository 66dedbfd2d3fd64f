/// What a row of a receipt states in `extra` if the same receipt lists a subscription that
/// continues it, or that it continues (Decisions: renewals with original ids of their own).
///
/// Apple does not name these subscriptions: they follow from the rows of the receipt.
package enum Continuation {
    /// The original id of the subscription whose last period ends where this one begins.
    package static let continues = "continuesOriginalTransactionId"
    /// The original id of the subscription whose first period begins where this one ends.
    package static let isContinuedBy = "continuedByOriginalTransactionId"
}

extension Fact {
    /// The same fact with another content.
    package func with(_ content: Content) -> Fact {
        Fact(
            stream: stream,
            bundleId: bundleId,
            kind: kind,
            purchaseDate: purchaseDate,
            expiresDate: expiresDate,
            asOf: asOf,
            content: content
        )
    }

    /// The fact as programs read it that knew no continuations; nil if it states none.
    package var withoutContinuation: Fact? {
        guard var object = content.text(.extra).map({ ExtraObject($0) }) else { return nil }
        let count = object.members.count
        object.remove(Continuation.continues)
        object.remove(Continuation.isContinuedBy)
        guard object.members.count < count else { return nil }
        var content = content
        content[.extra] = object.members.isEmpty ? nil : .text(object.text)
        return with(content)
    }
}

extension Assertion {
    /// What its event states for that member of `Continuation`; nil if it does not have it.
    package func continuation(_ name: String) -> String? {
        guard content.format.isOfReceipt, content.carried.contains(.extra) else { return nil }
        return content.text(.extra).flatMap { ExtraObject($0).text(name) }
    }
}
