import Events

/// Reads one unit of evidence: opens each statement, checks its claims, translates it.
struct UnitReading {
    private let intake: Intake
    private let opener: StatementOpener
    // The unsigned environment of the response.
    private let hint: StoreEnvironment?
    private let digest: Digest
    private let knownRoot: Digest?
    private var kind: PayloadKind

    private var facts: [Fact] = []
    // The root of the first statement.
    private var root: Digest?
    private var context: EvidenceContext?

    /// A reading of a unit with that digest.
    init(
        _ kind: PayloadKind,
        _ digest: Digest,
        hint: StoreEnvironment?,
        _ intake: Intake,
        _ opener: StatementOpener
    ) {
        (self.kind, self.digest, self.hint) = (kind, digest, hint)
        (self.intake, self.opener, knownRoot) = (intake, opener, intake.knownRoot(of: digest))
    }

    /// The facts that a part of an envelope proves, with the part as their evidence.
    mutating func proven(by part: Envelope.Part) throws(Rejection) -> Verified<[Fact]> {
        try read(part)
        guard let root else { preconditionFailure("a unit was read without any statement") }
        return intake.verified(
            facts,
            by: Array(part.bytes),
            digest: digest,
            kind,
            .signed(root: root),
            context: context
        )
    }

    private mutating func read(_ part: Envelope.Part) throws(Rejection) {
        switch part {
        case .any(let compact): try readAny(compact)
        case .notification(let compact):
            try readNotification(try open(compact, expecting: .notification))
        case .transaction(let compact):
            let statement = try open(compact, expecting: .transaction)
            facts.append(try transaction(statement, in: nil))
        case .status(_, let status):
            try readStatements(transaction: status.transaction, renewal: status.renewal)
        }
    }

    private mutating func readAny(_ compact: ArraySlice<UInt8>) throws(Rejection) {
        let statement = try open(compact)
        switch statement.kind {
        case .notification:
            kind = .signedNotification
            try readNotification(statement)
        case .transaction:
            kind = .signedTransaction
            facts.append(try transaction(statement, in: nil))
        case .renewalInfo:
            kind = .signedRenewalInfo
            facts.append(try renewal(statement, in: nil, besides: nil))
        case .appTransaction:
            throw Rejection(
                .appTransaction,
                "The payload is a genuine app transaction, but it only states that the app was"
                    + " obtained and contains no subscription data."
            )
        case .retentionRequest:
            throw Rejection(
                .unsupportedFormat,
                "The payload is a retention messaging request; it reports no purchase."
            )
        }
    }

    private mutating func readNotification(_ outer: Statement) throws(Rejection) {
        let parts = try NotificationParts(outer.claims)
        let inner = try openNested(parts.transaction, expecting: .transaction)
        let renewalInfo = try openNested(parts.renewal, expecting: .renewalInfo)
        let appTransaction = try openNested(parts.appTransaction, expecting: .appTransaction)

        var bundleId = parts.bundleId
        if bundleId == nil { bundleId = try inner?.bundleId }
        try intake.policy.checkBundleId(bundleId, of: Statement.Kind.notification.rawValue)
        let environment = try environment(
            parts.environment,
            try inner?.environment,
            try renewalInfo?.environment
        )
        try intake.policy.checkAccepted(environment, isLocal: outer.isLocal)
        try intake.policy.checkAppAppleId(parts.appAppleId, in: environment)
        let surroundings = Surroundings(environment: environment, bundleId: bundleId)
        if let appTransaction { try surroundings.check(appTransaction) }

        var nested: [Fact] = []
        if let inner { nested.append(try transaction(inner, in: surroundings)) }
        if let renewalInfo {
            nested.append(try renewal(renewalInfo, in: surroundings, besides: nil))
        }
        let provenance = try provenance(of: outer, environment, bundleId)
        facts += nested
        facts.append(
            try Translation.notification(
                outer.claims,
                provenance,
                nested: nested,
                id: parts.originalTransactionId
            )
        )
    }

    // An element of a statuses response is not signed: it pairs statements, but where they carry a
    // value themselves, the element's value is ignored.
    private mutating func readStatements(
        transaction compact: ArraySlice<UInt8>?,
        renewal renewalCompact: ArraySlice<UInt8>?
    ) throws(Rejection) {
        var sibling: Fact?
        if let compact {
            let fact = try transaction(try open(compact, expecting: .transaction), in: nil)
            facts.append(fact)
            sibling = fact
        }
        if let renewalCompact {
            let statement = try open(renewalCompact, expecting: .renewalInfo)
            facts.append(try renewal(statement, in: nil, besides: sibling))
        }
    }

