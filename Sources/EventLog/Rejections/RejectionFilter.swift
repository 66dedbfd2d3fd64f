package import Events

/// Selects rejections.
package struct RejectionFilter: Hashable, Sendable {
    /// Only those with this machine-readable reason.
    package var reason: String?
    /// Only those that came by this channel.
    package var source: String?
    /// Only those refused at this instant of our clock or later.
    package var since: Instant?
    /// Only those that were not accepted later.
    package var isOpen: Bool

    /// All of them, unless a property is set.
    package init(
        reason: String? = nil,
        source: String? = nil,
        since: Instant? = nil,
        isOpen: Bool = false
    ) {
        self.reason = reason
        self.source = source
        self.since = since
        self.isOpen = isOpen
    }
}
