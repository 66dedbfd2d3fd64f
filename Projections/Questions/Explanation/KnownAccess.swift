internal import Events

/// What one subscription's rows were at each instant at which its knowledge changed.
///
/// One fold for each such instant: for a stream of n events at most n folds of at most n events,
/// some milliseconds for the 400 events of a heavy user.
struct KnownAccess {
    /// The events and when they became known.
    let history: RecordedHistory
    /// What was known, by ascending instant; empty where nothing ever was.
    let steps: [Step]

    /// The rows from one instant of our clock until the next step.
    struct Step {
        let knownFrom: Instant
        let rows: [ActivePeriod]
        let oneTime: [OneTimePurchase]
        let active: [Range<Instant>]
    }

    /// The steps of a history; with a product only what is of it counts.
    ///
    /// Of a subscription that was the customer's for a time only, `tenure` is that time: periods
    /// end with it, as in `Entitlement`, and no access before or after it was theirs.
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

    /// The steps of a history as Apple told it, whenever the log learnt it: those of another order
    /// of delivery are the same.
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

    /// What was known at an instant, that instant included; nil before the first step.
    func step(knownAt instant: Instant) -> Step? { steps.last { $0.knownFrom <= instant } }

    /// The access of which the ledger knows in the end.
    var entitled: [Range<Instant>] { steps.last?.active ?? [] }

    /// The access that the ledger answered at the time: each step's, for as long as it lasted.
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
    /// The instants at which anything became known, ascending, each once.
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

    /// The answer about an instant as known at another one.
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

    /// The access of which the ledger knows in the end.
    var entitled: [Range<Instant>] { flatMap(\.entitled).merged }

    /// The access that the ledger answered at the time.
    var served: [Range<Instant>] { flatMap(\.served).merged }
}

extension ActivePeriod {
    /// Whether it is of a product; nil is any.
    func isOf(_ product: String?) -> Bool {
        product.map { byBytes(productId, $0) == nil } ?? true
    }
}

extension OneTimePurchase {
    /// Whether it is of a product; nil is any.
    func isOf(_ product: String?) -> Bool {
        product.map { byBytes(productId, $0) == nil } ?? true
    }
}
