internal import Events
internal import Projections

/// A refused subscription, as stored in `refused_stream`.
struct RefusedStream: Sendable {
    let stream: StreamID
    let refusal: FoldRefusal
}
