import Events

/// Ids in a payload that identify nothing, such as a nil UUID as the app account token
/// (Apple's data: trap 49).
enum PlaceholderIDs {
    /// Most ids that a notice lists; all are counted.
    static let namedMax = 5

    /// What the operator should know about such ids among these facts, if there are any.
    ///
    /// Xcode writes `0` where the App Store writes an id, so its data is ignored.
    static func notices(_ facts: [Fact]) -> [VerifiedPayload.Notice] {
        var (named, count): ([String], Int) = ([], 0)
        for fact in facts where !isOfXcode(fact.stream.environment) {
            for field in Placeholder.fields {
                guard let text = fact.content.text(field), text.isPlaceholder else { continue }
                count += 1
                let name = "\(field) of \(fact.stream.originalTransactionId)"
                if named.count < namedMax, !named.contains(name) { named.append(name) }
            }
        }
        guard count > 0 else { return [] }
        return [
            VerifiedPayload.Notice(
                code: .placeholderIds,
                message: (count == 1 ? "1 id is" : "\(count) ids are")
                    + " blank, zero, the greatest UUID or a placeholder such as null. Such ids are"
                    + " kept as stated, but identify nothing and join no subscriptions: "
                    + named.joined(separator: ", ") + (count > named.count ? " …" : "."),
                leftOut: 0
            )
        ]
    }

    private static func isOfXcode(_ environment: StoreEnvironment) -> Bool {
        environment == .xcode || environment == .localTesting
    }
}
