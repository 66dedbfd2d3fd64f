import Crypto
import Events

/// One JWS whose signature was checked: its claims, and the root that vouches for it.
struct Statement {
    /// What it is.
    let kind: Kind
    /// Its claims: an object.
    let claims: JSON.Value
    /// When Apple asserted it, on Apple's clock; nil if it carries no date at all.
    let asOf: Instant?
    /// The fingerprint of the root.
    let root: Events.Digest
    /// Whether it was signed by Xcode rather than by the App Store.
    let isLocal: Bool

    /// The app it names; nil if it names none.
    var bundleId: String? {
        get throws(Rejection) { try Claims.bundleId(claims) }
    }

    /// The environment it names; nil if it names none.
    var environment: StoreEnvironment? {
        get throws(Rejection) { try Claims.environment(claims) }
    }

    /// What a JWS is, judged by its claims, because the header does not show it.
    enum Kind: String {
        case notification = "a notification"
        case transaction = "a transaction"
        case renewalInfo = "renewal info"
        case appTransaction = "an app transaction"
        case retentionRequest = "a retention messaging request"

        /// Looks for claims that only one kind has, the most reliable first.
        init(_ claims: JSON.Value) {
            func has(_ names: StaticString...) -> Bool { names.contains { claims[$0] != nil } }
            if has("notificationType", "notificationUUID") {
                self = .notification
            } else if has("receiptType", "receiptCreationDate") {
                self = .appTransaction
            } else if has("requestIdentifier"), has("userLocale") {
                self = .retentionRequest
            } else if has("transactionId") {
                self = .transaction
            } else if has(
                "autoRenewProductId",
                "autoRenewStatus",
                "renewalDate",
                "expirationIntent"
            ) {
                self = .renewalInfo
            } else if has("bundleId", "purchaseDate") {
                self = .transaction
            } else {
                self = .renewalInfo
            }
        }
    }
}

/// A header whose chain was judged good, with what follows from it alone.
struct JudgedHeader: Sendable {
    let chain: SigningChain
    /// The key of its leaf.
    let key: P256.Signing.PublicKey
    /// The SHA-256 of the header and a dot, to be continued with the payload.
    let hash: SHA256
}

/// Opens JWS: checks the signature and everything that vouches for it, but not the content.
struct StatementOpener: Sendable {
    /// What it trusts: these roots and no others.
    let roots: [RootCertificate]
    let cache = ChainCache<JudgedHeader>()
    // By header, whether it is one of Xcode's; for statements whose signatures were checked before.
    private let knownHeaders = ChainCache<Bool>()

    /// The statement of a compact JWS.
    ///
    /// The chain is judged at the payload's own date (Apple's data: JWS verification). Without any
    /// date from Apple it is judged at `receivedAt`, as Apple's libraries do with the current time.
    func open(
        _ compact: ArraySlice<UInt8>,
        receivedAt: Instant
    ) throws(Rejection) -> Statement {
        let jws = try JWS(compact)
        let (header, isKnown) = try judged(jws)
        let (claims, asOf) = try check(jws, by: header, receivedAt)
        if !isKnown { cache.remember(header, of: jws.header) }
        return Statement(
            kind: Statement.Kind(claims),
            claims: claims,
            asOf: asOf,
            root: header.chain.root,
            isLocal: header.chain.isLocal
        )
    }

    /// How much a compact JWS that was refused shows of its origin.
    func standing(of compact: ArraySlice<UInt8>, receivedAt: Instant) -> Standing {
        do throws(Rejection) {
            let jws = try JWS(compact)
            let (header, _) = try judged(jws)
            do throws(Rejection) {
                _ = try check(jws, by: header, receivedAt)
                return .proven
            } catch {
                return .chained
            }
        } catch {
            return .unproven
        }
    }

    /// The statement of a compact JWS whose signature was checked before, under that root.
    ///
    /// Checks neither signature nor chain; the caller must know that these exact bytes were
    /// verified.
    func reopen(
        _ compact: ArraySlice<UInt8>,
        verifiedUnder root: Events.Digest
    ) throws(Rejection) -> Statement {
        let jws = try JWS(compact)
        let claims = try jws.unverifiedClaims()
        return Statement(
            kind: Statement.Kind(claims),
            claims: claims,
            asOf: try AppleClock.date(of: claims),
            root: root,
            isLocal: try isLocal(jws.header)
        )
    }

    private func judged(_ jws: JWS) throws(Rejection) -> (JudgedHeader, isKnown: Bool) {
        if let known = cache.chain(of: jws.header) { return (known, true) }
        return (try judge(jws), false)
    }

    private func check(
        _ jws: JWS,
        by header: JudgedHeader,
        _ receivedAt: Instant
    ) throws(Rejection) -> (claims: JSON.Value, asOf: Instant?) {
        let claims = try jws.unverifiedClaims()
        let asOf = try AppleClock.date(of: claims)
        try header.chain.checkValidity(of: "payload", at: asOf ?? receivedAt)
        try jws.checkSignature(with: header.key, continuing: header.hash)
        return (claims, asOf)
    }

    private func isLocal(_ header: ArraySlice<UInt8>) throws(Rejection) -> Bool {
        if let judged = cache.chain(of: header) { return judged.chain.isLocal }
        if let known = knownHeaders.chain(of: header) { return known }
        let isLocal = try JWSHeader(header).certificates.count == 1
        knownHeaders.remember(isLocal, of: header)
        return isLocal
    }

    private func judge(_ jws: JWS) throws(Rejection) -> JudgedHeader {
        let header = try JWSHeader(jws.header)
        do throws(Rejection) {
            let chain = try SigningChain(header, roots: roots)
            return JudgedHeader(
                chain: chain,
                key: try chain.keyOfJWS(),
                hash: jws.hashOfHeader
            )
        } catch {
            guard error.code == .chainUntrusted,
                try jws.unverifiedClaims()["environment"]?.equals("Xcode") == true
            else { throw error }
            throw Rejection.xcodeSigned("Its chain does not end at a given root.")
        }
    }
}
