package import EventLog
package import Events
package import Projections

/// What is known of a customer: everything that folds need to answer.
package struct SubjectTimelines: Sendable {
    /// The id that was asked for.
    package let id: String
    /// The subscriptions that were theirs.
    package let timelines: [Timeline]
    /// When each subscription that is later given to another customer stops being theirs.
    package let tenureEnds: [StreamID: Instant]
    /// These, and all that were the customer's by the instant: an offer that was used once stays
    /// used (Apple's data: offer eligibility).
    package let everTimelines: [Timeline]
    /// Why those of `timelines` count.
    package let grounds: AnswerGrounds
    /// Why those of `everTimelines` count.
    package let everGrounds: AnswerGrounds
    /// Where they were bought.
    package let environment: Environment
    /// The catalog, with its past versions.
    package let catalogs: CatalogHistory
    /// What was erased of the subscriptions.
    package let erasures: [ErasureMark]
}

extension SubjectTimelines {
    /// A customer about whom nothing is known.
    init(newIn environment: Environment, id: String, catalogs: CatalogHistory) {
        self.init(
            id: id,
            timelines: [],
            tenureEnds: [:],
            everTimelines: [],
            grounds: .none,
            everGrounds: .none,
            environment: environment,
            catalogs: catalogs,
            erasures: []
        )
    }

    /// The same customer under a policy.
    func under(_ policy: PolicyDocument) throws(PolicyError) -> SubjectTimelines {
        let context = try policy.context(catalogs)
        return SubjectTimelines(
            id: id,
            timelines: timelines.map { $0.under(context.policy) },
            tenureEnds: tenureEnds,
            everTimelines: everTimelines.map { $0.under(context.policy) },
            grounds: grounds,
            everGrounds: everGrounds,
            environment: environment,
            catalogs: context.catalogs,
            erasures: erasures
        )
    }
}

extension Ledger {
    /// What was known of a customer.
    ///
    /// - Throws: `QuestionError` if nothing was known, everything known was erased, or `knownAt`
    ///   names a position that does not exist; `EventLogError`; `CatalogError`.
    package func known(
        of subject: SubjectID,
        at instant: Instant,
        knownAt: KnownAt
    ) async throws -> SubjectTimelines {
        let environment = subject.environment ?? .production
        try await check(knownAt)
        let asked = try await subscriptions(
            of: subject,
            in: environment,
            at: instant,
            knownAt: knownAt
        )
        guard !asked.everStreams.isEmpty else {
            throw try await nothingKnown(of: subject, in: environment, knownAt)
        }
        let counted = asked.everStreams(by: instant)
        let erasures = try await erasures(of: asked, knownAt: knownAt)
        if let erased = asked.erased(by: erasures, of: subject) { throw erased }
        return SubjectTimelines(
            id: subject.id,
            timelines: asked.streams.map(\.timeline),
            tenureEnds: asked.customer.tenureEnds(after: instant),
            everTimelines: counted.map(\.timeline),
            grounds: asked.grounds,
            everGrounds: AnswerGrounds(
                asked.customer,
                counted,
                linksNotInForce: asked.linksNotInForce,
                at: instant
            ),
            environment: environment,
            catalogs: try await catalogs(knownAt: knownAt),
            erasures: erasures
        )
    }

    /// The subscriptions that an id means, for every question about a customer.
    ///
    /// These are all that were the customer's at the instant, by links, tokens and Apple's
    /// statements about the account. An id of a subscription always includes that one, whoever had
    /// it then.
    func subscriptions(
        of subject: SubjectID,
        in environment: Environment,
        at instant: Instant,
        knownAt: KnownAt
    ) async throws -> AskedSubscriptions {
        var search = CustomerSearch(
            log: log,
            name: subject.id,
            environment: environment,
            knownAt: knownAt
        )
        let customer = try await search.customer()
        var streams = customer.streams(ownedAt: instant)
        let isOfLink = customer.customerId.map { FieldValue.text($0) == .text(subject.id) } ?? false
        let theirs = Set((customer.streams + customer.related).map(\.stream))
        for named in search.named.sorted()
        where !streams.contains(where: { $0.stream == named }) {
            guard let read = search.found.first(where: { $0.stream == named }) else { continue }
            // The id means two customers; an answer about either may be about the wrong one.
            if isOfLink, !subject.isAlone, !theirs.contains(named) {
                throw subject.ambiguous(with: named, customer)
            }
            streams.append(CustomerStream(read.history, receipts: []))
        }
        if subject.isAlone {
            streams.removeAll { $0.stream.originalTransactionId != subject.id }
        }
        return AskedSubscriptions(
            customer: customer,
            streams: streams.sorted { $0.stream < $1.stream },
            found: search.found,
            instant: instant,
            isAlone: subject.isAlone
        )
    }

