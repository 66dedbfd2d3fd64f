internal import Events
internal import Synchronization

/// What the routes share.
final class ServiceState: Sendable {
    let isDraining = Atomic<Bool>(false)
    /// The methods of each path, with `:name` for its parameters.
    let methods = Mutex<[String: Set<String>]>([:])
    /// Why the tables are not kept up to date; nil if they are, or are not meant to be.
    let followFault = Mutex<String?>(nil)
    let isFollowing = Atomic<Bool>(false)
    let uploads = Atomic<Int>(0)
    let bodyBytes = Atomic<Int>(0)
    let claims = Turns<StreamID>()
    /// One turn for all payloads of strangers: verifying them never takes more than one processor,
    /// and recording those that are refused takes one connection.
    let strangers = Turns<StrangerWork>()
}

/// Work on the payloads of strangers, each kind in turn: a payload that Apple signed does not wait
/// for the recording of one that was refused.
enum StrangerWork: Sendable {
    case verifying, recording
}
