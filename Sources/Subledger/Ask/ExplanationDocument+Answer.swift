internal import EventLog
internal import Events
internal import Projections

extension ExplanationDocument {
    /// The document of an answer.
    package init(_ answer: ExplanationAnswer) {
        let (asked, explanation) = (answer.customer, answer.explanation)
        schema = ExplanationDocument.schema
        summary = answer.summary
        customer = asked.id
        environment = asked.environment
        originalTransactionIds = asked.histories.map(\.stream.originalTransactionId)
        subscriptions = asked.grounds.subscriptions
        linksNotInForce = asked.grounds.linksNotInForce
        entitlement = answer.product
        at = explanation.at
        askedKnownAt = answer.askedKnownAt == .latest ? nil : answer.askedText
        let unknown: Answer.Unknown? = answer.isErased ? .erased : nil
        entitled = Answer(explanation.entitled, answer.now, unknown: unknown)
        served = Answer(
            explanation.served,
            answer.then,
            unknown: explanation.notAsked == nil ? unknown : .notAsked
        )
        difference = Difference(explanation.difference, explanation.notAsked)
        refundsAfterEnd = explanation.refundsAfterEnd.map { Refund($0) }
        because = explanation.because.map { Cause($0, in: answer) }
        changesIf = explanation.changesIf.map {
            Change(without: $0, access: !explanation.entitled.hasAccess)
        }
        policy = PolicyDocument(explanation.policy)
        catalogVersion = answer.catalogVersion
        projection = .activePeriods
        erasures = asked.erasures
        sandboxRule = answer.sandboxRule
        proof = Proof(answer.now)
    }
}

extension ExplanationDocument.ProjectionVersion {
    /// The projection whose rows every explanation is made of.
    package static var activePeriods: ExplanationDocument.ProjectionVersion {
        let name = "active_periods"
        return ExplanationDocument.ProjectionVersion(
            name: name,
            version: allProjections.first { $0.name == name }?.version
        )
    }
}

extension ExplanationDocument.Answer {
    /// Why there is no answer; the raw value is the word for JSON.
    fileprivate enum Unknown: String {
        /// Everything known was erased.
        case erased
        /// The ledger cannot have been asked then.
        case notAsked
    }

    fileprivate init(_ answer: AccessAnswer, _ marks: KnowledgeMarks, unknown: Unknown?) {
        access = unknown == nil ? answer.hasAccess : nil
        reason = unknown?.rawValue ?? answer.reason?.rawValue
        knownAt = ExplanationDocument.Knowledge(position: marks.value, time: marks.time)
        period = answer.period.map { ExplanationDocument.Period($0) }
        oneTimePurchase = answer.oneTimePurchase.map { OneTimePurchaseDocument($0) }
    }
}

extension ExplanationDocument.Period {
    init(_ row: ActivePeriod) {
        originalTransactionId = row.stream.originalTransactionId
        productId = row.productId
        kind = row.kind.rawValue
        purchaseDate = row.purchaseDate
        expiresDate = row.expiresDate
        validFrom = row.validFrom
        validTo = row.validTo
        endReason = row.endReason.rawValue
        positions = row.positions
    }
}

extension ExplanationDocument.Difference {
    fileprivate init(_ stretch: WrongAnswers.Stretch?, _ reason: WrongAnswers.NotAsked?) {
        kind = reason == nil ? stretch?.kind.rawValue ?? "none" : "notAsked"
        notAsked = reason?.rawValue
        from = stretch?.from
        to = stretch?.to
        seconds = stretch?.seconds
        cause = stretch?.cause.rawValue
    }
}

extension ExplanationDocument.Refund {
    fileprivate init(_ refund: RefundCase) {
        originalTransactionId = refund.stream.originalTransactionId
        productId = refund.productId
        purchaseDate = refund.purchaseDate
        refunded = refund.refunded
        kind = refund.kind?.rawValue
        refundedMilliunits = refund.refundedMilliunits
        currency = refund.currency
        positions = refund.positions
    }
}

extension ExplanationDocument.Cause {
    fileprivate init(_ event: DecisiveEvent, in answer: ExplanationAnswer) {
        position = event.position
        originalTransactionId = event.stream.originalTransactionId
        role = event.role.rawValue
        type = event.notificationType
        subtype = event.subtype
        occurredAt = event.occurredAt
        signedAt = event.signedAt
        signedAtIsLowerBound = answer.isUndated(event)
        recordedAt = event.recordedAt
        lagSeconds = event.lagSeconds
        source = answer.evidence[event.position]?.source
    }
}

extension ExplanationDocument.Proof {
    fileprivate init(_ marks: KnowledgeMarks) {
        chainHead =
            marks.commits.count == 1 ? marks.commits.first.map { "sha256:" + $0.digest.hex } : nil
        verifiedTo = marks.value
        heads = marks.commits.map { VerificationReport.Head($0) }
    }
}
