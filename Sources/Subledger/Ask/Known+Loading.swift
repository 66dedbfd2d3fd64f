package import EventLog
package import Events
internal import Projections

extension Ledger {
    /// What was known of a customer, folded: for questions about access and offers.
    ///
    /// - Parameters:
    ///   - subject: The customer; production if it names no environment.
    ///   - instant: The instant at which the subscriptions must be the customer's.
    ///   - knownAt: How much of the log is used.
    ///   - orNew: Whether a customer of whom nothing is known, at least in production, counts as one
    ///     without purchases.
    ///   - orUnknown: Whether one of whom nothing is known, for whatever reason, counts as that.
    /// - Returns: The folds.
    /// - Throws: `QuestionError` if nothing was known, everything known was erased, or `knownAt`
    ///   names a position that does not exist; `EventLogError`; `CatalogError`.
    package func known(
        of subject: SubjectID,
        at instant: Instant,
        knownAt: KnownAt,
        orNew: Bool = false,
        orUnknown: Bool = false
    ) async throws -> Known {
        let environment = subject.environment ?? .production
        try await check(knownAt)
        let meant = try await subscriptions(
            of: subject,
            in: environment,
            at: instant,
            knownAt: knownAt
        )
        if meant.everStreams.isEmpty, !orUnknown {
            let nothing = try await nothingKnown(of: subject, in: environment, knownAt)
            let isNew =
                nothing.code == .unknownId
                || nothing.code == .otherEnvironment && environment == .production
            guard orNew, isNew else { throw nothing }
        }
        let erasures = try await erasures(of: meant, knownAt: knownAt)
        let erased = meant.erased(by: erasures, of: subject)
        if let erased, !orUnknown { throw erased }
        return Known(
            id: subject.id,
            environment: environment,
            isKnown: !meant.everStreams.isEmpty && erased == nil,
            erasures: erasures,
            grounds: meant.grounds,
            timelines: meant.streams.map(\.timeline),
            everTimelines: meant.streamsByThen.map(\.timeline),
            catalogs: try await catalogs(knownAt: knownAt),
            meant: meant
        )
    }

    /// Refuses an answer about a customer of whom nothing is known, where an exit code or a status
    /// reports that.
    ///
    /// - Throws: `QuestionError` with the reason why nothing is known.
    package func checkKnown(
        _ answer: AccessDocument,
        of subject: SubjectID,
        knownAt: KnownAt = .latest
    ) async throws {
        guard !answer.isKnown, answer.elsewhere == nil else { return }
        _ = try await known(of: subject, at: answer.at, knownAt: knownAt)
    }

    /// What was known of a customer or a subscription, with when each part became known: for
    /// questions about both clocks.
    ///
    /// - Parameters:
    ///   - subject: The customer or subscription.
    ///   - instant: The instant at which the subscriptions must be the customer's.
    ///   - knownAt: How much of the log may be used.
    /// - Returns: The histories, cut to what was known.
    /// - Throws: `QuestionError` if nothing has the id, or several environments do;
    ///   `EventLogError`.
    func recorded(
        _ subject: SubjectID,
        at instant: Instant,
        knownAt: KnownAt
    ) async throws -> Known {
        let id = subject.id
        let subject = subject.isAlone ? try await alone(subject, knownAt: knownAt) : subject
        let own = try await log.environments(of: subject.id)
        let environment = try await environment(of: subject)
        let named = try await streams(named: subject.id, in: environment)
        if let first = named.first, named.count == 1, !own.isEmpty {
            try await check(knownAt, of: first)
        } else {
            try await check(knownAt)
        }
        let meant =
            subject.isAlone
            ? nil
            : try await subscriptions(of: subject, in: environment, at: instant, knownAt: knownAt)
        // A subscription named by one of its own ids is included even if nothing was known of it
        // then.
        let read = named.union(meant?.streams.map(\.stream) ?? [])
        let used = try await log.wholeCommits(knownAt)
        var whole: [RecordedHistory] = []
        for stream in read.sorted() { whole.append(try await log.recordedHistory(of: stream)) }
        return Known(
            id: id,
            environment: environment,
            erasures: whole.flatMap { ErasureMark.all(in: $0.events) },
            grounds: meant?.grounds ?? .none,
            histories: whole.map { $0.cut(to: used) },
            named: named.count == 1 ? named.first : nil,
            meant: meant
        )
    }

