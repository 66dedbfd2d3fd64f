package import Events

/// Something that is published once and stays unlocked for everyone subscribed at the time: a
/// magazine's issue.
package struct Issue: Hashable, Sendable {
    /// Its name.
    package let name: String
    /// When it was published.
    package let publishedAt: Instant

    /// An issue with that name and date.
    package init(name: String, publishedAt: Instant) {
        self.name = name
        self.publishedAt = publishedAt
    }
}
