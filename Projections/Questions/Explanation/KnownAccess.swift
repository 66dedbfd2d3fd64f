internal import Events

/// The rows of one subscription at each instant at which its knowledge changed.
///
/// One fold for each such instant: for a stream of n events at most n folds of at most n events,
/// some milliseconds for the 400 events of a heavy user. Folds run on all cores.
struct KnownAccess: Sendable {
    /// The events and when they became known.
    let history: RecordedHistory
    /// What was known, by ascending instant; empty if nothing ever was.
    let steps: [Step]

    /// What was known from one instant until the next step.
    struct Step: Sendable {
        let knownFrom: Instant
        let rows: [ActivePeriod]
        let oneTime: [OneTimePurchase]
        let active: [Range<Instant>]
    }

    /// What counts as access to what is asked about.
    struct Scope: Sendable {
        /// Only access to this product; nil for any.
        let product: String?
        /// What counts as access.
        let policy: AccessPolicy
        /// The type of a product if Apple does not state it.
        let catalogs: CatalogHistory
        /// If the subscription was the customer's only for a time, that time: periods end with it,
        /// as in `Entitlement`, and access before or after it was not theirs.
        let tenure: Range<Instant>?

        init(
            _ product: String?,
            _ policy: AccessPolicy,
            _ catalogs: CatalogHistory = .none,
            tenure: Range<Instant>? = nil
        ) {
            (self.product, self.policy) = (product, policy)
            (self.catalogs, self.tenure) = (catalogs, tenure)
        }
    }

    /// The steps of a history by our clock.
    init(_ history: RecordedHistory, in scope: Scope) {
        self.history = history
        steps = history.instants.mappedOnAllCores { instant in
            Step(knownFrom: instant, history.known(at: instant), in: scope)
        }
    }

    /// The steps of a history by Apple's dates, regardless of when the log recorded it: they are
    /// the same for every order of delivery.
    ///
    /// - Parameters:
    ///   - history: The history.
    ///   - scope: What counts as access.
    ///   - known: The steps of the same events by our clock: a step that knows the same is not
    ///     folded again, which is nearly every one unless notifications come late.
    init(stated history: RecordedHistory, in scope: Scope, knownAs known: KnownAccess) {
        self.history = history
        let clocks = StatementClocks(history, recordedAs: known.history)
        let same = clocks.sameKnowledge()
        steps = history.statedInstants.mappedOnAllCores { instant in
            if let recorded = same[instant], let step = known.step(knownAt: recorded) {
                return Step(
                    knownFrom: instant,
                    rows: step.rows,
                    oneTime: step.oneTime,
                    active: step.active
                )
            }
            return Step(knownFrom: instant, history.stated(by: instant), in: scope)
        }
    }

    /// What was known at an instant, inclusive; nil before the first step.
    func step(knownAt instant: Instant) -> Step? {
        let next = steps.partitioningIndex { instant < $0.knownFrom }
        return next > 0 ? steps[next - 1] : nil
    }

    /// The access with everything known.
    var entitled: [Range<Instant>] { steps.last?.active ?? [] }

    /// The access that the ledger answered at the time: that of each step while it was the newest.
    var served: [Range<Instant>] {
        var parts: [Range<Instant>] = []
        for (index, step) in steps.enumerated() {
            let end =
                index + 1 < steps.count
                ? steps[index + 1].knownFrom : Instant(milliseconds: .max)
            parts += step.active.within(step.knownFrom..<end)
        }
        return parts.merged
    }
}

extension KnownAccess.Step {
    /// Whether there is access at an instant.
    func grants(at instant: Instant) -> Bool {
        let index = active.partitioningIndex { instant < $0.upperBound }
        return index < active.count && active[index].lowerBound <= instant
    }

    /// What part of a history says.
    fileprivate init(
        knownFrom instant: Instant,
        _ known: StreamHistory,
        in scope: KnownAccess.Scope
    ) {
        let timeline = Timeline(known).under(scope.policy)
        let periods = ActivePeriods(timeline)
        let product = scope.product
        knownFrom = instant
        oneTime = OneTimePurchase.all(of: timeline, scope.catalogs).filter { $0.isOf(product) }
        let own = product == nil ? periods.rows : periods.rows.filter { $0.isOf(product) }
        let all: [Range<Instant>]
        if product == nil, oneTime.allSatisfy(\.owned.isEmpty) {
            all = periods.active
        } else {
            all = (own.map { $0.validFrom..<$0.validTo } + oneTime.flatMap(\.owned)).merged
        }
        guard let tenure = scope.tenure else {
            (rows, active) = (own, all)
            return
        }
        rows = own.compactMap { $0.ending(by: tenure.upperBound) }
        active = all.within(tenure)
    }
}

extension [KnownAccess] {
    /// The rows of all subscriptions as known at an instant.
    func rows(knownAt instant: Instant) -> [ActivePeriod] {
        // Without a copy of the rows if there is one subscription.
        count == 1
            ? self[0].step(knownAt: instant)?.rows ?? []
            : flatMap { $0.step(knownAt: instant)?.rows ?? [] }
    }

    /// The one-time purchases as known at an instant.
    func oneTimePurchases(knownAt instant: Instant) -> [OneTimePurchase] {
        flatMap { $0.step(knownAt: instant)?.oneTime ?? [] }
    }

    /// The answer for one instant as known at another.
    func answer(
        at instant: Instant,
        knownAt: Instant,
        askedFor stream: StreamID? = nil
    ) -> AccessAnswer {
        AccessAnswer(
            rows(knownAt: knownAt),
            oneTimePurchases(knownAt: knownAt),
            isKnown: contains { $0.step(knownAt: knownAt) != nil },
            at: instant,
            askedFor: stream
        )
    }

    /// The access with everything known.
    var entitled: [Range<Instant>] { flatMap(\.entitled).merged }

    /// The access that the ledger answered at the time.
    var served: [Range<Instant>] { flatMap(\.served).merged }
}

extension ActivePeriod {
    /// Whether it is of a product; nil matches any.
    func isOf(_ product: String?) -> Bool {
        product.map { byBytes(productId, $0) == nil } ?? true
    }
}

extension OneTimePurchase {
    /// Whether it is of a product; nil matches any.
    func isOf(_ product: String?) -> Bool {
        product.map { byBytes(productId, $0) == nil } ?? true
    }
}