    /// What was known of one subscription, with its fold and what is known of its customer.
    ///
    /// An id of a customer means their one subscription, whatever else they bought.
    ///
    /// - Throws: `QuestionError` if the id means no subscription or several; `EventLogError`.
    func subscription(_ subject: SubjectID, knownAt: KnownAt) async throws -> Known {
        try await log.onOneConnection {
            let stream = try await stream(of: subject, knownAt: knownAt, isSubscription: true)
            let lane = log.identity.lanes.lane(of: stream.originalTransactionId)
            let used = try await log.wholeCommits(knownAt, lane: lane)
            let whole = try await log.recordedHistory(of: stream)
            let history = whole.cut(to: used)
            let customer = try await reachable(stream, knownAt: knownAt)
            // A link may have assigned the id to another customer.
            let isTheirs = customer?.streams.contains { $0.stream == stream } ?? false
            let others = isTheirs ? customer?.streams.filter { $0.stream != stream } ?? [] : []
            var oneTime = others.filter(\.isOneTimePurchase)
            if !oneTime.isEmpty,
                try await streams(named: subject.id, in: stream.environment).contains(stream)
            {
                oneTime = []
            }
            return Known(
                id: subject.id,
                environment: stream.environment,
                erasures: ErasureMark.all(in: whole.events),
                histories: [history],
                named: stream,
                timelines: [Timeline(history.latest)],
                everTimelines: isTheirs ? customer?.streams.map(\.timeline) ?? [] : [],
                oneTimePurchases: oneTime,
                others: customer.map { _ in others.count }
            )
        }
    }

    // The customer of a subscription; nil if there are too many subscriptions, or lanes cannot be
    // reached, because the answer itself needs only the lane of its subscription.
    private func reachable(
        _ stream: StreamID,
        knownAt: KnownAt
    ) async throws(EventLogError) -> Customer? {
        do throws(EventLogError) {
            return try await customer(
                stream.originalTransactionId,
                in: stream.environment,
                knownAt: knownAt
            )
        } catch {
            guard [.tooManyStreams, .lanesUnavailable].contains(error.code) else { throw error }
            return nil
        }
    }

    /// The subscriptions that an id means, for every question about a customer.
    ///
    /// These are all that were the customer's at the instant, by links, tokens and Apple's
    /// statements about the account. An id of a subscription always includes that one, whoever had
    /// it then.
    func subscriptions(
        of subject: SubjectID,
        in environment: StoreEnvironment,
        at instant: Instant,
        knownAt: KnownAt
    ) async throws -> MeantSubscriptions {
        let search = try await CustomerSearch.finished(
            subject.id,
            in: environment,
            knownAt: knownAt,
            log
        )
        let customer = search.customer
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
        return MeantSubscriptions(
            customer: customer,
            streams: streams.sorted { $0.stream < $1.stream },
            found: search.found,
            instant: instant,
            isAlone: subject.isAlone
        )
    }

    /// The erasures of the subscriptions that were ever the customer's, and of the one with the id.
    private func erasures(
        of meant: MeantSubscriptions,
        knownAt: KnownAt
    ) async throws -> [ErasureMark] {
        let own = StreamID(
            environment: meant.customer.environment,
            originalTransactionId: meant.customer.name
        )
        let streams = Set(meant.everStreams.map(\.stream)).union([own])
        // What was read of them contains every erasure, unless only the past was read.
        guard knownAt == .latest else { return try await erasures(of: streams.sorted()) }
        let histories = meant.found.filter { streams.contains($0.stream) }.map(\.history)
        let events = histories.flatMap(\.events).sorted { $0.position < $1.position }
        return ErasureMark.all(in: events)
    }

    private func nothingKnown(
        of subject: SubjectID,
        in environment: StoreEnvironment,
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

    /// The links of the customer with this id that do not give them a subscription at an instant;
    /// empty if the id is the subscription's own.
    func linksNotInForce(
        to subject: SubjectID,
        of stream: StreamID,
        at instant: Instant?,
        knownAt: KnownAt
    ) async throws -> [LinkNotInForce] {
        guard let instant,
            try await !streams(named: subject.id, in: stream.environment).contains(stream)
        else { return [] }
        let customer = try await customer(subject.id, in: stream.environment, knownAt: knownAt)
        return LinkNotInForce.all(of: customer, at: instant).filter { link in
            link.originalTransactionId.utf8.elementsEqual(stream.originalTransactionId.utf8)
        }
    }

    // The subscription that has any id, addressed by its own id.
    private func alone(_ subject: SubjectID, knownAt: KnownAt) async throws -> SubjectID {
        let stream = try await stream(of: subject, knownAt: knownAt)
        return SubjectID(stream.originalTransactionId, in: stream.environment, alone: true)
    }
}
