import EventLog
import Events
import Postgres

/// Writes synthetic events of `RebuildBenchLog` into a ledger, commit by commit.
struct BenchLogWriter {
    /// Events written so far.
    private(set) var written = 0

    private let identity: LedgerIdentity
    private let evidence: Evidence
    private var previous: Digest
    private var commits: Int64 = 0
    private var facts: [Fact] = []

    init(identity: LedgerIdentity) {
        self.identity = identity
        previous = identity.genesis(lane: 0)
        evidence = Evidence(
            payload: Array("{\"bench\":true}".utf8),
            kind: .verifyReceiptResponse,
            source: "bench",
            verification: Verification(trust: .vouched, root: nil),
            receivedAt: Instant(milliseconds: 1_609_459_200_000)
        )
    }

    /// Events that wait for a commit.
    var pending: Int { facts.count }

    /// Adds the events of a renewal for that many weeks.
    mutating func add(_ stream: Int, renewal: Int, at milliseconds: Int64, weeks: Int) {
        let statement = BenchStatement(
            stream: stream,
            renewal: renewal,
            at: milliseconds,
            weeks: weeks
        )
        facts += [statement.transaction, statement.snapshot, statement.notification]
    }

    /// Writes the waiting events.
    mutating func commit(_ session: PostgresSession) async throws {
        guard !facts.isEmpty else { return }
        commits += 1
        let first = Int64(written + 1)
        let commit = Commit(
            lane: 0,
            number: commits,
            firstOffset: first,
            count: facts.count,
            firstEvidence: commits,
            evidence: 1,
            confirmations: 0,
            committedAt: Instant(milliseconds: facts.last?.asOf.milliseconds ?? 0)
        )

        var hasher = CommitHasher(after: previous, commit: commit)
        var rows: [[PostgresValue]] = []
        for (index, fact) in facts.enumerated() {
            let event = Event(
                position: Position(lane: .only, offset: first + Int64(index)),
                recordedAt: commit.committedAt,
                fact: fact,
                evidence: commits
            )
            let salt = Salt.random()
            hasher.update(
                event.commitments(
                    keys: CommitmentKeys(salt),
                    evidence: evidence.recordDigest
                ).digest
            )
            rows.append(PlainEventRow.values(event, salt: salt))
        }

        let digest = hasher.digest()
        let payload = PlainEventRow.evidence(
            evidence,
            EvidencePacking.pack(evidence.payload, dictionary: nil),
            number: commits,
            commit: commits
        )
        try await BenchLogWriter.write(rows, payload, commit, digest, in: session)
        previous = digest
        written += facts.count
        facts.removeAll(keepingCapacity: true)
    }

    private static func write(
        _ rows: [[PostgresValue]],
        _ payload: [PostgresValue],
        _ commit: Commit,
        _ digest: Digest,
        in session: PostgresSession
    ) async throws {
        try await session.transaction { session throws(PostgresError) in
            try session.query(
                """
                INSERT INTO ledger.commit (lane, commit_no, first_offset, count, first_evidence_no,
                    evidence, confirmations, committed_at, format, digest)
                VALUES ($1, $2, $3, $4, $2, 1, 0, $5, $6, $7)
                """,
                [
                    .int4(0), .int8(commit.number), .int8(commit.firstOffset),
                    .int4(Int32(commit.count)),
                    .timestamptz(microseconds: commit.committedAt.milliseconds * 1000),
                    .int4(Int32(commit.format)), .bytea(digest.bytes),
                ]
            )
            try session.query(PlainEventRow.insertEvidence(into: "ledger.evidence"), payload)
            try session.copyRows(PlainEventRow.copy(into: "ledger.event"), rows.count) { rows[$0] }
        }
    }
}

/// The three statements about one renewal, with the fields of Apple's.
private struct BenchStatement {
    private let number: Int
    private let renewal: Int
    private let start: Instant
    private let end: Instant
    private let stream: StreamID

    // One in fifty changes the plan, one in a hundred is refunded; one in forty has a failed charge
    // at its end, a grace of three days, and a successful charge after four.
    private var isRefunded: Bool { (number &* 31 &+ renewal) % 100 == 7 }
    private var isInGrace: Bool { BenchStatement.isInGrace(number, renewal) }

