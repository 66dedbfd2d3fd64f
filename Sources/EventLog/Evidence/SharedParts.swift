internal import Events

/// What many payloads of a lane have in common, which the lane stores once.
struct SharedParts: Sendable {
    /// The root certificates that signatures lead to.
    var roots: Set<Digest> = []
    /// The segments of packed payloads.
    var segments: Set<SegmentKey> = []

    var isEmpty: Bool { roots.isEmpty && segments.isEmpty }

    mutating func formUnion(_ other: SharedParts) {
        roots.formUnion(other.roots)
        segments.formUnion(other.segments)
    }
}
