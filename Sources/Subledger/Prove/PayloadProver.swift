internal import AppStore
internal import EventLog
internal import Events
internal import Synchronization

/// Decides whether stored payloads prove the events that cite them: a pure function of both.
final class PayloadProver: Sendable {
    private let roots: [RootCertificate]
    private let rootDigests: Set<Digest>
    private let erasures: ExplainingErasures
    // A verifier caches the chains it has checked, so one is kept for each key.
    private let verifiers = Mutex<[VerifierKey: AppStoreVerifier]>([:])

    /// The most verifiers kept: one for each environment of the events of a payload; few
    /// environments are known.
    private static let verifiersMax = 64

    private struct VerifierKey: Hashable {
        let environments: Set<StoreEnvironment>
        let hasRoots: Bool
    }

    init(roots: [RootCertificate], erasures: ExplainingErasures = ExplainingErasures()) {
        self.roots = roots
        self.erasures = erasures
        rootDigests = Set(roots.map(\.digest))
    }

    /// The results for the payloads of a page, in order, up to the first failure.
    func judge(_ page: CitedPayloadPage) -> PageResult {
        var result = PageResult()
        for cited in page.payloads {
            switch judge(cited) {
            case .success(.proven(let trust)): result.proven.append(trust)
            case .success(.notKept(let reason)):
                result.notKept.append(UnkeptPayload(cited, reason))
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

    private enum Judgement {
        case proven(Verification.Trust)
        case notKept(UnkeptPayload.Reason)
    }

    private func judge(_ cited: CitedPayload) -> Result<Judgement, Unproven> {
        switch cited.evidence {
        case .missing:
            return .failure(Unproven(.evidenceMissing, "the payload is not in the log"))
        case .damaged(let reason):
            return .failure(Unproven(.evidenceDamaged, reason))
        case .erased:
            return .success(.notKept(.erased))
        case .verifiedAtEntry(let kind, _):
            return explanation(of: cited, kind).map { .notKept($0) }
        case .whole(let evidence)
        where evidence.kind == .catalogVersion || evidence.kind == .erasureStatement:
            return OwnProof.disproof(of: cited, by: evidence).map { .failure($0) }
                ?? .success(.proven(evidence.verification.trust))
        case .whole(let evidence):
            if let root = evidence.verification.root, !rootDigests.contains(root) {
                return .failure(Unproven(root: root, given: roots.count))
            }
            guard let unproven = disproof(of: cited, by: evidence, hasRoots: true) else {
                return .success(.proven(evidence.verification.trust))
            }
            // The log does not record whether the receipt in an unsigned body was trusted when the
            // body was ingested, so both are tried: that receipt proves nothing about such a body.
            if evidence.verification.trust != .signed,
                disproof(of: cited, by: evidence, hasRoots: false) == nil
            {
                return .success(.proven(evidence.verification.trust))
            }
            return .failure(unproven)
        }
    }

    // An erasure must have come before a payload that is not kept: of each subscription that it is
    // cited for or, if a payload is about several, one that took a payload it shared with another.
    private func explanation(
        of cited: CitedPayload,
        _ kind: PayloadKind
    ) -> Result<UnkeptPayload.Reason, Unproven> {
        let isOfSeveral: Bool
        switch kind {
        case .appReceipt, .verifyReceiptResponse, .statusUpdateNotification: isOfSeveral = true
        case .signedTransaction, .signedRenewalInfo, .signedNotification, .subscriptionStatus,
            .decodedTransaction, .decodedRenewalInfo:
            isOfSeveral = false
        case .customerLink, .catalogVersion, .erasureStatement:
            return .failure(
                Unproven(.evidenceMissing, "a statement of the operator is always kept")
            )
        }
        var reason = UnkeptPayload.Reason.arrivedAfterErasure
        let named = cited.events.map(Optional.some) + cited.confirmations.map(\.event)
        for event in named {
            guard let event else { return .failure(Unproven.unexplained(at: nil)) }
            let stream = event.fact.stream
            if erasures.explains(stream, before: cited.firstOffset)
                || isOfSeveral && erasures.explainsShared(stream, before: cited.firstOffset)
            {
                // A token would give the purchase to whom it names.
                guard !event.fact.content.identifiesPerson else {
                    return .failure(Unproven.identifying(at: event.position))
                }
                continue
            }
            guard isOfSeveral, erasures.mayPredate(cited.committedAt) else {
                return .failure(Unproven.unexplained(at: event.position))
            }
            reason = .byEarlierVersion
        }
        return named.isEmpty ? .failure(Unproven.unexplained(at: nil)) : .success(reason)
    }

    // A piece that names no environment has it in its context, so none is assumed here. Words that
    // only the operator's policy made known are accepted if an event has them: the event is
    // compared with the piece afterwards.
    private func disproof(
        of cited: CitedPayload,
        by evidence: Evidence,
        hasRoots: Bool
    ) -> Unproven? {
        let repeated = cited.confirmations.compactMap(\.event)
        let environments = Set((cited.events + repeated).map(\.fact.stream.environment))
        return verifier(VerifierKey(environments: environments, hasRoots: hasRoots))
            .disproof(of: cited, by: evidence)
    }

    private func verifier(_ key: VerifierKey) -> AppStoreVerifier {
        verifiers.withLock { verifiers in
            if let known = verifiers[key] { return known }
            if verifiers.count >= PayloadProver.verifiersMax { verifiers = [:] }
            let verifier = AppStoreVerifier(
                policy: VerificationPolicy(
                    roots: key.hasRoots ? roots : [],
                    environments: key.environments.union(StoreEnvironment.named)
                )
            )
            verifiers[key] = verifier
            return verifier
        }
    }
}

/// Proves the operator's statements about the log itself, which Apple's verifiers do not accept:
/// versions of the catalog, and erasures.
private enum OwnProof {
    static func disproof(of cited: CitedPayload, by evidence: Evidence) -> Unproven? {
        let fact: Fact
        do throws(Rejection) {
            fact =
                evidence.kind == .erasureStatement
                ? try ErasureStatement.fact(ofStored: evidence.payload)
                : try CatalogStatement.fact(ofStored: evidence.payload)
        } catch {
            return Unproven(error)
        }
        return cited.disproof(by: [fact])
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
                + " not one of the \(count) given; add it with --root-certificate"
        )
    }

    static func unexplained(at position: Position?) -> Unproven {
        Unproven(
            .evidenceMissing,
            "the payload is not kept, and no earlier erasure of its subscription explains this",
            at: position
        )
    }

    static func identifying(at position: Position) -> Unproven {
        Unproven(
            .evidenceMissing,
            "the payload is not kept, but the event identifies a person; after an erasure, facts are"
                + " stored without that",
            at: position
        )
    }

    func located(in cited: CitedPayload) -> SignatureReport.Failure {
        SignatureReport.Failure(
            position: position ?? cited.events.first?.position
                ?? cited.confirmations.first?.confirmation.position
                ?? Position(lane: .only, offset: 0),
            evidence: cited.evidence.digest,
            reason: reason,
            message: message
        )
    }
}

extension AppStoreVerifier {
    /// Why a payload does not prove what cites it; nil if it does.
    fileprivate func disproof(of cited: CitedPayload, by evidence: Evidence) -> Unproven? {
        let verified: VerifiedPayload
        do throws(Rejection) {
            verified = try verify(
                payload: evidence.payload,
                source: evidence.source,
                receivedAt: evidence.receivedAt,
                voucher: evidence.verification.trust.voucher,
                context: evidence.context
            )
        } catch {
            return Unproven(error)
        }
        // An unsigned body that embeds a receipt gives two groups; one of them is this evidence.
        let groups = verified.groups.filter { $0.evidence.digest == evidence.digest }
        guard let group = groups.first(where: { $0.evidence.isOfTheKind(of: evidence) }) else {
            return Unproven(.evidenceDiffers, evidence.difference(from: groups.first?.evidence))
        }
        return cited.disproof(by: group.value)
    }
}

extension CitedPayload {
    /// Why the facts of the payload do not prove what cites it; nil if they do.
    fileprivate func disproof(by facts: [Fact]) -> Unproven? {
        // Earlier programs read no continuations.
        let readings = facts + facts.compactMap(\.withoutContinuation)
        let proven = Set(readings.map(ProvenFact.init))
        if let stranger = events.first(where: { !proven.contains(ProvenFact($0.fact)) }) {
            return Unproven(
                .eventNotProven,
                "the payload verifies and gives \(facts.count) facts, but the event is not one of "
                    + "them",
                at: stranger.position
            )
        }

        guard !confirmations.isEmpty else { return nil }
        let bySubject = Dictionary(grouping: readings, by: \.subject)
        for repeated in confirmations {
            let confirmation = repeated.confirmation
            guard let event = repeated.event else {
                return Unproven(
                    .eventMalformed,
                    "a confirmation repeats an event that is missing or cannot be read; run "
                        + "`subledger verify`",
                    at: confirmation.position
                )
            }
            let candidates = bySubject[event.fact.subject, default: []].filter {
                $0.asOf == confirmation.asOf
            }
            guard candidates.contains(where: { $0.repeats(event, confirmation) }) else {
                return Unproven(
                    .confirmationNotProven,
                    "the payload verifies and gives \(facts.count) facts, but none of them repeats "
                        + "the event as of \(confirmation.asOf)",
                    at: confirmation.position
                )
            }
        }
        return nil
    }
}

extension Fact {
    /// Whether it states the same values for the repeated fields as the event, under the recorded
    /// alias.
    fileprivate func repeats(_ event: Event, _ confirmation: Confirmation) -> Bool {
        let (mine, theirs) = (
            Assertion(offset: 0, asOf: asOf, content: content),
            Assertion(offset: 0, asOf: asOf, content: event.fact.content)
        )
        let alias = confirmation.transactionId
        return confirmation.fields.fields.allSatisfy { field in
            mine.fields.contains(field) && theirs.fields.contains(field)
                && mine.state(of: field) == theirs.state(of: field)
        } && (alias.isEmpty || content[.transactionId] == .text(alias))
    }
}

extension CitedPayload.Found {
    /// The digest of a payload that is present.
    fileprivate var digest: Digest? {
        if case .whole(let evidence) = self { evidence.digest } else { nil }
    }
}

extension Verification.Trust {
    /// The voucher with which a payload of this trust is decoded again.
    ///
    /// The shared secret is not stored, so only the chain of digests shows that it was present.
    fileprivate var voucher: Voucher {
        switch self {
        case .signed: .unvouched
        case .fetched: .client
        case .sharedSecret, .vouched: .operator
        }
    }
}

extension Evidence {
    /// Whether a payload that was read again matches its record.
    fileprivate func isOfTheKind(of record: Evidence) -> Bool {
        guard kind == record.kind, verification.root == record.verification.root,
            context == record.context
        else { return false }
        // A payload that the secret proved is decoded again as vouched for.
        return (verification.trust == .signed) == (record.verification.trust == .signed)
    }

    fileprivate func difference(from found: Evidence?) -> String {
        func words(_ evidence: Evidence) -> String {
            let root = evidence.verification.root.map { " under the root \($0)" } ?? ""
            let context = evidence.context.map { " with the context \($0.canonicalText)" } ?? ""
            return "\(evidence.kind.rawValue), \(evidence.verification.trust.rawValue)\(root)"
                + context
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
