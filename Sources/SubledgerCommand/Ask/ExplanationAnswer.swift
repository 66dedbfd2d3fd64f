import EventLog
import Events
import Projections
import Subledger

/// An explanation with all that is printed beside it.
struct ExplanationAnswer {
    let customer: AskedCustomer
    let product: String?
    let explanation: Explanation
    /// How much of the log was asked for; `now` says how much was used.
    let askedKnownAt: KnownAt
    let now: KnowledgeMarks
    let then: KnowledgeMarks
    let evidence: [Position: EvidenceSummary]
    /// The version of the catalog that held at the instant; nil where there is none.
    let catalogVersion: Int?

    /// The document `ledger.explain/1` (reference/audit-answers.md §2.5), instants in RFC 3339.
    var document: JSONTree {
        .object([
            "schema": .text("ledger.explain/1"),
            "customer": .text(customer.id),
            "environment": .text(customer.environment.word),
            "originalTransactionIds": .array(
                customer.histories.map { .text($0.stream.originalTransactionId) }
            ),
            "subscriptions": customer.grounds.document,
            "entitlement": JSONTree(product),
            "at": JSONTree(iso: explanation.at),
            "askedKnownAt": askedKnownAt == .latest
                ? .null : .text(askedKnownAt.text(lanes: customer.lanes)),
            "entitled": answer(explanation.entitled, now),
            "served": answer(explanation.served, then),
            "difference": difference,
            "refundsAfterEnd": .array(explanation.refundsAfterEnd.map(refund)),
            "because": .array(explanation.because.map(because)),
            "changesIf": .array(
                explanation.changesIf.map { position in
                    .object([
                        "without": JSONTree(position, lanes: customer.lanes),
                        "access": .flag(!explanation.entitled.hasAccess),
                    ])
                }
            ),
            "policy": policy,
            "catalogVersion": catalogVersion.map { .number(Int64($0)) } ?? .null,
            "projection": projection,
            "erasures": customer.erasures.document(lanes: customer.lanes),
            "proof": now.proof(lanes: customer.lanes),
        ])
    }

    private func answer(_ answer: AccessAnswer, _ marks: KnowledgeMarks) -> JSONTree {
        .object([
            "access": .flag(answer.hasAccess),
            "reason": JSONTree(answer.reason?.rawValue),
            "knownAt": .object([
                "position": marks.position(lanes: customer.lanes),
                "time": JSONTree(iso: marks.time),
            ]),
            "period": answer.period.map(period) ?? .null,
            "oneTimePurchase": answer.oneTimePurchase.map(oneTimePurchase) ?? .null,
        ])
    }

    private func refund(_ refund: RefundCase) -> JSONTree {
        .object([
            "originalTransactionId": .text(refund.stream.originalTransactionId),
            "productId": .text(refund.productId),
            "purchaseDate": JSONTree(iso: refund.purchaseDate),
            "refunded": JSONTree(iso: refund.refunded),
            "kind": JSONTree(refund.kind?.rawValue),
            "refundedMilliunits": JSONTree(refund.refundedMilliunits),
            "currency": JSONTree(refund.currency),
            "positions": .array(refund.positions.map { JSONTree($0, lanes: customer.lanes) }),
        ])
    }

    private func oneTimePurchase(_ purchase: OneTimePurchase) -> JSONTree {
        .object([
            "kind": .text(purchase.kind.rawValue),
            "productId": .text(purchase.productId),
            "purchaseDate": JSONTree(iso: purchase.purchaseDate),
            "revocationDate": JSONTree(iso: purchase.revocationDate),
            "familyShared": .flag(purchase.isFamilyShared),
            "originalTransactionId": .text(purchase.stream.originalTransactionId),
            "positions": .array(
                purchase.positions.map { JSONTree($0, lanes: customer.lanes) }
            ),
        ])
    }

    private func period(_ row: ActivePeriod) -> JSONTree {
        .object([
            "kind": .text(row.kind.rawValue),
            "productId": .text(row.productId),
            "from": JSONTree(iso: row.validFrom),
            "to": JSONTree(iso: row.validTo),
            "endReason": .text(row.endReason.rawValue),
            "key": .object([
                "originalTransactionId": .text(row.stream.originalTransactionId),
                "purchaseDateMs": .number(row.purchaseDate.milliseconds),
                "expiresDateMs": .number(row.expiresDate.milliseconds),
            ]),
            "positions": .array(
                row.positions.map { JSONTree($0, lanes: customer.lanes) }
            ),
        ])
    }