    private mutating func openNested(
        _ compact: ArraySlice<UInt8>?,
        expecting expected: Statement.Kind
    ) throws(Rejection) -> Statement? {
        guard let compact else { return nil }
        return try open(compact, expecting: expected)
    }

    private mutating func open(
        _ compact: ArraySlice<UInt8>,
        expecting expected: Statement.Kind? = nil
    ) throws(Rejection) -> Statement {
        let statement: Statement
        if let knownRoot {
            statement = try opener.reopen(compact, verifiedUnder: knownRoot)
        } else {
            statement = try opener.open(compact, receivedAt: intake.receivedAt)
        }
        if let expected, statement.kind != expected {
            throw Rejection(
                .nestedMismatch,
                "The payload contains \(statement.kind.rawValue) where \(expected.rawValue) is"
                    + " expected."
            )
        }
        root = root ?? statement.root
        return statement
    }

    private mutating func environment(
        _ words: StoreEnvironment?...
    ) throws(Rejection) -> StoreEnvironment {
        let word = words.lazy.compactMap { $0 }.first
        let named = try intake.environment(word, hint: hint)
        context = context ?? named.context
        return named.environment
    }
}

extension UnitReading {
    private mutating func transaction(
        _ statement: Statement,
        in surroundings: Surroundings?
    ) throws(Rejection) -> Fact {
        try surroundings?.check(statement)
        let bundleId = try statement.bundleId ?? surroundings?.bundleId
        try intake.policy.checkBundleId(bundleId, of: Statement.Kind.transaction.rawValue)
        let environment = try environment(
            try statement.environment,
            surroundings?.environment
        )
        try intake.policy.checkAccepted(environment, isLocal: statement.isLocal)
        let provenance = try provenance(of: statement, environment, bundleId)
        return try Translation.transaction(statement.claims, provenance)
    }

    private mutating func renewal(
        _ statement: Statement,
        in surroundings: Surroundings?,
        besides sibling: Fact?
    ) throws(Rejection) -> Fact {
        try surroundings?.check(statement)
        // Renewal info names no app, so only its environment can be checked
        // (Apple's data: JWS verification).
        let bundleId = surroundings?.bundleId ?? sibling?.bundleId
        let environment = try environment(
            try statement.environment,
            surroundings?.environment,
            sibling?.stream.environment
        )
        try intake.policy.checkAccepted(environment, isLocal: statement.isLocal)

        let provenance = try provenance(of: statement, environment, bundleId)
        let fact = try Translation.renewal(statement.claims, provenance)
        // Nothing signs the pairing, so renewal info of another app could be smuggled in next to a
        // transaction of ours. Both must be about the same subscription.
        if let sibling, sibling.stream != fact.stream {
            throw Rejection(
                .nestedMismatch,
                "A response pairs the transaction of subscription"
                    + " \(sibling.stream.originalTransactionId) with renewal info of"
                    + " \(fact.stream.originalTransactionId)."
            )
        }
        return fact
    }

    private func provenance(
        of statement: Statement,
        _ environment: StoreEnvironment,
        _ bundleId: String?
    ) throws(Rejection) -> Provenance {
        guard let asOf = statement.asOf else {
            throw Rejection(
                .dateMissing,
                "The payload contains \(statement.kind.rawValue) without signedDate or any other"
                    + " date from Apple, so it cannot be placed on Apple's clock."
            )
        }
        return Provenance(environment: environment, bundleId: bundleId ?? "", asOf: asOf)
    }
}

/// What a signed notification states about everything nested in it.
struct Surroundings {
    let environment: StoreEnvironment
    let bundleId: String?

    /// Refuses a nested statement that contradicts what surrounds it
    /// (Apple's data: JWS verification).
    func check(_ nested: Statement) throws(Rejection) {
        let name: StaticString = nested.kind == .appTransaction ? "receiptType" : "environment"
        if let word = nested.claims[name]?.text, !word.isEmpty, word != environment.word {
            throw Rejection(
                .nestedMismatch,
                "A notification of \(environment) contains \(nested.kind.rawValue) of \(word)."
            )
        }
        if let bundleId, let inner = try nested.bundleId, inner != bundleId {
            throw Rejection(
                .nestedMismatch,
                "A notification for the app \(bundleId) contains \(nested.kind.rawValue) of"
                    + " \(inner)."
            )
        }
    }
}
