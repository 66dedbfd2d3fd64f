public import Events

/// Why a customer had access at an instant, or had none: the verdict, what was answered then, the
/// shortest chain of events that makes it, and which of them would change it.
///
/// Costs one fold for each instant at which something became known, and one for each event of the
/// chain; linear in the length of the history times its number of instants.
public struct Explanation: Sendable {
    /// The instant asked about.
    public let at: Instant
    /// The answer about it as known in the end.
    public let entitled: AccessAnswer
    /// The answer about it as known at it.
    public let served: AccessAnswer
    /// How long the two differ around it; nil where they agree.
    public let difference: WrongAnswers.Stretch?
    /// The events that made the answers, in the order in which the log learnt of them.
    public let because: [DecisiveEvent]
    /// The events of `because` without which the answer would be the opposite one.
    public let changesIf: [Position]
    /// The rows as known in the end, for the picture.
    public let rowsNow: [ActivePeriod]
    /// The rows as known at the instant, for the picture.
    public let rowsThen: [ActivePeriod]
    /// What counted as access.
    public let policy: AccessPolicy

    /// The explanation of an instant.
    ///
    /// - Parameters:
    ///   - histories: One subscription, or all of one customer, cut to the knowledge that counts.
    ///   - instant: The instant asked about.
    ///   - product: Only access by this product; nil for any.
    ///   - policy: What counts as access.
    public init(
        _ histories: [RecordedHistory],
        at instant: Instant,
        product: String? = nil,
        under policy: AccessPolicy = .current
    ) {
        self.policy = policy
        let accesses = histories.map { KnownAccess($0, product: product, under: policy) }
        let end = accesses.instants.last ?? instant
        at = instant
        rowsNow = accesses.rows(knownAt: max(end, instant))
        rowsThen = accesses.rows(knownAt: instant)
        entitled = accesses.answer(at: instant, knownAt: max(end, instant))
        served = accesses.answer(at: instant, knownAt: instant)
        difference = WrongAnswers(accesses).stretch(holding: instant)
        because = DecisiveChain(accesses, at: instant, served: served).events
        let hasAccess = entitled.hasAccess
        var flipping: [Position] = []
        for position in because.map(\.position) where !flipping.contains(position) {
            let without = AccessAnswer(
                histories,
                without: position,
                product,
                at: instant,
                under: policy
            )
            if without.hasAccess != hasAccess { flipping.append(position) }
        }
        changesIf = flipping
    }
}

extension AccessAnswer {
    /// The answer as if an event had never been told.
    fileprivate init(
        _ histories: [RecordedHistory],
        without position: Position,
        _ product: String?,
        at instant: Instant,
        under policy: AccessPolicy
    ) {
        let remaining = histories.map { $0.latest.without(position) }
        let rows = remaining.flatMap { ActivePeriods(Timeline($0).under(policy)).rows }
            .filter { row in product.map { byBytes(row.productId, $0) == nil } ?? true }
        self.init(rows, isKnown: remaining.contains { !$0.events.isEmpty }, at: instant)
    }
}
