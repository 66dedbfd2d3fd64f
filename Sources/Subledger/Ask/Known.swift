internal import EventLog
package import Events
package import Projections

/// What was known of a subject: the subscriptions that count, why they do, and what was erased of
/// them.
///
/// Every question begins with one, made from a subject and two clocks.
package struct Known: Sendable {
    /// The id that was asked for.
    package let id: String
    /// Where the purchases were made.
    package let environment: StoreEnvironment
    /// Whether anything is known of the subject in the environment.
    package var isKnown = true
    /// What was erased of the subscriptions; for one subscription, at any time.
    package let erasures: [ErasureMark]
    /// Why each subscription counts.
    package var grounds = AnswerGrounds.none
    /// What each subscription recorded, cut to whole commits; empty if only folds were asked for.
    package var histories: [RecordedHistory] = []
    /// The subscription that was asked for by one of its own ids; nil for a customer.
    package var named: StreamID?
    /// The folds of the subscriptions; empty if only histories were asked for.
    package var timelines: [Timeline] = []
    /// Folds of these, and of all that were the customer's by the instant: an offer that was used
    /// once stays used (Apple's data: offer eligibility).
    ///
    /// For one subscription, all of its customer's; empty if these cannot be counted.
    package var everTimelines: [Timeline] = []
    /// The catalog, with its past versions; none unless folds of a customer were asked for.
    package var catalogs = CatalogHistory.none
    /// The one-time purchases of the customer that the id means, for a question about one
    /// subscription that covers these, too; empty for an id of the subscription's own.
    var oneTimePurchases: [CustomerStream] = []
    /// The subscriptions that the id means; nil for one that was selected directly.
    var meant: MeantSubscriptions?
    /// The other subscriptions of the customer of one subscription, which the answer does not cover;
    /// nil if they cannot be counted: there are too many, or lanes cannot be reached.
    var others: Int?
}

extension Known {
    /// One subscription that was selected directly rather than looked up by an id.
    package init(_ history: RecordedHistory) {
        self.init(
            id: history.stream.originalTransactionId,
            environment: history.stream.environment,
            erasures: ErasureMark.all(in: history.events),
            histories: [history],
            named: history.stream
        )
    }

    /// For each subscription, the time around the instant in which it was the customer's.
    package var tenures: [StreamID: Range<Instant>] {
        meant.map { $0.customer.tenures(at: $0.instant) } ?? [:]
    }

    /// When subscriptions stop being the customer's.
    var tenureEnds: [StreamID: Instant] {
        meant.map { $0.customer.tenureEnds(after: $0.instant) } ?? [:]
    }

    /// Why those of `everTimelines` count.
    package var everGrounds: AnswerGrounds { meant?.everGrounds ?? .none }

    /// What gives access, under the policy in force.
    var entitlement: Entitlement {
        Entitlement(
            timelines,
            environment: environment,
            catalogs: catalogs,
            tenureEnds: tenureEnds
        )
    }

    /// The same under a policy.
    func under(_ policy: PolicyDocument) throws(PolicyError) -> Known {
        let context = try policy.context(catalogs)
        var known = self
        known.timelines = timelines.map { $0.under(context.policy) }
        known.everTimelines = everTimelines.map { $0.under(context.policy) }
        known.catalogs = context.catalogs
        return known
    }
}

// Of one subscription.
extension Known {
    /// What was known of it.
    var history: StreamHistory { histories[0].latest }
    /// Its fold.
    var timeline: Timeline { timelines[0] }
    /// Which it is.
    var stream: StreamID { histories[0].stream }
}

/// The subscriptions that an id means.
struct MeantSubscriptions {
    /// The customer that the id means.
    let customer: Customer
    /// The subscriptions, by `StreamID`.
    let streams: [CustomerStream]
    /// Everything that was read to find them.
    let found: [CustomerStream]
    /// The instant asked about.
    let instant: Instant
    let isAlone: Bool

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

    /// Why those that were the customer's by the instant count.
    var everGrounds: AnswerGrounds {
        AnswerGrounds(customer, streamsByThen, linksNotInForce: linksNotInForce, at: instant)
    }

    /// All that were ever the customer's, without those that a link gives only later.
    var streamsByThen: [CustomerStream] {
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
    func erased(by erasures: [ErasureMark], of subject: SubjectID) -> QuestionError? {
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
