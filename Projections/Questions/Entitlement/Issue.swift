public import Events

/// Something that is published once and stays unlocked for whoever was subscribed: a magazine's
/// issue.
public struct Issue: Hashable, Sendable {
    /// What it is called.
    public let name: String
    /// When it came out.
    public let publishedAt: Instant

    /// An issue of that name and date.
    public init(name: String, publishedAt: Instant) {
        self.name = name
        self.publishedAt = publishedAt
    }
}