    private var difference: JSONTree {
        guard let stretch = explanation.difference else {
            return .object(["kind": .text("none")])
        }
        return .object([
            "kind": .text(stretch.kind.rawValue),
            "from": JSONTree(iso: stretch.from),
            "to": JSONTree(iso: stretch.to),
            "seconds": .number(stretch.seconds),
            "cause": .text(stretch.cause.rawValue),
        ])
    }

    private func because(_ event: DecisiveEvent) -> JSONTree {
        .object([
            "position": JSONTree(event.position, lanes: customer.lanes),
            "originalTransactionId": .text(event.stream.originalTransactionId),
            "role": .text(event.role.rawValue),
            "type": JSONTree(event.notificationType),
            "subtype": JSONTree(event.subtype),
            "occurredAt": JSONTree(iso: event.occurredAt),
            "signedAt": JSONTree(iso: event.signedAt),
            "signedAtIsLowerBound": .flag(isUndated(event)),
            "recordedAt": JSONTree(iso: event.recordedAt),
            "lagSeconds": .number(event.lagSeconds),
            "source": JSONTree(evidence[event.position]?.source),
        ])
    }

    /// Whether nothing dates what an event says, so that its `signedAt` is only a lower bound.
    func isUndated(_ event: DecisiveEvent) -> Bool {
        let history = customer.histories.first { $0.stream == event.stream }
        let fact = history?.events.first { $0.position == event.position }?.fact
        return fact?.isUndated(in: evidence[event.position]) ?? false
    }

    private var policy: JSONTree {
        let policy = explanation.policy
        return .object([
            "grace": .text(policy.graceGivesAccess ? "access" : "noAccess"),
            "retry": .text(policy.retryGivesAccess ? "access" : "noAccess"),
            "family": .flag(policy.familyGivesAccess),
            "reversal": .text(policy.reversalIsRetroactive ? "retroactive" : "fromThenOn"),
            "version": .number(Int64(policy.version)),
        ])
    }

    /// The projection whose rows the answer is made of.
    var projection: JSONTree {
        let name = "active_periods"
        let version = allProjections.first { $0.name == name }?.version
        return .object(["name": .text(name), "version": JSONTree(version.map(Int64.init))])
    }
}

extension ExplanationAnswer {
    /// The answer about what was asked for.
    ///
    /// - Parameters:
    ///   - asked: The subscriptions, cut to `knownAt`.
    ///   - product: Only access by this product; nil for any.
    ///   - instant: The instant asked about.
    ///   - knownAt: How much of the log may be used.
    ///   - askedKnownAt: How much was asked for, where that lies inside of a commit.
    ///   - policy: What counts as access.
    ///   - ledger: Where they are.
    /// - Throws: `EventLogError`; `CatalogError` where the catalog cannot be read back.
    init(
        about asked: AskedCustomer,
        product: String?,
        at instant: Instant,
        knownAt: KnownAt,
        askedAs askedKnownAt: KnownAt? = nil,
        under policy: AccessPolicy = .current,
        in ledger: Ledger
    ) async throws {
        let now = try await KnowledgeMarks(of: asked, knownAt: knownAt, in: ledger.log)
        let catalogs = try await ledger.catalogs(knownAt: knownAt)
        self.init(
            customer: asked,
            product: product,
            explanation: Explanation(
                asked.histories,
                at: instant,
                product: product,
                askedFor: StreamID(
                    environment: asked.environment,
                    originalTransactionId: asked.id
                ),
                under: policy,
                catalogs,
                tenures: asked.tenures
            ),
            askedKnownAt: askedKnownAt ?? knownAt,
            now: now,
            then: try await KnowledgeMarks(of: asked, at: instant, notAfter: now, in: ledger.log),
            evidence: try await asked.evidence(in: ledger.log),
            catalogVersion: catalogs.version(at: instant)?.version
        )
    }
}
