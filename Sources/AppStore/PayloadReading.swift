import Events

/// Reads one payload part by part: opens each statement, checks its claims, translates it.
struct PayloadReading {
    private let policy: VerificationPolicy
    private let opener: StatementOpener
    private let receivedAt: Instant
    private let environmentHint: Environment?

    /// The facts found so far.
    private(set) var facts: [Fact] = []
    /// The root of the first statement.
    private(set) var root: Digest?
    /// What the payload is; nil until a bare JWS was opened.
    private(set) var kind: PayloadKind?

    init(
        policy: VerificationPolicy,
        opener: StatementOpener,
        receivedAt: Instant,
        envelope: Envelope
    ) {
        self.policy = policy
        self.opener = opener
        self.receivedAt = receivedAt
        environmentHint = envelope.environmentHint
        kind = envelope.kind
    }

    mutating func read(_ part: Envelope.Part) throws(Rejection) {
        switch part {
        case .any(let compact): try readAny(compact)
        case .notification(let compact):
            try readNotification(try open(compact, expecting: .notification))
        case .transaction(let compact):
            try readStatements(transaction: compact, renewal: nil)
        case .status(let transaction, let renewal):
            try readStatements(transaction: transaction, renewal: renewal)
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
                "The payload is an app transaction: genuine, but it says only that the app was"
                    + " obtained and carries no subscription data."
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
        try policy.checkBundleId(bundleId, of: Statement.Kind.notification.rawValue)
        let environment = try policy.environment(
            parts.environment,
            try inner?.environment,
            try renewalInfo?.environment,
            environmentHint
        )
        try policy.checkEnvironment(environment, of: outer)
        try policy.checkAppAppleId(parts.appAppleId, in: environment)
        let surroundings = Surroundings(environment: environment, bundleId: bundleId)
        if let appTransaction { try surroundings.check(appTransaction) }
        var nested: [Fact] = []
        if let inner { nested.append(try transaction(inner, in: surroundings)) }
        if let renewalInfo {
            nested.append(try renewal(renewalInfo, in: surroundings, besides: nil))
        }
        let provenance = Provenance(
            environment: environment,
            bundleId: bundleId ?? "",
            asOf: try date(of: outer)
        )
        facts += nested
        facts.append(
            try Translation.notification(outer.claims, provenance, nested: nested)
        )
    }

    // The wrapper of a server response is not signed: it pairs statements, but what it says about
    // them counts for nothing where they speak for themselves.
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
        let statement = try opener.open(compact, receivedAt: receivedAt)
        if let expected, statement.kind != expected {
            throw Rejection(
                .nestedMismatch,
                "Where \(expected.rawValue) belongs, the payload has \(statement.kind.rawValue)."
            )
        }
        root = root ?? statement.root
        return statement
    }
}

extension PayloadReading {
    private func transaction(
        _ statement: Statement,
        in surroundings: Surroundings?
    ) throws(Rejection) -> Fact {
        try surroundings?.check(statement)
        let bundleId = try statement.bundleId ?? surroundings?.bundleId
        try policy.checkBundleId(bundleId, of: Statement.Kind.transaction.rawValue)
        let environment = try policy.environment(
            try statement.environment,
            surroundings?.environment,
            environmentHint
        )
        try policy.checkEnvironment(environment, of: statement)
        return try Translation.transaction(
            statement.claims,
            Provenance(
                environment: environment,
                bundleId: bundleId ?? "",
                asOf: try date(of: statement)
            )
        )
    }

    private func renewal(
        _ statement: Statement,
        in surroundings: Surroundings?,
        besides sibling: Fact?
    ) throws(Rejection) -> Fact {
        try surroundings?.check(statement)
        // Renewal info names no app, so only its environment can be checked (app-store.md §F.1-8).
        let bundleId = surroundings?.bundleId ?? sibling?.bundleId
        let environment = try policy.environment(
            try statement.environment,
            surroundings?.environment,
            sibling?.stream.environment,
            environmentHint
        )
        try policy.checkEnvironment(environment, of: statement)
        let fact = try Translation.renewal(
            statement.claims,
            Provenance(
                environment: environment,
                bundleId: bundleId ?? "",
                asOf: try date(of: statement)
            )
        )
        // Nothing signs the pairing, so that a renewal info of another app could be smuggled in
        // beside a transaction of ours. Both must speak of one subscription.
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

    private func date(of statement: Statement) throws(Rejection) -> Instant {
        guard let asOf = statement.asOf else {
            throw Rejection(
                .dateMissing,
                "The payload holds \(statement.kind.rawValue) without signedDate or any other date"
                    + " of Apple's, so that it has no place on Apple's clock."
            )
        }
        return asOf
    }
}

/// What a signed notification says about all that is nested in it.
struct Surroundings {
    let environment: Environment
    let bundleId: String?

    /// Refuses a nested statement that contradicts what surrounds it (app-store.md §F.1-9).
    func check(_ nested: Statement) throws(Rejection) {
        let name: StaticString = nested.kind == .appTransaction ? "receiptType" : "environment"
        if let word = nested.claims[name]?.text, !word.isEmpty, word != environment.word {
            throw Rejection(
                .nestedMismatch,
                "A notification of \(environment) has \(nested.kind.rawValue) of \(word) in it."
            )
        }
        if let bundleId, let inner = try nested.bundleId, inner != bundleId {
            throw Rejection(
                .nestedMismatch,
                "A notification for the app \(bundleId) has \(nested.kind.rawValue) of \(inner)"
                    + " in it."
            )
        }
    }
}
