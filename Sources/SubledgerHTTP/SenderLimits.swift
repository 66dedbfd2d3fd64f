internal import Hummingbird
internal import Synchronization

/// Limits what anyone may send without a token, before it is read and verified.
///
/// A sender is known by its address for an hour after it sent something that Apple signed; others
/// are strangers. Strangers have limits for each address and together, so that a flood leaves room
/// for Apple. A known sender is never refused by them; once it sends as much that is refused as a
/// stranger may send, it has to wait its turn with the strangers.
final class SenderLimits: Sendable {
    /// The limit that refused a request.
    enum Limit: String, CaseIterable, Error {
        case addressRate = "address-rate"
        case rate
        case addressBodies = "address-bodies"
        case bodies
    }

    /// An admitted request.
    struct Ticket {
        fileprivate let address: SenderAddress?
        fileprivate let isStranger: Bool
        /// Whether it is verified in turn with those of strangers.
        let waitsForTurn: Bool
    }

    /// What a request turned out to be.
    enum Outcome {
        /// Something that Apple signed.
        case accepted
        /// Something that was refused.
        case refused
        /// The service could not decide.
        case undecided
    }

    private struct Bucket {
        var tokens: Double
        var filledAt: ContinuousClock.Instant

        mutating func fill(_ perSecond: Double, upTo most: Double, at now: ContinuousClock.Instant)
        {
            let seconds = (now - filledAt) / .seconds(1)
            (tokens, filledAt) = (min(most, tokens + seconds * perSecond), now)
        }
    }

    private struct Sender {
        var bucket: Bucket
        var bodies = 0
        var knownUntil: ContinuousClock.Instant?
    }

    private struct State {
        var senders: [SenderAddress?: Sender] = [:]
        var all: Bucket
        var bodies = 0
    }

    private let limits: ServiceLimits
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// How long a sender stays known.
    private static let knownDuration = Duration.seconds(3600)
    /// The most addresses that are remembered; then the strangers among them are forgotten, whom
    /// the limits for all still bound.
    private static let sendersMax = 10_000

    init(
        _ limits: ServiceLimits,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        self.now = now
        state = Mutex(State(all: Bucket(tokens: limits.strangersRequestsBurst, filledAt: now())))
    }

    /// Admits a request, until ``end(_:_:)``; throws the limit that refuses it.
    func begin(_ address: String?) throws(Limit) -> Ticket {
        let (network, now) = (address.map(SenderAddress.init), now())
        return try state.withLock { state throws(Limit) in
            var sender = sender(network, in: &state, at: now)
            defer { state.senders[network] = sender }
            let isKnown = sender.knownUntil.map { now < $0 } ?? false
            if !isKnown { try takeRoom(of: &sender, in: &state, at: now) }
            sender.bodies += 1
            return Ticket(
                address: network,
                isStranger: !isKnown,
                waitsForTurn: !isKnown || sender.bucket.tokens < 1
            )
        }
    }

    private func takeRoom(
        of sender: inout Sender,
        in state: inout State,
        at now: ContinuousClock.Instant
    ) throws(Limit) {
        state.all.fill(
            limits.strangersRequestsPerSecond,
            upTo: limits.strangersRequestsBurst,
            at: now
        )
        guard sender.bodies < limits.strangerBodiesMax else { throw .addressBodies }
        guard sender.bucket.tokens >= 1 else { throw .addressRate }
        guard state.bodies < limits.strangersBodiesMax else { throw .bodies }
        guard state.all.tokens >= 1 else { throw .rate }
        sender.bucket.tokens -= 1
        state.all.tokens -= 1
        state.bodies += 1
    }

    private func sender(
        _ address: SenderAddress?,
        in state: inout State,
        at now: ContinuousClock.Instant
    ) -> Sender {
        if var sender = state.senders[address] {
            sender.bucket.fill(
                limits.strangerRequestsPerSecond,
                upTo: limits.strangerRequestsBurst,
                at: now
            )
            return sender
        }
        if state.senders.count >= Self.sendersMax {
            state.senders = state.senders.filter { _, sender in
                sender.bodies > 0 || sender.knownUntil.map { now < $0 } ?? false
            }
        }
        return Sender(bucket: Bucket(tokens: limits.strangerRequestsBurst, filledAt: now))
    }

    /// Ends an admitted request.
    func end(_ ticket: Ticket, _ outcome: Outcome) {
        let now = now()
        state.withLock { state in
            if ticket.isStranger { state.bodies -= 1 }
            guard var sender = state.senders[ticket.address] else { return }
            sender.bodies -= 1
            switch outcome {
            case .accepted:
                sender.knownUntil = now + Self.knownDuration
                if ticket.isStranger { sender.bucket.tokens += 1 }
            case .refused:
                if !ticket.isStranger { sender.bucket.tokens = max(0, sender.bucket.tokens - 1) }
            case .undecided: break
            }
            state.senders[ticket.address] = sender
        }
    }
}

/// What one sender can have at will: an address of IPv4, a network of 64 bits of IPv6.
private struct SenderAddress: Hashable {
    private let bytes: [UInt8]

    init(_ address: String) {
        let all = AddressRange.bytes(of: address) ?? Array(address.utf8)
        bytes = all.count == 16 ? Array(all.prefix(8)) : all
    }
}

extension Problem {
    /// The problem of a request that a limit refused before its body was read.
    init(_ limit: SenderLimits.Limit) {
        let what =
            switch limit {
            case .addressRate: "This address sends too many requests"
            case .rate: "Unknown addresses send too many requests"
            case .addressBodies: "This address sends too many requests at once"
            case .bodies: "Unknown addresses send too many requests at once"
            }
        self.init(
            .tooManyRequests,
            "too-many-requests",
            "\(what), none of which Apple signed. Send the request again later."
        )
        retryAfterSeconds = Problem.retrySeconds
    }
}
