internal import AppStore
internal import EventLog
internal import Events
internal import Synchronization

/// Judges whether stored payloads prove the events that cite them: a pure function of both.
final class PayloadProver: Sendable {
    private let roots: [RootCertificate]
    private let rootDigests: Set<Digest>
    // A verifier remembers the chains it has judged, so each is made once.
    private let verifiers = Mutex<[VerifierKey: AppStoreVerifier]>([:])

    /// Most verifiers remembered: one for each environment that a payload had to be told, and few
    /// words for environments are known.
    private static let verifiersMax = 64

    private struct VerifierKey: Hashable {
        let environments: Set<Environment>
        let assumed: Environment?
        let hasRoots: Bool
    }

    init(roots: [RootCertificate]) {
        self.roots = roots
        rootDigests = Set(roots.map(\.digest))
    }

    /// What became of the payloads of a page, in their order, up to the first failure.
    func judge(_ page: CitedPayloadPage) -> PageResult {
        var result = PageResult()
        for cited in page.payloads {
            switch judge(cited) {
            case .success(let trust): result.proven.append(trust)
            case .failure(let failure):
                result.failure = failure.located(in: cited)
                return result
            }
        }
        if let malformed = page.malformed {
            result.failure = SignatureReport.Failure(
                position: malformed.position,
                evidence: nil,
                reason: SignatureReport.Reason.eventMalformed.rawValue,
                message: malformed.reason
            )
        }
        return result
    }

    private func judge(_ cited: CitedPayload) -> Result<Verification.Trust, Unproven> {
        switch cited.evidence {
        case .missing:
            return .failure(Unproven(.evidenceMissing, "the payload is not in the log"))
        case .damaged(let reason):
            return .failure(Unproven(.evidenceDamaged, reason))
        case .whole(let evidence):
            if let root = evidence.verification.root, !rootDigests.contains(root) {
                return .failure(Unproven(root: root, given: roots.count))
            }
            var first: Unproven?
            for verifier in self.verifiers(for: evidence, citedBy: cited.events) {
                guard let unproven = verifier.disproof(of: cited.events, by: evidence) else {
                    return .success(evidence.verification.trust)
                }
                first = first ?? unproven
            }
            return .failure(
                first ?? Unproven(.eventNotProven, "no event says where the payload belongs")
            )
        }
    }

    // The environment that was assumed when a payload was taken in that names none is in its
    // events. And whether the receipt in an unsigned body was trusted then is not known now, so
    // that both are tried: nothing of such a body is proven by that receipt.
    private func verifiers(
        for evidence: Evidence,
        citedBy events: [Event]
    ) -> [AppStoreVerifier] {
        let environments = Set(events.map(\.fact.stream.environment))
        let assumed = environments.sorted { $0.word < $1.word }.map { environment in
            environment == .unknown ? nil : environment
        }
        let rootChoices = evidence.verification.trust == .signed ? [true] : [true, false]
        return assumed.flatMap { assumed in
            rootChoices.map { hasRoots in
                verifier(
                    VerifierKey(environments: environments, assumed: assumed, hasRoots: hasRoots)
                )
            }
        }
    }

    private func verifier(_ key: VerifierKey) -> AppStoreVerifier {
        verifiers.withLock { verifiers in
            if let known = verifiers[key] { return known }
            if verifiers.count >= PayloadProver.verifiersMax { verifiers = [:] }
            let verifier = AppStoreVerifier(
                policy: VerificationPolicy(
                    roots: key.hasRoots ? roots : [],
                    environments: key.environments.union([
                        .production, .sandbox, .xcode, .localTesting,
                    ]),
                    assumedEnvironment: key.assumed
                )
            )
            verifiers[key] = verifier
            return verifier
        }
    }
}

/// Why a payload does not prove an event.
private struct Unproven: Error {
    let reason: String
    let message: String
    /// The event; nil for the first that cites the payload.
    var position: Position?

    init(_ reason: SignatureReport.Reason, _ message: String, at position: Position? = nil) {
        self.reason = reason.rawValue
        self.message = message
        self.position = position
    }

    init(_ rejection: Rejection) {
        reason = rejection.code.rawValue
        message = rejection.message
    }

    init(root: Digest, given count: Int) {
        self.init(
            .rootNotGiven,
            "the payload was verified against the root certificate with SHA-256 \(root), which is"
                + " none of the \(count) given; give it with --root-certificate"
        )
    }

    func located(in cited: CitedPayload) -> SignatureReport.Failure {
        SignatureReport.Failure(
            position: position ?? cited.events[0].position,
            evidence: cited.digest,
            reason: reason,
            message: message
        )
    }
}

extension AppStoreVerifier {
    /// Why a payload does not prove these events; nil where it does.
    fileprivate func disproof(of events: [Event], by evidence: Evidence) -> Unproven? {
        let verified: VerifiedPayload
        do throws(Rejection) {
            verified = try verify(
                payload: evidence.payload,
                source: evidence.source,
                receivedAt: evidence.receivedAt,
                voucher: evidence.verification.trust.voucher
            )
        } catch {
            return Unproven(error)
        }
        // An unsigned body that embeds a receipt gives two groups; one of them is this evidence.
        let groups = verified.groups.filter { $0.evidence.digest == evidence.digest }
        guard let group = groups.first(where: { $0.evidence.isOfTheKind(of: evidence) }) else {
            return Unproven(.evidenceDiffers, evidence.difference(from: groups.first?.evidence))
        }
        let facts = Set(group.value.map(ProvenFact.init))
        let stranger = events.first { !facts.contains(ProvenFact($0.fact)) }
        return stranger.map { event in
            Unproven(
                .eventNotProven,
                "the payload verifies and gives \(facts.count) facts, but the event is none of them",
                at: event.position
            )
        }
    }
}

extension Verification.Trust {
    /// Who must stand behind a payload of this trust for it to be decoded again.
    ///
    /// The shared secret is not stored, so nothing but the chain of digests says that it was there.
    fileprivate var voucher: Voucher {
        switch self {
        case .signed: .nobody
        case .fetched: .client
        case .sharedSecret, .vouched: .operator
        }
    }
}

extension Evidence {
    /// Whether a payload that was read again is what its record says.
    fileprivate func isOfTheKind(of record: Evidence) -> Bool {
        guard kind == record.kind, verification.root == record.verification.root else {
            return false
        }
        // What the secret proved is decoded again as vouched for.
        return (verification.trust == .signed) == (record.verification.trust == .signed)
    }

    fileprivate func difference(from found: Evidence?) -> String {
        func words(_ evidence: Evidence) -> String {
            let root = evidence.verification.root.map { " under the root \($0)" } ?? ""
            return "\(evidence.kind.rawValue), \(evidence.verification.trust.rawValue)\(root)"
        }
        guard let found else {
            return "its record says \(words(self)); read again, the payload gives no facts of that"
                + " kind"
        }
        return "its record says \(words(self)); read again, it is \(words(found))"
    }
}

/// A fact compared as the log stores it, byte by byte.
private struct ProvenFact: Hashable {
    private let stream: StreamID
    private let bundleId: [UInt8]
    private let kind: Kind
    private let purchaseDate: Instant
    private let expiresDate: Instant
    private let asOf: Instant
    private let content: [UInt8]

    init(_ fact: Fact) {
        stream = fact.stream
        bundleId = Array(fact.bundleId.utf8)
        kind = fact.kind
        purchaseDate = fact.purchaseDate
        expiresDate = fact.expiresDate
        asOf = fact.asOf
        content = fact.content.canonicalBytes
    }
}
