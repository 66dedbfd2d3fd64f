import Events

/// How a payload arrived: what its evidence records, and who vouches for its unsigned values.
struct Intake {
    let policy: VerificationPolicy
    let source: String
    let arrival: Arrival
    let receivedAt: Instant
    let voucher: Voucher
    /// The unsigned values that a stored piece was read with; nil for a payload that arrives.
    let context: EvidenceContext?
    /// How bytes that are already in evidence were verified; nil for other bytes.
    let known: (Digest) -> Verification?

    /// An environment and the unsigned values it was taken from; nil if the piece itself names it.
    struct NamedEnvironment {
        let environment: StoreEnvironment
        let context: EvidenceContext?
    }

    /// The root under which a piece was verified before; nil if its signatures must be checked.
    ///
    /// A root that the policy does not trust, or a trust other than `signed`, does not count.
    func knownRoot(of digest: Digest) -> Digest? {
        guard let verification = known(digest), verification.trust == .signed,
            let root = verification.root, policy.roots.contains(where: { $0.digest == root })
        else { return nil }
        return root
    }

    /// The first environment that a signed value names; without one, that of unsigned values.
    ///
    /// `hint` is what the response around the piece says. Throws `environment-unknown`.
    func environment(
        _ words: StoreEnvironment?...,
        hint: StoreEnvironment? = nil
    ) throws(Rejection) -> NamedEnvironment {
        for case let word? in words { return NamedEnvironment(environment: word, context: nil) }
        // Those stored with the piece, otherwise the response around it, otherwise the environment
        // that the operator lets us assume.
        let context = context ?? context(hint: hint)
        if let context, let environment = context.decidedEnvironment {
            return NamedEnvironment(environment: environment, context: context)
        }
        throw Rejection(
            .environmentUnknown,
            "No trusted part of the payload names its environment (responses of iOS 6 and JWS"
                + " before 2022-02-24 do not). It is not guessed: if you know it, name the"
                + " environment to assume."
        )
    }

    private func context(hint: StoreEnvironment?) -> EvidenceContext? {
        if let hint { return EvidenceContext(environment: hint, trust: voucher.trustInWords) }
        return policy.assumedEnvironment.map {
            EvidenceContext(environment: $0, trust: .vouched)
        }
    }

    /// Facts with a piece that arrived this way as their evidence.
    func verified(
        _ facts: [Fact],
        by payload: [UInt8],
        digest: Digest? = nil,
        _ kind: PayloadKind,
        _ verification: Verification,
        context: EvidenceContext? = nil
    ) -> Verified<[Fact]> {
        let evidence = Evidence(
            payload: payload,
            digest: digest ?? Digest.of(payload),
            kind: kind,
            source: source,
            arrival: arrival,
            verification: verification,
            context: context,
            receivedAt: receivedAt
        )
        return Verified(facts, evidence: evidence)
    }
}

extension Voucher {
    fileprivate var trustInWords: EvidenceContext.Trust {
        switch self {
        case .client: .fetched
        case .operator: .vouched
        case .unvouched: .unproven
        }
    }
}
