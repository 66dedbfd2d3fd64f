public import Events

/// Selects rejections.
public struct RejectionFilter: Hashable, Sendable {
    /// Only those with this machine-readable reason.
    public var reason: String?
    /// Only those that came by this channel.
    public var source: String?
    /// Only those refused at this instant of our clock or later.
    public var since: Instant?
    /// Only those that were not accepted later.
    public var isOpen: Bool

    /// All of them, unless a property is set.
    public init(
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
