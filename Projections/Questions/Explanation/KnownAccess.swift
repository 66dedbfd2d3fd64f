internal import Events

/// The rows of one subscription at each instant at which its knowledge changed.
///
/// One fold for each such instant: for a stream of n events at most n folds of at most n events,
/// some milliseconds for the 400 events of a heavy user.
struct KnownAccess {
    /// The events and when they became known.
    let history: RecordedHistory
    /// What was known, by ascending instant; empty if nothing ever was.
    let steps: [Step]

    /// The rows from one instant of our clock until the next step.
    struct Step {
        let knownFrom: Instant
        let rows: [ActivePeriod]
        let oneTime: [OneTimePurchase]
        let active: [Range<Instant>]
    }

    /// The steps of a history; with a product, only that product counts.
    ///
    /// If a subscription was the customer's only for a time, `tenure` is that time: periods end
    /// with it, as in `Entitlement`, and access before or after it was not theirs.
    init(
        _ history: RecordedHistory,
        product: String?,
        under policy: AccessPolicy,
        _ catalogs: CatalogHistory = .none,
        _ tenure: Range<Instant>? = nil
    ) {
        self.init(
            history,
            history.instants,
            history.known(at:),
            product: product,
            under: policy,
            catalogs,
            tenure
        )
    }

    /// The steps of a history by Apple's dates, regardless of when the log recorded it: they are
    /// the same for every order of delivery.
    init(
        stated history: RecordedHistory,
        product: String?,
        under policy: AccessPolicy,
        _ catalogs: CatalogHistory,
        _ tenure: Range<Instant>?
    ) {
        self.init(
            history,
            history.statedInstants,
            history.stated(by:),
            product: product,
            under: policy,
            catalogs,
            tenure
        )
    }

    private init(
        _ history: RecordedHistory,
        _ instants: [Instant],
        _ known: (Instant) -> StreamHistory,
        product: String?,
        under policy: AccessPolicy,
        _ catalogs: CatalogHistory,
        _ tenure: Range<Instant>?
    ) {
        self.history = history
        func theirs(_ active: [Range<Instant>]) -> [Range<Instant>] {
            tenure.map { active.within($0) } ?? active
        }
        func ended(_ rows: [ActivePeriod]) -> [ActivePeriod] {
            tenure.map { bounds in rows.compactMap { $0.ending(by: bounds.upperBound) } } ?? rows
        }

        steps = instants.map { instant in
            let timeline = Timeline(known(instant)).under(policy)
            let periods = ActivePeriods(timeline)
            let oneTime = OneTimePurchase.all(of: timeline, catalogs).filter { $0.isOf(product) }
            guard product != nil || oneTime.contains(where: { !$0.owned.isEmpty }) else {
                return Step(
                    knownFrom: instant,
                    rows: ended(periods.rows),
                    oneTime: oneTime,
                    active: theirs(periods.active)
                )
            }
            let rows = periods.rows.filter { $0.isOf(product) }
            let active = rows.map { $0.validFrom..<$0.validTo } + oneTime.flatMap(\.owned)
            return Step(
                knownFrom: instant,
                rows: ended(rows),
                oneTime: oneTime,
                active: theirs(active.merged)
            )
        }
    }

    /// What was known at an instant, inclusive; nil before the first step.
    func step(knownAt instant: Instant) -> Step? { steps.last { $0.knownFrom <= instant } }

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

extension [KnownAccess] {
    /// The instants at which anything became known, ascending, without duplicates.
    var instants: [Instant] {
        var unique: [Instant] = []
        for instant in flatMap({ $0.steps.map(\.knownFrom) }).sorted() where unique.last != instant
        {
            unique.append(instant)
        }
        return unique
    }

    /// The rows of all subscriptions as known at an instant.
    func rows(knownAt instant: Instant) -> [ActivePeriod] {
        flatMap { $0.step(knownAt: instant)?.rows ?? [] }
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
