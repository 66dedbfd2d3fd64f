public import Events

/// Something that is published once and stays unlocked for everyone subscribed at the time: a
/// magazine's issue.
public struct Issue: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// When it was published.
    public let publishedAt: Instant

    /// An issue with that name and date.
    public init(name: String, publishedAt: Instant) {
        self.name = name
        self.publishedAt = publishedAt
    }
}