    private static func isInGrace(_ number: Int, _ renewal: Int) -> Bool {
        (number &* 17 &+ renewal) % 40 == 5
    }

    private static let day: Int64 = 86_400_000

    init(stream: Int, renewal: Int, at milliseconds: Int64, weeks: Int) {
        number = stream
        self.renewal = renewal
        // Distributed over the week, in whole seconds.
        let second = Int64(stream % 604_800) * 1000
        let isLate = renewal > 0 && BenchStatement.isInGrace(stream, renewal - 1)
        let due = milliseconds + second
        start = Instant(milliseconds: due + (isLate ? 4 * BenchStatement.day : 0))
        end = Instant(milliseconds: due + Int64(weeks) * RebuildBenchLog.week)
        self.stream = StreamID(
            environment: .production,
            originalTransactionId: String(2_000_000_100_000_000 + stream)
        )
    }

    private var productId: String {
        let isOther = (number &* 7 &+ renewal / 3) % 50 == 1
        return isOther ? "com.example.reader.pro.yearly" : "com.example.reader.pro.monthly"
    }

    var transaction: Fact {
        var content = Content(format: .signedTransaction, expectedEntryCount: 20)
        content[.transactionId] = .text(String(2_000_000_500_000_000 + number * 512 + renewal))
        content[.webOrderLineItemId] = .text(String(2_000_000_070_000_000 + number * 512 + renewal))
        content[.productId] = .text(productId)
        content[.subscriptionGroupIdentifier] = .text("21752814")
        content[.type] = .text("Auto-Renewable Subscription")
        content[.inAppOwnershipType] = .text("PURCHASED")
        content[.transactionReason] = .text(renewal == 0 ? "PURCHASE" : "RENEWAL")
        content[.quantity] = .integer(1)
        content[.storefront] = .text("USA")
        content[.storefrontId] = .text("143441")
        content[.currency] = .text("USD")
        content[.price] = .integer(renewal == 0 ? 0 : 9990)
        if renewal == 0 {
            content[.offerType] = .integer(1)
            content[.offerDiscountType] = .text("FREE_TRIAL")
        }
        if isRefunded {
            content[.revocationDate] = .instant(
                Instant(milliseconds: start.milliseconds + BenchStatement.day)
            )
            content[.revocationReason] = .integer(0)
        }
        content[.appTransactionId] = .text("704897469903383919")
        return fact(.transaction, content, isKeyed: true)
    }

    var snapshot: Fact {
        var content = Content(format: .signedRenewalInfo, expectedEntryCount: 10)
        content[.productId] = .text(productId)
        content[.currency] = .text("USD")
        content[.autoRenewProductId] = .text(productId)
        content[.autoRenewStatus] = .integer(1)
        if isInGrace {
            content[.isInBillingRetryPeriod] = .boolean(true)
            content[.gracePeriodExpiresDate] = .instant(
                Instant(milliseconds: end.milliseconds + 3 * BenchStatement.day)
            )
        }
        content[.renewalDate] = .instant(end)
        content[.renewalPrice] = .integer(9990)
        content[.recentSubscriptionStartDate] = .instant(start)
        return fact(.renewal, content, isKeyed: false)
    }

    var notification: Fact {
        var content = Content(format: .signedNotification, expectedEntryCount: 6)
        content[.notificationType] = .text(renewal == 0 ? "SUBSCRIBED" : "DID_RENEW")
        if renewal == 0 { content[.subtype] = .text("INITIAL_BUY") }
        let id = String(100_000_000_000 + number * 512 + renewal)
        content[.notificationUUID] = .text("8f37f12f-fd02-45a9-8245-\(id)")
        content[.status] = .integer(1)
        content[.extra] = .text("{\"data\":{\"appAppleId\":1234567890}}")
        return fact(.notification, content, isKeyed: true)
    }

    private func fact(_ kind: Kind, _ content: Content, isKeyed: Bool) -> Fact {
        Fact(
            stream: stream,
            bundleId: "com.example.reader",
            kind: kind,
            purchaseDate: isKeyed ? start : nil,
            expiresDate: isKeyed ? end : nil,
            asOf: Instant(milliseconds: start.milliseconds + (isRefunded ? 90_000_000 : 4000)),
            content: content
        )
    }
}