    /// The erasures of the subscriptions that were ever the customer's, and of the one with the id.
    private func erasures(
        of asked: AskedSubscriptions,
        knownAt: KnownAt
    ) async throws -> [ErasureMark] {
        let own = StreamID(
            environment: asked.customer.environment,
            originalTransactionId: asked.customer.name
        )
        let streams = Set(asked.everStreams.map(\.stream)).union([own])
        // What was read of them contains every erasure, unless only the past was read.
        guard knownAt == .latest else { return try await erasures(of: streams.sorted()) }
        let histories = asked.found.filter { streams.contains($0.stream) }.map(\.history)
        let events = histories.flatMap(\.events).sorted { $0.position < $1.position }
        return ErasureMark.all(in: events)
    }

    private func nothingKnown(
        of subject: SubjectID,
        in environment: Environment,
        _ knownAt: KnownAt
    ) async throws -> QuestionError {
        let found = try await environments(ofCustomer: subject.id)
        if found.isEmpty { return try await unknown(subject) }
        guard found.contains(environment) else {
            let known = found.map(\.word).joined(separator: ", ")
            return QuestionError(
                .otherEnvironment,
                "\(subject.id) is unknown in \(environment), but known in \(known)"
            )
        }
        guard knownAt != .latest else {
            return subject.isAlone ? subject.noSubscription : subject.noPurchase
        }
        return QuestionError(
            .nothingKnownThen,
            "nothing was known of \(subject.id) as of \(log.text(knownAt))"
        )
    }
}

/// The subscriptions that an id means.
struct AskedSubscriptions {
    /// The customer that the id means.
    let customer: Customer
    /// The subscriptions, by `StreamID`.
    let streams: [CustomerStream]
    /// Everything that was read to find them.
    fileprivate let found: [CustomerStream]
    /// The instant asked about.
    fileprivate let instant: Instant
    fileprivate let isAlone: Bool

    /// Why each counts.
    var grounds: AnswerGrounds {
        AnswerGrounds(customer, streams, linksNotInForce: linksNotInForce, at: instant)
    }

    /// Links that give the customer, at another time, subscriptions that are not in `streams`.
    var linksNotInForce: [LinkNotInForce] {
        let counted = Set(streams.map(\.stream))
        return isAlone
            ? []
            : LinkNotInForce.all(of: customer, at: instant).filter { link in
                !counted.contains {
                    $0.originalTransactionId.utf8.elementsEqual(link.originalTransactionId.utf8)
                }
            }
    }

    /// The same, and all that were ever the customer's.
    var everStreams: [CustomerStream] {
        guard !isAlone else { return streams }
        let known = Set(streams.map(\.stream))
        let others = (customer.streams + customer.related).filter { !known.contains($0.stream) }
        return (streams + others).sorted { $0.stream < $1.stream }
    }

    /// The same without those that a link gives the customer only later.
    func everStreams(by instant: Instant) -> [CustomerStream] {
        let own = Set(streams.map(\.stream))
        let later = Set(
            customer.linksNotInForce(at: instant).filter { $0.link.from > instant }.map(\.stream)
        )
        return everStreams.filter { own.contains($0.stream) || !later.contains($0.stream) }
    }

    /// The error if everything known of these subscriptions was erased; nil if a purchase of any of
    /// them is known.
    ///
    /// Without it, "no access" and "bought nothing" would be guesses.
    fileprivate func erased(by erasures: [ErasureMark], of subject: SubjectID) -> QuestionError? {
        let isPurchaseKnown = everStreams.contains { found in
            !found.timeline.purchases.isEmpty || !found.timeline.oneTimePurchases.isEmpty
        }
        guard !isPurchaseKnown, let erasure = erasures.last(where: \.tookEverything) else {
            return nil
        }
        return QuestionError(
            .erased,
            "everything known of \(subject.id) was erased on \(erasure.recordedAt.clock)"
                + (erasure.reason.map { " (\($0))" } ?? "")
                + ", and nothing about its purchases is known any more"
        )
    }
}
