internal import Events
internal import Projections

/// A refused subscription, as `refused_stream` keeps it.
struct RefusedStream: Sendable {
    let stream: StreamID
    let refusal: FoldRefusal
}
